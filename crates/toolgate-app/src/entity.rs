//! Entities: what a field of a form can name. They are found by name and kept by id.
//!
//! People who are signed in find the people, agents, toolsets and roles of their own tenant, by name and id and nothing
//! else: whoever fills in a form, or passes a call on, has to be able to name them. Keys and tokens find what they could
//! list anyway.

use toolgate_core::document::{Area, DocumentKind};
use toolgate_core::id::{PrincipalKind, ToolName};
use toolgate_core::search::Typed;
use toolgate_core::toolset::Toolset;
use toolgate_core::{Actor, BoundTool, Credential};

use crate::file::may_use_files;
use crate::list_tools::source_of;
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

/// The longest detail shown.
const MAX_DETAIL: usize = 160;
/// The longest query.
const MAX_QUERY: usize = 200;
/// The most ids that are named at once.
const MAX_IDS: usize = 100;

/// A type of entity. What a tenant brings along of its own joins here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityType {
    /// A person, an agent or a service.
    Principal(PrincipalKind),
    /// A tool that the caller may call.
    Tool,
    /// A toolset.
    Toolset,
    /// A role.
    Role,
    /// A file of the caller's own.
    File,
}

impl EntityType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Principal(PrincipalKind::User),
        Self::Principal(PrincipalKind::Agent),
        Self::Principal(PrincipalKind::Service),
        Self::Tool,
        Self::Toolset,
        Self::Role,
        Self::File,
    ];

    /// Its name, as `x-entity-type` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Principal(PrincipalKind::User) => "user",
            Self::Principal(PrincipalKind::Agent) => "agent",
            Self::Principal(PrincipalKind::Service) => "service",
            Self::Tool => "tool",
            Self::Toolset => "toolset",
            Self::Role => "role",
            Self::File => "file",
        }
    }

    /// What people call many of them.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Principal(PrincipalKind::User) => "people",
            Self::Principal(PrincipalKind::Agent) => "agents",
            Self::Principal(PrincipalKind::Service) => "services",
            Self::Tool => "tools",
            Self::Toolset => "toolsets",
            Self::Role => "roles",
            Self::File => "files",
        }
    }

    /// The type of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|entity_type| entity_type.as_str() == name)
    }
}

/// Something that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// What is kept.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// A few words that tell it from others.
    pub detail: Option<String>,
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct EntityQuery {
    /// What was typed; nothing means all, ordered by id.
    pub text: String,
    /// Where the part starts.
    pub after: Option<String>,
    /// How many.
    pub limit: usize,
}

impl App {
    /// The types of entities this caller may look through.
    #[must_use]
    pub fn entity_types(&self, actor: &Actor) -> Vec<EntityType> {
        EntityType::ALL.into_iter().filter(|kind| self.require_entities(actor, *kind).is_ok()).collect()
    }

    /// The entities that fit what was typed, best first (all of them, ordered by id, when nothing was), and where the
    /// next part starts.
    ///
    /// # Errors
    /// "Forbidden" for a key that may not list them; "invalid" for a query that is too long, or a start that no part
    /// before ended with.
    pub async fn find_entities(
        &self,
        actor: &Actor,
        kind: EntityType,
        query: EntityQuery,
    ) -> Result<(Vec<Entity>, Option<String>), AppError> {
        self.require_entities(actor, kind)?;
        if query.text.chars().count() > MAX_QUERY {
            return Err(AppError::invalid(format!("`q` may have at most {MAX_QUERY} characters"))
                .with_hint("a few letters of the name are enough"));
        }
        let typed = Typed::of(&query.text);
        if !typed.is_empty() {
            return ranked(self.fitting(actor, kind, &typed, query.text.trim()).await?, &query);
        }
        // Signs alone are something that was looked for, and that no name has.
        if !query.text.trim().is_empty() {
            return Ok((Vec::new(), None));
        }
        let after = query.after.as_deref();
        match kind {
            EntityType::Principal(kind) => self.principals_after(actor, kind, after, query.limit).await,
            EntityType::Tool => {
                let tools =
                    self.list_tools(actor, source_of(actor), after.unwrap_or_default(), query.limit + 1);
                let tools = tools.iter().map(|tool| of_tool(tool)).collect();
                Ok(part_of(tools, |tool: &Entity| &tool.id, None, query.limit))
            }
            EntityType::Toolset => {
                Ok(part_of(self.all_toolsets(actor).await?, |toolset| &toolset.id, after, query.limit))
            }
            EntityType::Role => {
                Ok(part_of(self.role_names(actor).await?, |role| &role.id, after, query.limit))
            }
            EntityType::File => self.files_after(actor, after, query.limit).await,
        }
    }

    /// The entities with these ids, in their order. What is not there, or not the caller's to see, is left out.
    ///
    /// # Errors
    /// "Forbidden" for a key that may not list them; "invalid" for too many ids.
    pub async fn name_entities(
        &self,
        actor: &Actor,
        kind: EntityType,
        ids: &[String],
    ) -> Result<Vec<Entity>, AppError> {
        self.require_entities(actor, kind)?;
        crate::bounds::at_most(ids, MAX_IDS, "id")?;
        match kind {
            EntityType::Principal(kind) => self.named_principals(actor, kind, ids).await,
            EntityType::Tool => {
                let known = |id: &String| {
                    let id: ToolName = id.parse().ok()?;
                    self.read_tool(actor, source_of(actor), &id).ok()
                };
                // An alias is kept as it was written.
                let named = |id: &String| known(id).map(|tool| Entity { id: id.clone(), ..of_tool(&tool) });
                Ok(ids.iter().filter_map(named).collect())
            }
            EntityType::Toolset => Ok(picked(&self.all_toolsets(actor).await?, ids)),
            EntityType::Role => Ok(picked(&self.role_names(actor).await?, ids)),
            EntityType::File => self.named_files(actor, ids).await,
        }
    }

    fn require_entities(&self, actor: &Actor, kind: EntityType) -> Result<(), AppError> {
        let signed_in = matches!(actor.credential, Credential::SignIn(_))
            && actor.principal.kind() == PrincipalKind::User;
        match kind {
            // One's own catalog, whoever asks.
            EntityType::Tool => Ok(()),
            EntityType::Principal(PrincipalKind::User | PrincipalKind::Agent)
            | EntityType::Toolset
            | EntityType::Role
                if signed_in =>
            {
                Ok(())
            }
            EntityType::Principal(_) => self.require(actor, Area::Principals),
            EntityType::Toolset => self.require(actor, Area::Toolsets),
            EntityType::Role => self.require(actor, Area::Roles),
            EntityType::File => may_use_files(actor),
        }
    }

    /// Everything that fits, with how well.
    async fn fitting(
        &self,
        actor: &Actor,
        kind: EntityType,
        typed: &Typed,
        text: &str,
    ) -> Result<Vec<(u32, Entity)>, AppError> {
        let scored = |entity: Entity| (typed.fit(&entity.title, &entity.id), entity);
        Ok(match kind {
            EntityType::Principal(kind) => self.fitting_principals(actor, kind, typed, text).await?,
            EntityType::Tool => {
                let fits = |contract: &toolgate_core::ToolContract| {
                    typed.fit(&contract.title, contract.id.as_str()) > 0
                };
                let tools = self.list_tools_of(actor, source_of(actor), fits, "", usize::MAX);
                tools.iter().map(|tool| scored(of_tool(tool))).collect()
            }
            EntityType::Toolset => self.all_toolsets(actor).await?.into_iter().map(scored).collect(),
            EntityType::Role => self.role_names(actor).await?.into_iter().map(scored).collect(),
            EntityType::File => self.fitting_files(actor, typed).await?,
        })
    }

    async fn all_toolsets(&self, actor: &Actor) -> Result<Vec<Entity>, AppError> {
        let all: Vec<Stored<Toolset>> = self.stored(actor, DocumentKind::Toolset).await?;
        let of = |Stored { name, body, .. }: Stored<Toolset>| Entity {
            title: if body.title.is_empty() { name.clone() } else { body.title },
            detail: short(&body.description),
            id: name,
        };
        Ok(all.into_iter().map(of).collect())
    }

    async fn role_names(&self, actor: &Actor) -> Result<Vec<Entity>, AppError> {
        let roles = self.all_roles(actor).await?;
        let of = |(name, role): (String, crate::TenantRole)| Entity {
            title: name.clone(),
            detail: short(&role.role.description),
            id: name,
        };
        Ok(roles.into_iter().map(of).collect())
    }
}

/// The best first, from where the part before ended.
fn ranked(
    mut found: Vec<(u32, Entity)>,
    query: &EntityQuery,
) -> Result<(Vec<Entity>, Option<String>), AppError> {
    let start: usize = match query.after.as_deref() {
        None => 0,
        Some(text) => text.parse().map_err(|_| bad_start())?,
    };
    found.retain(|(points, _)| *points > 0);
    found.sort_by(|(a, left), (b, right)| {
        b.cmp(a).then_with(|| left.title.cmp(&right.title)).then_with(|| left.id.cmp(&right.id))
    });
    let end = start.saturating_add(query.limit);
    let next = (found.len() > end).then(|| end.to_string());
    Ok((found.into_iter().skip(start).take(query.limit).map(|(_, entity)| entity).collect(), next))
}

fn picked(all: &[Entity], ids: &[String]) -> Vec<Entity> {
    ids.iter().filter_map(|id| all.iter().find(|entity| entity.id == *id).cloned()).collect()
}

fn of_tool(tool: &BoundTool) -> Entity {
    let contract = &tool.contract;
    Entity { id: contract.id.to_string(), title: contract.title.clone(), detail: short(&contract.category) }
}

/// The first line, if it says something, cut where it gets long.
fn short(text: &str) -> Option<String> {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(MAX_DETAIL) {
        _ if line.is_empty() => None,
        None => Some(line.to_owned()),
        Some((end, _)) => Some(format!("{}…", &line[..end])),
    }
}

pub(crate) fn bad_start() -> AppError {
    AppError::invalid("`cursor` is not where a page ended")
        .with_hint("send `next_cursor` of the page before, with the same `q`")
}

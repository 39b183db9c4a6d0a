//! Assignments: which agents have which tools, and under which profile.

use toolgate_core::Actor;
use toolgate_core::assignment::{Assigned, Assignment};
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{PrincipalId, PrincipalKind, Slug, ToolName};
use toolgate_core::toolset::Toolset;

use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Assignment;
/// How many uses a refusal names.
const NAMED: usize = 3;

/// What an assignment can use.
pub(crate) enum Use<'a> {
    Toolset(&'a Slug),
    Profile(&'a Slug),
}

impl App {
    /// The assignments after `after`, ordered by agent, and where the next part starts: of one agent, of one tool
    /// (given by itself or by a toolset), or all.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage profiles.
    pub async fn list_assignments(
        &self,
        actor: &Actor,
        agent: Option<&PrincipalId>,
        tool: Option<&ToolName>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<Assignment>>, Option<String>), AppError> {
        self.require(actor, Area::Profiles)?;
        let mut all: Vec<Stored<Assignment>> = self.stored(actor, KIND).await?;
        if let Some(agent) = agent {
            all.retain(|assignment| assignment.body.agent == *agent);
        }
        if let Some(tool) = tool {
            let sets = self.toolsets_with(actor, tool).await?;
            all.retain(|assignment| match &assignment.body.target {
                Assigned::Tool(assigned) => assigned == tool,
                Assigned::Toolset(name) => sets.iter().any(|set| set == name.as_str()),
            });
        }
        Ok(part_of(all, |assignment| &assignment.name, after, limit))
    }

    /// Gives tools to an agent, or changes the profile they come with.
    ///
    /// # Errors
    /// What is not there: the agent, the tool, the toolset or the profile.
    pub async fn put_assignment(
        &self,
        actor: &Actor,
        assignment: Assignment,
    ) -> Result<Stored<Assignment>, AppError> {
        self.require(actor, Area::Profiles)?;
        let agent = &assignment.agent;
        if agent.kind() != PrincipalKind::Agent {
            return Err(AppError::invalid(format!("`{agent}` is not an agent")).with_hint(
                "only agents are assigned tools; people and services have what policy lets them",
            ));
        }
        if self.store().principal(&actor.tenant, agent).await?.is_none() {
            return Err(missing("agent", agent.as_str()));
        }
        let assignment =
            Assignment { target: self.known_target(actor, assignment.target).await?, ..assignment };
        if let Some(profile) = &assignment.profile {
            self.must_exist(actor, DocumentKind::Profile, profile).await?;
        }
        let name = Assignment::document_name(&assignment.agent, &assignment.target);
        self.put_stored(actor, KIND, &name, &assignment, Expect::Anything).await
    }

    /// Takes tools from an agent. The next call is refused.
    ///
    /// # Errors
    /// "Not found" when it does not have them.
    pub async fn delete_assignment(
        &self,
        actor: &Actor,
        agent: &PrincipalId,
        target: &Assigned,
    ) -> Result<(), AppError> {
        self.require(actor, Area::Profiles)?;
        let name = Assignment::document_name(agent, target);
        self.remove_stored(actor, KIND, &name, Expect::Anything).await
    }

    /// Refuses while an assignment uses this.
    pub(crate) async fn is_unused(&self, actor: &Actor, what: &Use<'_>) -> Result<(), AppError> {
        let all: Vec<Stored<Assignment>> = self.stored(actor, KIND).await?;
        let uses = |assignment: &&Stored<Assignment>| match what {
            Use::Toolset(name) => matches!(&assignment.body.target, Assigned::Toolset(used) if used == *name),
            Use::Profile(name) => assignment.body.profile.as_ref() == Some(*name),
        };
        let users: Vec<String> = all.iter().filter(uses).map(|used| format!("`{}`", used.name)).collect();
        if users.is_empty() {
            return Ok(());
        }
        let named = users.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = match users.len() - users.len().min(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(AppError::Conflict { message: format!("assignments use it: {named}{more}; revoke them first") })
    }

    async fn known_target(&self, actor: &Actor, target: Assigned) -> Result<Assigned, AppError> {
        match target {
            Assigned::Tool(id) => {
                // One that is switched off can be assigned all the same; it works once it is on.
                let snapshot = self.as_it_stands(actor).await?;
                let known = snapshot.registry().iter().any(|entry| entry.tool.contract.id == id);
                if known { Ok(Assigned::Tool(id)) } else { Err(missing("tool", id.as_str())) }
            }
            Assigned::Toolset(name) => {
                self.must_exist(actor, DocumentKind::Toolset, &name).await?;
                Ok(Assigned::Toolset(name))
            }
        }
    }

    async fn must_exist(&self, actor: &Actor, kind: DocumentKind, name: &Slug) -> Result<(), AppError> {
        match self.store().document(&actor.tenant, kind, name.as_str()).await? {
            Some(_) => Ok(()),
            None => Err(missing(kind.as_str(), name.as_str())),
        }
    }

    async fn toolsets_with(&self, actor: &Actor, tool: &ToolName) -> Result<Vec<String>, AppError> {
        let snapshot = self.as_it_stands(actor).await?;
        let Some(entry) = snapshot.registry().iter().find(|entry| entry.tool.contract.id == *tool) else {
            return Ok(Vec::new());
        };
        let sets: Vec<Stored<Toolset>> = self.stored(actor, DocumentKind::Toolset).await?;
        Ok(sets.into_iter().filter(|set| set.body.holds(&entry.tool.contract)).map(|set| set.name).collect())
    }
}

fn missing(what: &str, name: &str) -> AppError {
    AppError::invalid(format!("there is no {what} `{name}`")).with_hint(match what {
        "agent" => "make it with `POST /api/v1/principals`",
        "tool" => "list the tools with `GET /api/v1/registry`",
        "toolset" => "write it with `PUT /api/v1/toolsets/{name}`",
        _ => "write it with `PUT /api/v1/profiles/{name}`",
    })
}

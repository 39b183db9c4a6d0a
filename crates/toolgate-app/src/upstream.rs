//! MCP servers that this gate calls: who they are and how they are reached. Nothing of theirs is on before it is reviewed.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::connection::Owner;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::port::upstream::{Health, Listing, Upstreams};
use toolgate_core::upstream::{ToolState, Transport, Upstream, UpstreamAuth, UpstreamTool};
use toolgate_core::{Actor, CallError};

use crate::stored::{Stored, part_of};
use crate::upstream_check::checked;
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Upstream;
/// The most servers of a tenant.
const MOST: usize = 200;

/// A server as it stands: what was written, how it does here, and how many of its tools stand where.
#[derive(Debug, Clone)]
pub struct KnownUpstream {
    /// What was written.
    pub stored: Stored<Upstream>,
    /// How it does on this node; none when nothing was asked of it yet.
    pub health: Option<Health>,
    /// How many of its tools stand where.
    pub tools: Vec<(ToolState, usize)>,
}

impl App {
    /// The servers after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage upstreams.
    pub async fn list_upstreams(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<KnownUpstream>, Option<String>), AppError> {
        self.require(actor, Area::Upstreams)?;
        let all = self.stored(actor, KIND).await?;
        let (part, next) = part_of(all, |found: &Stored<Upstream>| &found.name, after, limit);
        let tools = self.stored::<UpstreamTool>(actor, DocumentKind::UpstreamTool).await?;
        Ok((part.into_iter().map(|stored| self.known_upstream(actor, stored, &tools)).collect(), next))
    }

    /// One server.
    ///
    /// # Errors
    /// As [`App::list_upstreams`], and "not found".
    pub async fn read_upstream(&self, actor: &Actor, name: &Slug) -> Result<KnownUpstream, AppError> {
        self.require(actor, Area::Upstreams)?;
        let stored = self.stored_one(actor, KIND, name.as_str()).await?;
        let tools = self.stored::<UpstreamTool>(actor, DocumentKind::UpstreamTool).await?;
        Ok(self.known_upstream(actor, stored, &tools))
    }

    fn known_upstream(
        &self,
        actor: &Actor,
        stored: Stored<Upstream>,
        tools: &[Stored<UpstreamTool>],
    ) -> KnownUpstream {
        let name = stored.name.parse::<Slug>().ok();
        let health =
            name.as_ref().zip(self.upstreams()).and_then(|(name, pool)| pool.health(&actor.tenant, name));
        let own = || tools.iter().filter(|tool| tool.body.upstream.as_str() == stored.name);
        let count = |state| own().filter(|tool| tool.body.state() == state).count();
        let tools = ToolState::ALL.map(|state| (state, count(state))).to_vec();
        KnownUpstream { health, tools, stored }
    }

    /// Writes a server down. Naming a command is a permission of its own: whoever may do it runs programs here.
    ///
    /// # Errors
    /// What is wrong with it; a conflict when it does not stand as `expect` says.
    pub async fn put_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        upstream: Upstream,
        expect: Expect,
    ) -> Result<KnownUpstream, AppError> {
        self.require(actor, Area::Upstreams)?;
        let before = self.store().document(&actor.tenant, KIND, name.as_str()).await?;
        let before = before.map(Stored::<Upstream>::of).transpose()?;
        let known = before.as_ref().is_some_and(|before| before.body.transport == upstream.transport);
        if matches!(upstream.transport, Transport::Stdio { .. }) && !known {
            self.require(actor, Area::UpstreamCommands)?;
        }
        if before.is_none() && self.documents(actor, KIND).await?.len() >= MOST {
            return Err(AppError::Conflict {
                message: format!("the tenant has {MOST} MCP servers, the most there may be"),
            });
        }
        self.permitted(actor, &upstream)?;
        let upstream = checked(name, upstream)?;
        if before.is_some() && !known {
            // What was accepted was accepted there; it waits again before anything is called here.
            self.hold_tools(actor, name).await?;
        }
        self.put_stored(actor, KIND, name.as_str(), &upstream, expect).await?;
        self.forget_upstream(&actor.tenant, name).await;
        self.read_upstream(actor, name).await
    }

    /// Switches a server's accepted tools on or off.
    ///
    /// # Errors
    /// As [`App::read_upstream`].
    pub async fn switch_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        on: bool,
    ) -> Result<KnownUpstream, AppError> {
        let found = self.read_upstream(actor, name).await?.stored;
        let upstream = Upstream { enabled: on, ..found.body };
        self.put_stored(actor, KIND, name.as_str(), &upstream, Expect::Revision(found.revision)).await?;
        self.forget_upstream(&actor.tenant, name).await;
        self.read_upstream(actor, name).await
    }

    /// Takes a server away, with everything that was accepted of it.
    ///
    /// # Errors
    /// "Not found" when there is none.
    pub async fn delete_upstream(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Upstreams)?;
        self.stored_one::<Upstream>(actor, KIND, name.as_str()).await?;
        let mut writes = vec![Write::RemoveDocument { kind: KIND, name: name.to_string(), expect }];
        for tool in self.tools_of_upstream(actor, name).await? {
            writes.push(Write::RemoveDocument {
                kind: DocumentKind::UpstreamTool,
                name: tool.name,
                expect: Expect::Revision(tool.revision),
            });
        }
        let summary = json!({ "action": "upstream.removed", "name": name, "tools": writes.len() - 1 });
        self.change(actor, summary, writes).await?;
        self.forget_upstream(&actor.tenant, name).await;
        Ok(())
    }

    /// Connects to a server and shows what it has. Nothing is kept of it.
    ///
    /// # Errors
    /// What kept it from answering, with its code.
    pub async fn test_upstream(&self, actor: &Actor, name: &Slug) -> Result<Listing, AppError> {
        self.require(actor, Area::Upstreams)?;
        let upstream = self.stored_one::<Upstream>(actor, KIND, name.as_str()).await?.body;
        self.ask_upstream(actor, name, &Arc::new(upstream)).await
    }

    pub(crate) async fn ask_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        upstream: &Arc<Upstream>,
    ) -> Result<Listing, AppError> {
        self.permitted(actor, upstream)?;
        let pool = self.upstreams().ok_or_else(no_pool)?;
        let person = (upstream.auth == UpstreamAuth::PerUser).then_some(&actor.principal);
        let owner = account_of(upstream, person);
        self.not_stopped(&actor.tenant, &format!("mcp:{name}"), owner).await?;
        pool.list(&actor.tenant, name, upstream, person).await.map_err(AppError::Call)
    }

    /// Whoever runs the gate decides which programs run on its machine.
    fn permitted(&self, actor: &Actor, upstream: &Upstream) -> Result<(), AppError> {
        if self.snapshots.commands().permits(&actor.tenant, &upstream.transport) {
            return Ok(());
        }
        Err(AppError::forbidden("this program may not be started as an MCP server here").with_hint(
            "whoever runs the gate allows programs with `[upstreams] commands` in `toolgate.toml`",
        ))
    }

    pub(crate) async fn forget_upstream(&self, tenant: &TenantId, name: &Slug) {
        if let Some(pool) = self.upstreams() {
            pool.forget(tenant, name).await;
        }
    }

    pub(crate) fn upstreams(&self) -> Option<&Arc<dyn Upstreams>> {
        self.snapshots.upstreams()
    }
}

/// Whose account a server is asked with.
pub(crate) fn account_of(upstream: &Upstream, person: Option<&PrincipalId>) -> Option<Owner> {
    match upstream.auth {
        UpstreamAuth::None => None,
        UpstreamAuth::Shared => Some(Owner::Shared),
        UpstreamAuth::PerUser => person.cloned().map(Owner::Person),
    }
}

fn no_pool() -> AppError {
    AppError::Call(CallError::new(
        toolgate_core::ErrorCode::UpstreamFailed,
        "this server is not set up to call MCP servers",
    ))
}

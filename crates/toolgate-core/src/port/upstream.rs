//! MCP servers as the gate works with them: one pool that connects, lists and calls, and trusts none of them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::CallError;
use crate::id::{Slug, TenantId};
use crate::port::executor::Executor;
use crate::time::Timestamp;
use crate::upstream::{Offer, Upstream};

/// What a server showed when it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The protocol it was spoken to with, such as `2026-07-28`.
    pub protocol: String,
    /// How it names itself; shown to people and never relied on.
    pub server: String,
    /// Its tools, within bounds and in the order they came.
    pub tools: Vec<Offer>,
    /// What was left out and why: a name twice, a schema too large.
    pub problems: Vec<String>,
}

/// How a server does at the moment, on this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether calls are refused for a while because too many failed.
    pub resting: bool,
    /// The protocol it was last spoken to with.
    pub protocol: Option<String>,
    /// The last fault, safe to show to those who manage it.
    pub last_error: Option<String>,
    /// When that was.
    pub failed_at: Option<Timestamp>,
    /// The end of what its process wrote to standard error.
    pub stderr: Option<String>,
    /// How long calls take, about.
    pub typical: Option<Duration>,
}

/// The servers of all tenants. Connecting happens when it is needed; nothing here is remembered beyond this process.
#[async_trait]
pub trait Upstreams: Send + Sync {
    /// Runs one tool of one server, as long as it is offered just so: what was accepted is what is called.
    fn executor(
        &self,
        tenant: &TenantId,
        name: &Slug,
        upstream: &Arc<Upstream>,
        accepted: &Offer,
    ) -> Arc<dyn Executor>;

    /// Asks a server for its tools, with a connection of its own where none is open. With a shared connection its
    /// credential is used; with a connection per person, the given caller's.
    async fn list(
        &self,
        tenant: &TenantId,
        name: &Slug,
        upstream: &Arc<Upstream>,
        person: Option<&crate::id::PrincipalId>,
    ) -> Result<Listing, CallError>;

    /// How a server does.
    fn health(&self, tenant: &TenantId, name: &Slug) -> Option<Health>;

    /// Ends what is open to a server: it was changed, switched off or removed.
    async fn forget(&self, tenant: &TenantId, name: &Slug);

    /// Lets go of the connection that is used with an account that changed: the shared one, or this person's. Calls under
    /// way end as they would have.
    async fn renew(&self, tenant: &TenantId, name: &Slug, person: Option<&crate::id::PrincipalId>);

    /// What strikes a careful reader in an offer: hidden characters, instructions to a model, and the like.
    fn warnings(&self, offer: &Offer) -> Vec<String>;

    /// What a name looks like at a glance. Names of one look can be taken for each other.
    fn glance(&self, name: &str) -> String;

    /// Names of servers that were reached anew, or that said their tools changed since this was asked last.
    fn take_changed(&self) -> Vec<(TenantId, Slug)>;
}

//! What the protocol needs of the product. Implemented where the use cases are; here nothing is decided.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use toolgate_core::id::{IdempotencyKey, InvocationId, ToolName};
use toolgate_core::runner::Watch;
use toolgate_core::toolset::{Toolset, ToolsetMode};
use toolgate_core::{Actor, BoundTool, CallError, CallResult, Invocation, Timestamp, ToolContract};

use crate::rpc_error::RpcError;

/// Which tools an endpoint is about.
#[derive(Debug, Clone)]
pub enum Selection {
    /// All that the caller may see.
    Everything,
    /// Those of a toolset.
    Toolset(Arc<Toolset>),
    /// The fixtures of the conformance suite, under their bare names.
    Fixtures,
}

/// What the ids of the conformance suite's fixtures begin with.
pub const FIXTURE: &str = "conformance__";

impl Selection {
    /// Whether a tool is among them.
    #[must_use]
    pub fn holds(&self, tool: &ToolContract) -> bool {
        match self {
            Self::Everything => true,
            Self::Toolset(toolset) => toolset.holds(tool),
            Self::Fixtures => tool.id.as_str().starts_with(FIXTURE),
        }
    }

    /// Whether tools are searched for instead of listed.
    #[must_use]
    pub fn searches(&self) -> bool {
        matches!(self, Self::Toolset(toolset) if toolset.mode == ToolsetMode::Search)
    }

    /// The name that clients know a tool by.
    #[must_use]
    pub fn name_of<'a>(&self, tool: &'a ToolContract) -> &'a str {
        let id = tool.id.as_str();
        match self {
            Self::Fixtures => id.strip_prefix(FIXTURE).unwrap_or(id),
            Self::Everything | Self::Toolset(_) => id,
        }
    }

    /// The id of the tool that clients know by this name; none where no tool can be called so.
    #[must_use]
    pub fn id_of(&self, name: &str) -> Option<ToolName> {
        match self {
            Self::Fixtures => format!("{FIXTURE}{name}").parse().ok(),
            Self::Everything | Self::Toolset(_) => name.parse().ok(),
        }
    }
}

/// A call, as a client orders it.
#[derive(Debug, Clone)]
pub struct Order {
    /// Which tool.
    pub tool: ToolName,
    /// With what.
    pub input: Value,
    /// What makes a repeat return the first result.
    pub idempotency_key: Option<IdempotencyKey>,
    /// How long to wait.
    pub wait: Duration,
    /// Who looks on.
    pub watch: Watch,
}

/// What a person says to a waiting call.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Yes or no.
    pub approve: bool,
    /// Why.
    pub reason: Option<String>,
    /// The digest of what they were shown.
    pub digest: Option<String>,
    /// The tool's name, typed.
    pub confirm: Option<String>,
    /// How long to wait for the outcome.
    pub wait: Duration,
}

/// Why there is nothing to show.
#[derive(Debug, Clone)]
pub enum PlaneError {
    /// The call was refused before there was one; a model can read why.
    Refused(CallError),
    /// There is none, or none this caller may see.
    NotFound,
    /// What was said does not do: it can be said again, better.
    Unfit(String),
    /// The caller may not, or not any more.
    Forbidden(String),
    /// Something else.
    Rpc(RpcError),
}

/// The product, as seen from the protocol.
#[async_trait]
pub trait Plane: Send + Sync {
    /// Seconds since 1970.
    fn now(&self) -> i64;

    /// What is in force for this caller: the same `Arc` until something changes.
    fn in_force(&self, actor: &Actor) -> Option<Arc<dyn Any + Send + Sync>>;

    /// The tools that this caller may call, ordered by id: so many after this id. Never internal ones.
    fn tools(&self, actor: &Actor, selection: &Selection, after: &str, limit: usize) -> Vec<Arc<BoundTool>>;

    /// One of them, by id or alias.
    fn tool(&self, actor: &Actor, selection: &Selection, id: &ToolName) -> Option<Arc<BoundTool>>;

    /// Calls a tool.
    async fn call(&self, actor: &Actor, order: Order) -> Result<CallResult, PlaneError>;

    /// Writes down that a caller asked for a tool they may not have.
    async fn refuse(&self, actor: &Actor, tool: ToolName, input: Value) -> Result<(), PlaneError>;

    /// A call that this caller may see, as it stands.
    async fn read(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, PlaneError>;

    /// The same, but not before it is settled or `wait` is over.
    async fn follow(&self, actor: &Actor, id: InvocationId, wait: Duration)
    -> Result<Invocation, PlaneError>;

    /// Stops a call.
    async fn cancel(&self, actor: &Actor, id: InvocationId) -> Result<(), PlaneError>;

    /// What a call has reported so far, oldest first.
    async fn reports(&self, invocation: &Invocation) -> Result<Vec<Value>, PlaneError>;

    /// Lets every node know which call a request led to that came at `began`. True when its client has given it up
    /// since.
    async fn note_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
        call: InvocationId,
        began: Timestamp,
    ) -> Result<bool, PlaneError>;

    /// The call that a request led to which its client has given up. Where it is not known, the wish is noted for
    /// whoever lets it be known.
    async fn give_up_request(&self, actor: &Actor, key: [u8; 32])
    -> Result<Option<InvocationId>, PlaneError>;

    /// Whether this caller is a person who made this waiting call and may let it run themselves.
    async fn may_confirm(&self, actor: &Actor, invocation: &Invocation) -> bool;

    /// Says yes or no to a waiting call.
    async fn decide(
        &self,
        actor: &Actor,
        id: InvocationId,
        verdict: Verdict,
    ) -> Result<CallResult, PlaneError>;

    /// Answers a question that a call of this caller's waits for.
    async fn answer(
        &self,
        actor: &Actor,
        id: InvocationId,
        answers: &Value,
    ) -> Result<CallResult, PlaneError>;

    /// What the MCP server behind a running call asks a person just now.
    async fn question_of(&self, invocation: &Invocation) -> Result<Option<Invocation>, PlaneError>;

    /// Refuses to answer what an MCP server asks in a call of this caller's.
    async fn decline(&self, actor: &Actor, id: InvocationId) -> Result<(), PlaneError>;

    /// The path of the page where a waiting call's question can be answered.
    async fn question_path(&self, actor: &Actor, id: InvocationId) -> Result<Option<String>, PlaneError>;
}

//! What a question is about: who asks, which tool, what for, and how it stands at that moment.

use std::sync::Arc;

use toolgate_core::contract::Audience;
use toolgate_core::id::{PrincipalId, ToolName};
use toolgate_core::{Effect, Egress, Source, Timestamp, ToolContract};

use super::input::InputType;

/// What policies may know about who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PrincipalFacts {
    /// The whole id, `user:ada`.
    pub id: PrincipalId,
    /// The names of the roles held.
    pub roles: Arc<[String]>,
    /// The access rules held, `*` for all.
    pub rules: Arc<[String]>,
}

/// What policies may know about a tool.
#[derive(Debug, Clone)]
pub struct ToolFacts {
    pub(super) id: ToolName,
    pub(super) kind: ToolKind,
    pub(super) input: Arc<InputType>,
}

/// A tool without its name: what every policy that names no tool can tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ToolKind {
    pub(super) toolsets: Vec<String>,
    pub(super) category: String,
    pub(super) namespace: String,
    pub(super) effect: Effect,
    pub(super) egress: Egress,
    pub(super) idempotent: bool,
    pub(super) internal: bool,
}

impl ToolFacts {
    /// The facts of this tool, which is in these toolsets.
    #[must_use]
    pub fn of(contract: &ToolContract, toolsets: Vec<String>) -> Self {
        let mut toolsets = toolsets;
        toolsets.sort_unstable();
        toolsets.dedup();
        Self {
            id: contract.id.clone(),
            kind: ToolKind {
                toolsets,
                category: contract.category.clone(),
                namespace: contract.id.namespace().to_owned(),
                effect: contract.effect,
                egress: contract.egress,
                idempotent: contract.idempotent,
                internal: contract.audience == Audience::Internal,
            },
            input: Arc::new(InputType::of(&contract.input_schema.to_value())),
        }
    }

    /// The tool's id.
    #[must_use]
    pub fn id(&self) -> &ToolName {
        &self.id
    }
}

/// What someone wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Find the tool in a list.
    See,
    /// Call the tool.
    Call,
    /// Call the tool without a person's approval.
    CallUnattended,
    /// Let a waiting call run.
    Approve,
    /// Call a tool through an account.
    UseConnection,
    /// Look after a part of the tenant.
    Manage,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 6] =
        [Self::See, Self::Call, Self::CallUnattended, Self::Approve, Self::UseConnection, Self::Manage];

    /// The action's name in policies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Call => "call",
            Self::CallUnattended => "call_unattended",
            Self::Approve => "approve",
            Self::UseConnection => "use_connection",
            Self::Manage => "manage",
        }
    }
}

/// How it stands when a question is asked.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The moment.
    pub now: Timestamp,
    /// What the session is marked with.
    pub labels: &'a [String],
    /// Through which door.
    pub source: Source,
    /// The person an agent or a service works for. Policies see only a `user:…` here.
    pub subject: Option<&'a PrincipalId>,
    /// For `approve`: the one who approves made the call.
    pub own: bool,
    /// For `approve`: the call was made on behalf of the one who approves.
    pub for_me: bool,
}

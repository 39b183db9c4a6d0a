//! The proof that a call passed every stage before execution.

use serde_json::Value;

use crate::id::ConnectionId;
use crate::port::executor::ToolContext;

/// A call that has passed every stage before execution. Executors accept nothing else, and nothing but the runner
/// can make one:
///
/// ```compile_fail
/// use toolgate_core::ClearedCall;
/// let forged = ClearedCall { input: serde_json::json!({}) };
/// ```
#[derive(Debug)]
pub struct ClearedCall {
    input: Value,
    context: ToolContext,
    connection: Option<ConnectionId>,
    rule: String,
    _sealed: Sealed,
}

#[derive(Debug)]
struct Sealed;

impl ClearedCall {
    // Invariant: the one place where a `ClearedCall` is made; `run` calls it after policy, grants, input and limits,
    // and after `tool.started` is durable where it must be.
    pub(super) const fn clear(
        input: Value,
        context: ToolContext,
        connection: Option<ConnectionId>,
        rule: String,
    ) -> Self {
        Self { input, context, connection, rule, _sealed: Sealed }
    }

    /// The validated input.
    #[must_use]
    pub const fn input(&self) -> &Value {
        &self.input
    }

    /// The connection the call may use.
    #[must_use]
    pub const fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// The policy rule that let it through.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What the tool works with.
    #[must_use]
    pub fn into_parts(self) -> (Value, ToolContext) {
        (self.input, self.context)
    }
}

/// A call that waits for a person and may be looked ahead at: nothing may be changed. Only the runner makes one.
#[derive(Debug)]
pub struct PreviewCall {
    input: Value,
    context: ToolContext,
    _sealed: Sealed,
}

impl PreviewCall {
    // Invariant: the one place where a `PreviewCall` is made; `preview` calls it after policy, grants and input.
    pub(super) const fn new(input: Value, context: ToolContext) -> Self {
        Self { input, context, _sealed: Sealed }
    }

    /// What the tool works with.
    #[must_use]
    pub fn into_parts(self) -> (Value, ToolContext) {
        (self.input, self.context)
    }
}

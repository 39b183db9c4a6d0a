//! Calls a tool.

use std::time::{Duration, Instant};

use serde_json::Value;
use toolgate_core::id::{ConnectionId, IdempotencyKey, InvocationId, SessionId, ToolName};
use toolgate_core::runner::{CallInput, Watch};
use toolgate_core::{Actor, Call, CallResult, Source};

use crate::{App, AppError};

/// What a door knows of a call.
#[derive(Debug, Clone)]
pub struct InvokeRequest {
    /// Which tool.
    pub tool: ToolName,
    /// With what.
    pub input: Value,
    /// In which thread of work.
    pub session: Option<SessionId>,
    /// The call that makes this one.
    pub parent: Option<InvocationId>,
    /// What makes a repeat return the first result.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The connection it asks for.
    pub connection: Option<ConnectionId>,
    /// Through which door.
    pub source: Source,
    /// How long the caller waits.
    pub wait: Duration,
    /// Who looks on while it runs.
    pub watch: Option<Watch>,
}

impl App {
    /// Takes a call through the one path.
    ///
    /// # Errors
    /// When there is no call to speak of. A call that was stopped is a result, not an error.
    pub async fn invoke_tool(&self, actor: &Actor, request: InvokeRequest) -> Result<CallResult, AppError> {
        if let Some(parent) = request.parent {
            // A parent must be a call the caller may see, or the tree of calls could be forged.
            self.read_invocation(actor, parent).await?;
        }
        let tool = request.tool.clone();
        let began = Instant::now();
        let result = self.runner.execute(call_of(actor, request)).await?;
        let known = result.error.as_ref().is_none_or(|e| e.code != toolgate_core::ErrorCode::Unavailable);
        // An unknown tool's name is the caller's own text: it must not become a label of its own.
        let label = if known { tool.to_string() } else { "unknown".to_owned() };
        metrics::counter!("toolgate_calls_total", "tool" => label.clone(), "status" => result.status.as_str())
            .increment(1);
        let gate = began.elapsed().saturating_sub(result.tool_time);
        metrics::histogram!("toolgate_gate_seconds").record(gate.as_secs_f64());
        metrics::histogram!("toolgate_tool_seconds", "tool" => label).record(result.tool_time.as_secs_f64());
        Ok(result)
    }

    /// Writes down that a caller asked for a tool they may not have, for doors that never let it come to a call.
    ///
    /// # Errors
    /// As [`App::invoke_tool`].
    pub async fn refuse_tool(&self, actor: &Actor, request: InvokeRequest) -> Result<(), AppError> {
        self.runner.refuse(&call_of(actor, request)).await?;
        Ok(())
    }
}

fn call_of(actor: &Actor, request: InvokeRequest) -> Call {
    Call {
        actor: actor.clone(),
        tool: request.tool,
        input: CallInput::Value(request.input),
        session: request.session,
        parent: request.parent,
        idempotency_key: request.idempotency_key,
        connection: request.connection,
        key: actor.key(),
        source: request.source,
        wait: request.wait,
        watch: request.watch,
    }
}

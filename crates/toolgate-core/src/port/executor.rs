//! How a tool's code is reached: one trait per binding kind, callable only with a [`ClearedCall`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::actor::Actor;
use crate::error::{CallError, ErrorCode};
use crate::id::{InvocationId, SessionId};
use crate::input_request::InputRequest;
use crate::json::JsonText;
use crate::output::ToolOutput;
use crate::port::capability::Capabilities;
use crate::review::Preview;
use crate::runner::{ClearedCall, PreviewCall};

/// Runs tools of one binding kind.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Does what the tool does. Dropping the future is how a call that ignores its cancellation is stopped.
    async fn execute(&self, call: ClearedCall) -> Result<ToolOutput, ToolFailure>;

    /// Foresees what a call would do, without doing anything; none where the tool can't. It is asked when a person has to
    /// decide, and again when they change the input.
    async fn dry_run(&self, _call: PreviewCall) -> Result<Option<Preview>, ToolFailure> {
        Ok(None)
    }

    /// The account at an outside service that calls go through, where the binding has one. Stage 4 finds it and asks
    /// policy; the executor is given no call that may not use it.
    fn account(&self) -> Option<&Account> {
        None
    }
}

/// An account at an outside service that calls go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// At which service, such as `mcp:github`.
    pub service: String,
    /// Whose it is.
    pub held: Held,
}

/// Whose account is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The one that all share.
    ByAll,
    /// That of the person who calls, or for whom is called.
    ByEach,
}

/// Why a tool could not do it. The message is shown to callers: no arguments, no secrets, no upstream bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolFailure {
    /// It failed.
    Failed {
        /// One safe sentence.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// It failed in a way that has a code of its own.
    Coded(Box<CallError>),
    /// It was sent off and no answer came: whether it happened can't be known here.
    Lost(Box<CallError>),
    /// It noticed the cancellation and stopped before it had an effect.
    Cancelled,
    /// It was handed on: the result comes later, by call id.
    HandedOn {
        /// To what, for those who look.
        to: &'static str,
        /// How long the result may take.
        within: Duration,
    },
}

/// Runs nothing here: the call waits until its result is reported.
#[derive(Debug, Clone, Copy)]
pub struct HandOn {
    /// To what, for those who look.
    pub to: &'static str,
    /// How long the result may take.
    pub within: Duration,
}

#[async_trait]
impl Executor for HandOn {
    async fn execute(&self, _: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        Err(ToolFailure::HandedOn { to: self.to, within: self.within })
    }
}

impl ToolFailure {
    /// A failure with a safe sentence.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Failed { message, .. } => Self::Failed { message, hint: Some(text.into()) },
            Self::Coded(error) => Self::Coded(Box::new(error.hint(text))),
            Self::Lost(error) => Self::Lost(Box::new(error.hint(text))),
            other @ (Self::Cancelled | Self::HandedOn { .. }) => other,
        }
    }
}

/// Where a running call reports to.
#[async_trait]
pub trait ProgressSink: Send + Sync {
    /// Records a part of the output. Too many parts, or a store that is away, lose the part and not the call.
    async fn append(&self, chunk: JsonText) -> Result<(), ToolFailure>;
}

/// Where a running call turns to with a question to a person.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Puts a question to the person behind the call and waits for what they say. The call's time limit stands still
    /// meanwhile; `within` bounds the wait.
    async fn ask(&self, request: &InputRequest, within: Duration) -> Result<Said, CallError>;
}

/// What came of a question to a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// This, by question id.
    Answered(Value),
    /// They refuse to answer.
    Declined,
    /// Nothing: nobody answered in time, or the call is called off.
    Nothing,
}

/// What a tool knows about the call it serves: references only, no secrets.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call_id: InvocationId,
    /// Its thread of work.
    pub session: SessionId,
    /// Who calls.
    pub actor: Actor,
    /// What the tool may reach.
    pub capabilities: Capabilities,
    /// Ends when someone cancels the call.
    pub cancelled: CancellationToken,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) asker: Option<Arc<dyn Asker>>,
    pub(crate) cost_micros: Arc<AtomicI64>,
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("call_id", &self.call_id).finish_non_exhaustive()
    }
}

impl ToolContext {
    /// Adds to what the call costs, in millionths of the tenant's unit. It is recorded with the outcome.
    pub fn add_cost(&self, micros: u32) {
        self.cost_micros.fetch_add(i64::from(micros), Ordering::Relaxed);
    }

    /// Reports progress: any JSON, at most 64 KiB, 250 times. It is recorded as `tool.output_appended` and streamed.
    ///
    /// # Errors
    /// When the part is too large, or the call is no longer this worker's and has to stop.
    pub async fn progress(&self, chunk: &Value) -> Result<(), ToolFailure> {
        match &self.progress {
            Some(sink) => sink.append(JsonText::from_value(chunk)).await,
            None => Ok(()),
        }
    }

    /// Asks the person behind the call and waits for what they say. It becomes a call of its own below this one: shown,
    /// answered once and recorded like every question.
    ///
    /// # Errors
    /// When it can't be asked: the caller may put no questions to people, or the call is no longer this worker's.
    pub async fn ask(&self, request: &InputRequest, within: Duration) -> Result<Said, CallError> {
        match &self.asker {
            Some(asker) => asker.ask(request, within).await,
            None => {
                Err(CallError::new(ErrorCode::Execution, "nobody can be asked in the middle of this call"))
            }
        }
    }
}

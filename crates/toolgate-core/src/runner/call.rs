//! What goes into the runner and what comes out.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::actor::Actor;
use crate::error::CallError;
use crate::id::{ApiKeyId, ConnectionId, IdempotencyKey, InvocationId, SessionId, ToolName};
use crate::invocation::{Invocation, Source, Status};
use crate::json::{JsonText, canonical_digest, to_hex};
use crate::output::Kept;
use crate::port::store::StoreError;
use crate::runner::watch::Watch;

/// A call as a door hands it in.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub actor: Actor,
    /// Which tool, by id or alias.
    pub tool: ToolName,
    /// With what.
    pub input: CallInput,
    /// In which thread of work; none means one of its own.
    pub session: Option<SessionId>,
    /// The call that makes this one.
    pub parent: Option<InvocationId>,
    /// What makes a repeat return the first result.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The connection it asks for.
    pub connection: Option<ConnectionId>,
    /// The key it is made with; of a call taken up again, the one it was made with.
    pub key: Option<ApiKeyId>,
    /// Through which door.
    pub source: Source,
    /// How long the caller waits before it takes a handle instead.
    pub wait: Duration,
    /// Who looks on while it runs here.
    pub watch: Option<Watch>,
}

/// A call's arguments.
#[derive(Debug, Clone)]
pub enum CallInput {
    /// Parsed by the door.
    Value(Value),
    /// As a model wrote them; the runner parses.
    Text(String),
}

impl Call {
    /// SHA-256 over what makes two requests the same: the input and the session asked for.
    pub(super) fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        match &self.input {
            CallInput::Value(value) => hasher.update(canonical_digest(value)),
            CallInput::Text(text) => match serde_json::from_str(text) {
                Ok(value) => hasher.update(canonical_digest(&value)),
                Err(_) => hasher.update(text.as_bytes()),
            },
        }
        if let Some(session) = self.session {
            hasher.update(session.uuid().as_bytes());
        }
        to_hex(&hasher.finalize())
    }
}

/// How a call stands when the runner answers.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The call's id, the same from start to result.
    pub call_id: InvocationId,
    /// Its thread of work.
    pub session_id: SessionId,
    /// Whether it ended well.
    pub ok: bool,
    /// Where it stands.
    pub status: Status,
    /// The tool.
    pub tool: ToolName,
    /// The redacted result.
    pub value: Option<JsonText>,
    /// The content blocks that came beside it, where they say more than a copy of it would.
    pub content: Option<JsonText>,
    /// The notes that a server put on the result as a whole, as one object.
    pub meta: Option<JsonText>,
    /// Why it stopped.
    pub error: Option<CallError>,
    /// Whether this is the answer to an earlier call with the same key.
    pub repeated: bool,
    /// What really ran, where a person changed the input.
    pub edited_input: Option<JsonText>,
    /// The call below it by which it asks a person something just now; this one goes on when that is answered.
    pub asks: Option<InvocationId>,
    /// Time spent in the tool itself.
    pub tool_time: Duration,
}

impl CallResult {
    /// How a recorded call stands.
    #[must_use]
    pub fn of(invocation: &Invocation) -> Self {
        let kept = invocation.output.as_ref().map(Kept::of);
        let (value, content, meta) =
            kept.map_or((None, None, None), |kept| (Some(kept.value), kept.content, kept.meta));
        Self {
            call_id: invocation.id(),
            session_id: invocation.opened.session,
            ok: invocation.status == Status::Completed,
            status: invocation.status,
            tool: invocation.opened.tool.clone(),
            value,
            content,
            meta,
            error: invocation.error.clone(),
            repeated: false,
            edited_input: invocation.review.as_ref().and_then(|review| review.input.clone()),
            asks: None,
            tool_time: Duration::ZERO,
        }
    }

    /// The same, as the answer to a repeat.
    #[must_use]
    pub fn repeat(invocation: &Invocation) -> Self {
        Self { repeated: true, ..Self::of(invocation) }
    }
}

/// Why there is no call to speak of: nothing was accepted and nothing ran, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The session asked for is not there, or not the caller's.
    #[error("there is no session `{0}` you may use")]
    UnknownSession(SessionId),
    /// The key was used with another body.
    #[error("the idempotency key was used with another body")]
    KeyReused {
        /// The call that used it.
        first: InvocationId,
    },
    /// It may not run, and nothing was recorded of that.
    #[error("{}", .0.message)]
    Refused(CallError),
    /// The server is going down.
    #[error("the server is shutting down")]
    Draining,
    /// The store could not record it.
    #[error("the call could not be recorded")]
    Store(#[source] StoreError),
}

impl RunError {
    /// What a store's refusal means for a call in this session.
    pub(super) fn store(cause: StoreError, session: SessionId) -> Self {
        match cause {
            StoreError::NotFound => Self::UnknownSession(session),
            other => Self::Store(other),
        }
    }
}

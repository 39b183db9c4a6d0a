//! What a client brings back when it tries a request again: sealed, bound to the caller and to the request, and short
//! of life.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::Actor;
use toolgate_core::id::InvocationId;
use toolgate_core::json::{canonical_digest, to_hex};

use crate::rpc_error::RpcError;
use crate::seal::{CannotSeal, Purpose, Sealer};

/// How long someone may take to answer.
const MAX_AGE_SECONDS: i64 = 30 * 60;

/// What is brought back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RequestState {
    pub(crate) who: String,
    /// Digest of the method and of what was asked for.
    pub(crate) request: String,
    pub(crate) expires: i64,
    /// The call that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<InvocationId>,
    /// The question that its server asks meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<InvocationId>,
    /// What was shown to whoever decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What a tool wanted to remember.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Value>,
}

impl RequestState {
    /// The state of a request by this caller, made now (in seconds).
    #[must_use]
    pub(crate) fn new(actor: &Actor, request: String, now: i64) -> Self {
        let who = who(actor);
        let expires = now + MAX_AGE_SECONDS;
        Self { who, request, expires, call: None, question: None, digest: None, kept: None }
    }

    /// Seals it.
    ///
    /// # Errors
    /// When nothing can be sealed.
    pub(crate) fn seal(&self, sealer: &Sealer, purpose: Purpose) -> Result<String, CannotSeal> {
        sealer.seal(purpose, self)
    }

    /// Opens it for this caller and this request.
    ///
    /// # Errors
    /// The same for whatever is wrong with it: it is not ours, another's, too old, or of another request.
    pub(crate) fn open(
        sealer: &Sealer,
        text: &str,
        actor: &Actor,
        request: &str,
        now: i64,
    ) -> Result<Self, RpcError> {
        let bad = || {
            RpcError::coded(
                RpcError::INVALID_PARAMS,
                "bad_request",
                "`requestState` is not one that was given out for this request, or not any more",
                "send the request again without it",
            )
        };
        let state: Self = sealer.open(Purpose::State, text).ok_or_else(bad)?;
        let fits = state.who == who(actor) && state.request == request && now <= state.expires;
        if fits { Ok(state) } else { Err(bad()) }
    }

    /// Opens the id of a question for this caller; none when it is not ours, another's or too old.
    #[must_use]
    pub(crate) fn open_question(sealer: &Sealer, id: &str, actor: &Actor, now: i64) -> Option<Self> {
        let state: Self = sealer.open(Purpose::Question, id)?;
        (state.who == who(actor) && now <= state.expires).then_some(state)
    }
}

/// What makes two requests the same: the method, the name and the arguments.
#[must_use]
pub(crate) fn request_digest(method: &str, name: &str, arguments: &Value) -> String {
    let arguments = to_hex(&canonical_digest(arguments));
    to_hex(&canonical_digest(&serde_json::json!([method, name, arguments])))
}

fn who(actor: &Actor) -> String {
    let subject = actor.subject_id().map(ToString::to_string).unwrap_or_default();
    format!("{} {} {subject}", actor.tenant, actor.principal)
}

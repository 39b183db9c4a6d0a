//! One request and everything around it.

use std::sync::atomic::AtomicU64;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Actor, Timestamp};

use crate::era::Client;
use crate::header::Headers;
use crate::jsonrpc::Id;
use crate::outbox::Outbox;
use crate::plane::Selection;

/// One request and everything around it.
#[derive(Clone)]
pub struct Exchange<'a> {
    /// Who asks.
    pub actor: &'a Actor,
    /// With what program.
    pub client: &'a Client,
    /// The session of the handshake era, if there is one.
    pub session: Option<&'a str>,
    /// When it came.
    pub began: Timestamp,
    /// At which endpoint.
    pub selection: &'a Selection,
    /// The request's id.
    pub id: &'a Id,
    /// Where this server is, as browsers see it.
    pub base: &'a str,
    /// The headers, where there are such.
    pub headers: Option<&'a dyn Headers>,
    /// Where messages go that come before the answer.
    pub out: &'a Outbox,
    /// Ends when nobody waits for the answer any more.
    pub gone: &'a CancellationToken,
    /// Time spent in tools, in microseconds, for those who measure the gate.
    pub outside: &'a AtomicU64,
}

impl std::fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange")
            .field("id", &self.id)
            .field("actor", &self.actor.principal)
            .finish_non_exhaustive()
    }
}

impl Exchange<'_> {
    /// What tools and offerings of the conformance suite are told of the client.
    #[must_use]
    pub fn context(&self, params: &Map<String, Value>, kept: Option<&Value>) -> Value {
        let mut context = json!({
            "era": self.client.era_text(),
            "capabilities": self.client.capabilities.declared(),
        });
        if let Some(level) = &self.client.log_level {
            context["log_level"] = level.as_str().into();
        }
        if let Some(responses) = params.get("inputResponses").filter(|responses| responses.is_object()) {
            context["input_responses"] = responses.clone();
        }
        if let Some(kept) = kept {
            context["request_state"] = kept.clone();
        }
        context
    }
}

//! Requests of the handshake era that take their time: every node finds the call that one led to, and hears that its
//! client has given it up.

use std::time::Duration;

use toolgate_core::event::EventKind;
use toolgate_core::id::InvocationId;
use toolgate_core::json::digest;
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::{Actor, Invocation, JsonText};

use crate::{App, AppError};

const CALL: &str = "mcp_request";
const GIVEN_UP: &str = "mcp_request_given_up";
/// No stream lasts longer: whoever wants a call stopped after that knows its id.
const REMEMBERED: Duration = Duration::from_secs(3600);
/// How long a call may take to become known; then it can be stopped by what is known.
const WISH: Duration = Duration::from_secs(120);

impl App {
    /// Notes which call a request led to. True when its client has given the request up by then.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn note_mcp_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
        call: InvocationId,
    ) -> Result<bool, AppError> {
        self.put_mcp_note(actor, key, CALL, serde_json::json!(call), REMEMBERED).await?;
        let wish = self.store().take_token(&wish_of(&key), GIVEN_UP, self.now()).await?;
        Ok(wish.is_some_and(|wish| is_of(&wish, actor)))
    }

    /// Notes that a client has given a request up, and answers the call it led to, where that is known.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn give_up_mcp_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
    ) -> Result<Option<InvocationId>, AppError> {
        self.put_mcp_note(actor, wish_of(&key), GIVEN_UP, serde_json::Value::Null, WISH).await?;
        let found = self.store().read_token(&key, CALL, self.now()).await?;
        let found = found.filter(|note| is_of(note, actor));
        if found.is_some() {
            // Said and heard: it must not stop a later request that is numbered alike.
            self.store().take_token(&wish_of(&key), GIVEN_UP, self.now()).await?;
        }
        Ok(found.and_then(|note| serde_json::from_str(note.data.as_str()).ok()))
    }

    /// What a call has reported so far, oldest first.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn invocation_reports(
        &self,
        invocation: &Invocation,
    ) -> Result<Vec<serde_json::Value>, AppError> {
        let events = self.invocation_events(invocation).await?;
        let chunks = events.iter().filter(|event| event.draft.kind == EventKind::OutputAppended);
        Ok(chunks.filter_map(|event| event.draft.data.to_value().get("chunk").cloned()).collect())
    }

    async fn put_mcp_note(
        &self,
        actor: &Actor,
        hash: [u8; 32],
        purpose: &str,
        data: serde_json::Value,
        lasts: Duration,
    ) -> Result<(), AppError> {
        let now = self.now();
        let note = OneTimeToken {
            hash,
            purpose: purpose.to_owned(),
            tenant: actor.tenant.clone(),
            principal: Some(actor.principal.clone()),
            data: JsonText::from_value(&data),
            expires_at: now.plus(lasts),
        };
        match self.store().put_token(note.clone(), now).await {
            // A client that numbers two requests alike means the later one.
            Err(StoreError::Refused(_)) => {
                self.store().take_token(&hash, purpose, now).await?;
                Ok(self.store().put_token(note, now).await?)
            }
            other => Ok(other?),
        }
    }
}

fn wish_of(key: &[u8; 32]) -> [u8; 32] {
    digest(&[GIVEN_UP.as_bytes(), key].concat())
}

fn is_of(note: &OneTimeToken, actor: &Actor) -> bool {
    note.tenant == actor.tenant && note.principal.as_ref() == Some(&actor.principal)
}

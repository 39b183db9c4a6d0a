//! Requests of the handshake era that take their time: every node finds the call that one led to, and hears that its
//! client has given it up.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_core::event::EventKind;
use toolgate_core::id::InvocationId;
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::{Actor, Invocation, JsonText, Timestamp};

use crate::{App, AppError};

const CALL: &str = "mcp_request";
const GIVEN_UP: &str = "mcp_request_given_up";
/// No stream lasts longer: whoever wants a call stopped after that knows its id.
const REMEMBERED: Duration = Duration::from_secs(3600);
/// How long a call may take to become known; then it can be stopped by what is known.
const WISH: Duration = Duration::from_secs(30);
/// The most wishes of one caller that are kept, on all nodes together.
const WISHES: u8 = 32;

/// That a client has given a request up whose call was not known yet.
#[derive(Debug, Serialize, Deserialize)]
struct Wish {
    /// Which request.
    request: String,
    /// When that was said.
    at: Timestamp,
}

impl App {
    /// Notes which call a request led to that came at `began`. True when its client has given it up by then.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn note_mcp_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
        call: InvocationId,
        began: Timestamp,
    ) -> Result<bool, AppError> {
        self.put_mcp_note(actor, key, CALL, serde_json::json!(call), REMEMBERED).await?;
        let place = place_of(actor, &key);
        let kept = self.store().read_token(&place, GIVEN_UP, self.now()).await?;
        let wish = kept.and_then(|kept| serde_json::from_str::<Wish>(kept.data.as_str()).ok());
        let Some(wish) = wish.filter(|wish| wish.request == to_hex(&key)) else { return Ok(false) };
        // Heard, or about an earlier request that was numbered alike: it stops nothing after this.
        self.store().take_token(&place, GIVEN_UP, self.now()).await?;
        Ok(wish.at >= began)
    }

    /// The call that a given-up request led to. Where none is known yet, the wish is kept for whoever makes it known.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn give_up_mcp_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
    ) -> Result<Option<InvocationId>, AppError> {
        let said = self.now();
        if let Some(call) = self.known_mcp_request(actor, key).await? {
            return Ok(Some(call));
        }
        let place = place_of(actor, &key);
        let wish = serde_json::json!(Wish { request: to_hex(&key), at: said });
        self.put_mcp_note(actor, place, GIVEN_UP, wish, WISH).await?;
        // The wish is written before the call is looked for, as the call is before the wish is: one of the two is seen.
        let found = self.known_mcp_request(actor, key).await?;
        if found.is_some() {
            self.store().take_token(&place, GIVEN_UP, self.now()).await?;
        }
        Ok(found)
    }

    async fn known_mcp_request(
        &self,
        actor: &Actor,
        key: [u8; 32],
    ) -> Result<Option<InvocationId>, AppError> {
        let found = self.store().read_token(&key, CALL, self.now()).await?;
        let found = found.filter(|note| is_of(note, actor));
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

/// Where a wish is kept. A caller has so many places and no more, whatever their clients say; of two wishes for one
/// place the later stands.
fn place_of(actor: &Actor, key: &[u8; 32]) -> [u8; 32] {
    let place = key[0] % WISHES;
    digest(format!("toolgate.{GIVEN_UP} {} {} {place}", actor.tenant, actor.principal).as_bytes())
}

fn is_of(note: &OneTimeToken, actor: &Actor) -> bool {
    note.tenant == actor.tenant && note.principal.as_ref() == Some(&actor.principal)
}

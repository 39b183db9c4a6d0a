//! Sessions of the handshake era. All there is to know of one stands sealed in its id, so that any node serves it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::Actor;

use crate::capability::ClientCapabilities;
use crate::era::{self, Client, Era};
use crate::seal::{CannotSeal, Purpose, Sealer};

/// How long a session id can be used.
const MAX_AGE_SECONDS: i64 = 7 * 24 * 3600;

/// A session, as its id says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    tenant: String,
    principal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    version: String,
    capabilities: Value,
    client: String,
    created: i64,
}

impl Session {
    /// A new session of this caller, begun now (in seconds).
    #[must_use]
    pub fn begin(actor: &Actor, client: &Client, info: Option<&Value>, now: i64) -> Self {
        let name = info.and_then(|info| info.get("name")?.as_str()).unwrap_or_default();
        Self {
            tenant: actor.tenant.to_string(),
            principal: actor.principal.to_string(),
            subject: actor.subject_id().map(ToString::to_string),
            version: client.version.to_owned(),
            capabilities: client.capabilities.to_keep(),
            client: name.chars().take(64).collect(),
            created: now,
        }
    }

    /// The session's id.
    ///
    /// # Errors
    /// When nothing can be sealed.
    pub fn id(&self, sealer: &Sealer) -> Result<String, CannotSeal> {
        sealer.seal(Purpose::Session, self)
    }

    /// The session with this id; none when it is not one of ours, is too old or belongs to another caller.
    #[must_use]
    pub fn open(sealer: &Sealer, id: &str, actor: &Actor, now: i64) -> Option<Self> {
        let session: Self = sealer.open(Purpose::Session, id)?;
        // Invariant: a session serves whoever began it and nobody else.
        let owned = session.tenant == actor.tenant.as_str()
            && session.principal == actor.principal.to_string()
            && session.subject == actor.subject_id().map(ToString::to_string);
        (owned && now - session.created <= MAX_AGE_SECONDS).then_some(session)
    }

    /// The client of this session.
    #[must_use]
    pub fn client(&self) -> Client {
        Client {
            era: Era::Legacy,
            version: era::legacy_version(&self.version).unwrap_or(era::LEGACY[0]),
            capabilities: ClientCapabilities::of(&self.capabilities),
            // Clients of the handshake era get every entry unless they ask for less.
            log_level: Some("debug".to_owned()),
        }
    }
}

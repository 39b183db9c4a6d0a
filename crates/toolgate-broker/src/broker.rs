//! The broker: what it works with, and what it hands out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use toolgate_core::connection::{Connection, ConnectionKind, ConnectionState, Owner, SealedSecret};
use toolgate_core::error::A_PAGE_HERE;
use toolgate_core::id::{ConnectionId, PrincipalKind, TenantId};
use toolgate_core::port::broker::Services;
use toolgate_core::port::capability::Clock;
use toolgate_core::port::connection::{Credentials, Opened, Presented, Whose};
use toolgate_core::port::connection_store::Renewal;
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::{CallError, ErrorCode, Timestamp};
use toolgate_egress::EgressClient;

use crate::contents::Contents;
use crate::envelope::Belongs;
use crate::flights::Flights;
use crate::keyring::Keyring;
use crate::oauth::ClientRegistry;

/// How exactly it is known when a connection was last used.
const NOTED_EVERY: Duration = Duration::from_secs(60);
/// A secret so new can't be what was just refused.
const TOO_NEW: Duration = Duration::from_secs(5);
/// A token refused so soon after it was made will be refused again.
const JUST_RENEWED: Duration = Duration::from_secs(30);

/// What a broker works with.
#[derive(Clone)]
pub struct BrokerParts {
    /// Where connections are kept.
    pub store: Arc<dyn Store>,
    /// Where services are.
    pub services: Arc<dyn Services>,
    /// What secrets are sealed with.
    pub keyring: Keyring,
    /// The way out.
    pub egress: EgressClient,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What we are to authorization servers.
    pub clients: ClientRegistry,
    /// Where browsers find this gate; none leaves links without a host.
    pub public_url: Option<String>,
}

impl std::fmt::Debug for BrokerParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerParts").field("keyring", &self.keyring).finish_non_exhaustive()
    }
}

/// Keeps secrets, hands them out one call at a time, and keeps them fresh.
pub struct SecretBroker {
    pub(crate) parts: BrokerParts,
    pub(crate) flights: Flights,
    noted: Mutex<HashMap<ConnectionId, Timestamp>>,
}

impl std::fmt::Debug for SecretBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretBroker").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// A connection with what opens it.
pub(crate) struct Open {
    pub(crate) connection: Connection,
    pub(crate) sealed: SealedSecret,
    pub(crate) contents: Contents,
}

#[async_trait]
impl Credentials for SecretBroker {
    async fn find(
        &self,
        tenant: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<ConnectionId, CallError> {
        self.usable(tenant, service, whose).await.map(|(connection, _)| connection.id)
    }

    async fn present(
        &self,
        tenant: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<Vec<Presented>, CallError> {
        let (connection, sealed) = self.usable(tenant, service, whose).await?;
        let open = self.open(connection, sealed)?;
        let open = if self.is_fresh(&open) { open } else { self.refreshed(open).await? };
        self.note_use(open.connection.id).await;
        let secret = Opened::new(open.contents.secret.clone());
        Ok(vec![match &open.connection.kind {
            ConnectionKind::Token | ConnectionKind::Oauth(_) => Presented::Bearer(secret),
            ConnectionKind::Header { name } => Presented::Header(name.clone(), secret),
            ConnectionKind::Env { name } => Presented::Env(name.clone(), secret),
        }])
    }

    async fn refused(&self, tenant: &TenantId, service: &str, whose: Whose<'_>) {
        let owner = owner_of(whose);
        let found = self.parts.store.connection(tenant, service, &owner).await;
        let Ok(Some((connection, sealed))) = found else { return };
        let now = self.parts.clock.now();
        let younger_than = |age: Duration| now < connection.updated_at.plus(age);
        if connection.state != ConnectionState::Ok || younger_than(TOO_NEW) {
            return;
        }
        let renews =
            self.open(connection.clone(), sealed.clone()).is_ok_and(|open| open.contents.refresh.is_some());
        let state = match renews && !younger_than(JUST_RENEWED) {
            true => ConnectionState::Expired,
            false => ConnectionState::NeedsLogin,
        };
        tracing::info!(%tenant, service, state = state.as_str(), "a service refused a connection's secret");
        let renewal = Renewal { secret: None, state, at: now };
        match self.parts.store.renew_connection(tenant, connection.id, sealed.version, renewal).await {
            // Another secret has taken its place: the refusal is none of its business.
            Ok(()) | Err(StoreError::Conflict | StoreError::NotFound) => {}
            Err(cause) => tracing::warn!(error = %cause, "a refusal was not noted"),
        }
    }
}

impl SecretBroker {
    /// A broker that works with these.
    #[must_use]
    pub fn new(parts: BrokerParts) -> Self {
        Self { parts, flights: Flights::default(), noted: Mutex::default() }
    }

    /// The connection that is there to be used, as it is stored.
    async fn usable(
        &self,
        tenant: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<(Connection, SealedSecret), CallError> {
        let owner = owner_of(whose);
        let needed = || self.needed(service, &owner);
        let found = self.parts.store.connection(tenant, service, &owner).await.map_err(unavailable)?;
        let (connection, sealed) = found.ok_or_else(needed)?;
        // Looked at anew with each call: whoever moves a service does not get what was meant for where it was.
        let place = self.parts.services.place(tenant, service).await.map_err(unavailable)?;
        if place.is_none_or(|place| place.bound() != connection.place) {
            return Err(needed());
        }
        if matches!(connection.state, ConnectionState::NeedsLogin | ConnectionState::Revoked) {
            return Err(needed());
        }
        Ok((connection, sealed))
    }

    pub(crate) fn open(&self, connection: Connection, sealed: SealedSecret) -> Result<Open, CallError> {
        let belongs = Belongs { tenant: &connection.tenant, connection: connection.id };
        let opened = self.parts.keyring.open_secret(belongs, &sealed);
        let contents = opened.ok().and_then(|bytes| Contents::read(&bytes));
        let Some(contents) = contents else {
            tracing::error!(connection = %connection.id, key = sealed.key_id, "ALERT: a secret can't be opened");
            return Err(CallError::new(ErrorCode::UpstreamFailed, "the connection's secret can't be opened")
                .hint("ask the operator to look at the master key"));
        };
        Ok(Open { connection, sealed, contents })
    }

    /// What a call is told whose connection is not there or has to be made again.
    pub(crate) fn needed(&self, service: &str, owner: &Owner) -> CallError {
        if let Owner::Person(principal) = owner
            && principal.kind() != PrincipalKind::User
        {
            return nobodys(service);
        }
        let base = self.parts.public_url.as_deref().unwrap_or_default().trim_end_matches('/');
        let (whose, link) = match owner {
            Owner::Shared => ("shared", format!("{base}/connections/{service}/connect?shared=true")),
            Owner::Person(_) => ("person", format!("{base}/connections/{service}/connect")),
        };
        // Without a host it is said so, and made whole where a request says which.
        let at = if base.is_empty() { format!("{link}{A_PAGE_HERE}") } else { link.clone() };
        let hint = match owner {
            Owner::Shared => format!("someone who manages connections has to connect it at {at}"),
            Owner::Person(_) => format!("connect your account at {at}"),
        };
        CallError::new(ErrorCode::ConnectionNeeded, format!("`{service}` has to be connected first"))
            .hint(hint)
            .details(json!({ "service": service, "link": link, "whose": whose }))
    }

    /// Notes a use, at most once a minute: it is nothing a call should wait for.
    async fn note_use(&self, id: ConnectionId) {
        let now = self.parts.clock.now();
        {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.get(&id).is_some_and(|last| now < last.plus(NOTED_EVERY)) {
                return;
            }
            if noted.len() >= 10_000 {
                noted.clear();
            }
            noted.insert(id, now);
        }
        if let Err(cause) = self.parts.store.touch_connections(&[(id, now)]).await {
            tracing::warn!(error = %cause, "a connection's use was not noted");
        }
    }
}

/// What an agent or a service is told that acts for no person. Whoever opened the page to connect would connect their own
/// account, and this caller would be told the same again.
fn nobodys(service: &str) -> CallError {
    let set = match service.strip_prefix("mcp:") {
        Some(name) => format!(" (`toolgate upstream set {name} --auth shared`)"),
        None => String::new(),
    };
    let hint = format!(
        "agents and services have no account of their own: use a key that acts for a person          (`toolgate key create --on-behalf`), or have one account serve all callers{set}"
    );
    let message =
        format!("`{service}` is used with each person's own account, and this call is for no person");
    CallError::new(ErrorCode::ConnectionNeeded, message)
        .hint(hint)
        .details(json!({ "service": service, "whose": "person" }))
}

fn owner_of(whose: Whose<'_>) -> Owner {
    match whose {
        Whose::Shared => Owner::Shared,
        Whose::Person(person) => Owner::Person(person.clone()),
    }
}

pub(crate) fn unavailable(cause: StoreError) -> CallError {
    tracing::error!(error = %cause, "connections can't be read");
    CallError::new(ErrorCode::UpstreamFailed, "connections can't be read at the moment")
        .hint("try again later")
}

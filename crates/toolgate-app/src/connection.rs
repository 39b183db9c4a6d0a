//! Accounts at outside services: one's own are one's own business, shared ones that of whoever manages connections.
//! What opens them goes in and never comes out again.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::connection::{Connection, ConnectionKind, ConnectionState, Owner, is_service};
use toolgate_core::document::Area;
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::broker::Broker;
use toolgate_core::port::connection::Opened;
use toolgate_core::upstream::{Transport, Upstream};
use toolgate_core::{Actor, CallError, ErrorCode};

use crate::connections::{denied, person_of};
use crate::services::{place_of, upstream_of};
use crate::{App, AppError};

const LONGEST_SECRET: usize = 16 << 10;
/// Headers that carry the request itself, or that the gate sets.
const OUR_HEADERS: [&str; 9] = [
    "host",
    "content-length",
    "content-type",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "accept",
    "cookie",
];

/// The broker, where there is one.
#[derive(Clone, Default)]
pub(crate) struct Accounts(Option<Arc<dyn Broker>>);

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Accounts").field(&self.0.is_some()).finish()
    }
}

impl App {
    /// The same with a broker that keeps accounts at outside services.
    #[must_use]
    pub fn with_broker(mut self, broker: Arc<dyn Broker>) -> Self {
        self.accounts = Accounts(Some(broker));
        self
    }

    /// The caller's own connections and the shared ones, or all for those who manage them, and where the next part
    /// starts.
    ///
    /// # Errors
    /// "Forbidden" for a credential that is narrowed to other things.
    pub async fn list_connections(
        &self,
        actor: &Actor,
        after: Option<ConnectionId>,
        limit: u32,
    ) -> Result<(Vec<Connection>, Option<ConnectionId>), AppError> {
        not_narrowed(actor)?;
        let own = [Owner::Shared, Owner::Person(person_of(actor).clone())];
        let owners = if self.require(actor, Area::Connections).is_ok() { None } else { Some(&own[..]) };
        let mut found = self.store().connections(&actor.tenant, owners, after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().map(|connection| connection.id).filter(|_| more);
        Ok((found, next))
    }

    /// Keeps a secret for a service, in the place of what was kept before.
    ///
    /// # Errors
    /// "Not found" for a service there is not; what is wrong with the secret; "forbidden".
    pub async fn put_connection(
        &self,
        actor: &Actor,
        service: &str,
        shared: bool,
        kind: ConnectionKind,
        secret: Opened,
    ) -> Result<Connection, AppError> {
        let owner = self.owner(actor, shared)?;
        let upstream = self.service(actor, service).await?;
        self.check_kind(actor, &kind, &upstream)?;
        check_secret(&kind, secret.reveal())?;
        let now = self.now();
        let connection = Connection {
            id: ConnectionId::generate(),
            tenant: actor.tenant.clone(),
            service: service.to_owned(),
            owner,
            kind,
            place: place_of(&upstream).bound(),
            state: ConnectionState::Ok,
            created_at: now,
            updated_at: now,
            last_used_at: None,
        };
        let sealed = self.broker()?.seal(&connection, &secret).map_err(AppError::Call)?;
        self.write_connection(actor, connection, sealed).await
    }

    /// Removes a connection: the caller's own, the shared one, or for those who manage connections anybody's.
    ///
    /// # Errors
    /// "Not found" when there is none; "forbidden".
    pub async fn remove_connection(
        &self,
        actor: &Actor,
        service: &str,
        owner: Option<Owner>,
    ) -> Result<(), AppError> {
        let own = Owner::Person(actor.principal.clone());
        let owner = owner.unwrap_or_else(|| own.clone());
        if owner == own {
            self.owner(actor, false)?;
        } else {
            self.require(actor, Area::Connections)?;
        }
        let found = self.store().connection(&actor.tenant, service, &owner).await?;
        let (connection, _) = found.ok_or(AppError::NotFound { what: "connection" })?;
        self.replaceable(actor, &connection)?;
        let summary = json!({ "action": "connection.removed", "id": connection.id, "service": service,
                              "owner": owner.as_str() });
        self.change(actor, summary, vec![Write::RemoveConnection { id: connection.id }]).await?;
        self.renew_service(actor, service, &owner).await;
        Ok(())
    }

    pub(crate) async fn write_connection(
        &self,
        actor: &Actor,
        connection: Connection,
        sealed: toolgate_core::connection::SealedSecret,
    ) -> Result<Connection, AppError> {
        let before = self.store().connection(&actor.tenant, &connection.service, &connection.owner).await?;
        if let Some((before, _)) = before {
            self.replaceable(actor, &before)?;
        }
        let summary = json!({ "action": "connection.set", "id": connection.id, "service": connection.service,
                              "owner": connection.owner.as_str(), "kind": connection.kind.as_str() });
        let write = Write::PutConnection(Box::new((connection.clone(), sealed)));
        self.change(actor, summary, vec![write]).await?;
        self.renew_service(actor, &connection.service, &connection.owner).await;
        Ok(connection)
    }

    /// Nobody gets around a kill switch by connecting anew, save who may lift it.
    fn replaceable(&self, actor: &Actor, before: &Connection) -> Result<(), AppError> {
        match self.stopped(&before.tenant, before.id) {
            Err(error) if self.require(actor, Area::Kills).is_err() => Err(AppError::Call(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Refuses a connection that a kill switch stops.
    pub(crate) fn stopped(&self, tenant: &TenantId, id: ConnectionId) -> Result<(), CallError> {
        let killed = self.snapshots.get(tenant).and_then(|snapshot| snapshot.gate.killed_connection(id));
        killed.map_or(Ok(()), |decision| Err(denied(decision)))
    }

    /// Refuses to ask a server for its tools through a connection that is stopped. A connection that is not there is
    /// noticed by who asks for it.
    pub(crate) async fn not_stopped(
        &self,
        tenant: &TenantId,
        service: &str,
        owner: Option<Owner>,
    ) -> Result<(), AppError> {
        let Some(owner) = owner else { return Ok(()) };
        match self.store().connection(tenant, service, &owner).await? {
            Some((connection, _)) => self.stopped(tenant, connection.id).map_err(AppError::Call),
            None => Ok(()),
        }
    }

    /// A connection by its id alone, for the few who have nothing else.
    pub(crate) async fn connection_by_id(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
    ) -> Result<Option<Connection>, AppError> {
        const PART: u32 = 500;
        let mut after = None;
        loop {
            let part = self.store().connections(tenant, None, after, PART).await?;
            if let Some(found) = part.iter().find(|connection| connection.id == id) {
                return Ok(Some(found.clone()));
            }
            match part.last() {
                Some(last) if last.id < id => after = Some(last.id),
                Some(_) | None => return Ok(None),
            }
        }
    }

    /// What is open to a service was opened with what it had before.
    pub(crate) async fn renew_service(&self, actor: &Actor, service: &str, owner: &Owner) {
        let name = service.strip_prefix("mcp:").and_then(|name| name.parse().ok());
        let person = match owner {
            Owner::Shared => None,
            Owner::Person(person) => Some(person),
        };
        if let (Some(name), Some(pool)) = (name, self.snapshots.upstreams()) {
            pool.renew(&actor.tenant, &name, person).await;
        }
    }

    /// Whose connection it will be, if the caller may make it.
    pub(crate) fn owner(&self, actor: &Actor, shared: bool) -> Result<Owner, AppError> {
        if shared {
            self.require(actor, Area::Connections)?;
            return Ok(Owner::Shared);
        }
        not_narrowed(actor)?;
        if actor.subject.is_some() {
            return Err(AppError::forbidden("only the person themselves changes their connections")
                .with_hint("use a key or a sign-in of theirs"));
        }
        Ok(Owner::Person(actor.principal.clone()))
    }

    pub(crate) async fn service(&self, actor: &Actor, service: &str) -> Result<Upstream, AppError> {
        let missing = AppError::NotFound { what: "service" };
        if !is_service(service) {
            return Err(missing);
        }
        upstream_of(self.store().as_ref(), &actor.tenant, service).await?.ok_or(missing)
    }

    /// A header goes to an address, a variable to a program; and not every one of them is harmless.
    fn check_kind(&self, actor: &Actor, kind: &ConnectionKind, upstream: &Upstream) -> Result<(), AppError> {
        match (kind, &upstream.transport) {
            (ConnectionKind::Token, Transport::Http { .. }) => Ok(()),
            (ConnectionKind::Header { name }, Transport::Http { .. }) => {
                let token = |b: u8| b.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&b);
                let lower = name.to_ascii_lowercase();
                let fits = (1..=64).contains(&name.len()) && name.bytes().all(token);
                if fits && !OUR_HEADERS.contains(&lower.as_str()) && !lower.starts_with("mcp-") {
                    return Ok(());
                }
                Err(AppError::invalid("this can't be the name of a header with a secret"))
            }
            (ConnectionKind::Env { name }, Transport::Stdio { env, .. }) => {
                let fits = (1..=128).contains(&name.len())
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                    && !name.starts_with(|c: char| c.is_ascii_digit());
                if !fits {
                    return Err(AppError::invalid("this can't be the name of an environment variable"));
                }
                // Some variables make a program run other code: which may be set is said by who may name programs.
                if env.contains_key(name) || self.require(actor, Area::UpstreamCommands).is_ok() {
                    return Ok(());
                }
                Err(AppError::invalid(format!("the server does not say that it takes `{name}`")).with_hint(
                    format!("have whoever manages it add `{name}` to its `env`, with an empty value"),
                ))
            }
            (ConnectionKind::Oauth(_), _) => Err(AppError::invalid("a login is made by connecting")
                .with_hint("use `POST /api/v1/connections/{service}/connect`")),
            (ConnectionKind::Env { .. }, Transport::Http { .. }) => {
                Err(AppError::invalid("the service is at an address: it takes a `token` or a `header`"))
            }
            (_, Transport::Stdio { .. }) => {
                Err(AppError::invalid("the service is a program: it takes an `env`"))
            }
        }
    }

    pub(crate) fn broker(&self) -> Result<&Arc<dyn Broker>, AppError> {
        self.accounts.0.as_ref().ok_or_else(|| {
            AppError::Call(CallError::new(ErrorCode::Unavailable, "this gate keeps no connections"))
        })
    }
}

fn not_narrowed(actor: &Actor) -> Result<(), AppError> {
    if actor.scopes.may_manage(Area::Connections) {
        return Ok(());
    }
    Err(AppError::Forbidden {
        message: "this key's scopes do not let it see or change connections".to_owned(),
        rule: Some("key scopes".to_owned()),
        hint: Some("use a key with the scope `manage:connections`, or one without scopes".to_owned()),
    })
}

fn check_secret(kind: &ConnectionKind, secret: &str) -> Result<(), AppError> {
    let fits = match kind {
        ConnectionKind::Env { .. } => !secret.contains('\0'),
        _ => secret.bytes().all(|b| b.is_ascii_graphic() || b == b' ') && secret.trim() == secret,
    };
    if fits && (1..=LONGEST_SECRET).contains(&secret.len()) {
        return Ok(());
    }
    Err(AppError::invalid(format!(
        "the secret must be 1 to {LONGEST_SECRET} visible characters, without a line break"
    )))
}

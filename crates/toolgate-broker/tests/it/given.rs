//! A broker to try things on.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempfile::TempDir;
use toolgate_broker::{BrokerParts, ClientRegistry, Keyring, SecretBroker};
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::connection::{Connection, ConnectionKind, ConnectionState, Owner, Place, SealedSecret};
use toolgate_core::document::Expect;
use toolgate_core::id::{ConnectionId, PrincipalId, TenantId};
use toolgate_core::port::broker::{Broker, Login, Returned, Services};
use toolgate_core::port::capability::Clock;
use toolgate_core::port::connection::{Credentials, Opened, Presented, Whose};
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::principal::Principal;
use toolgate_core::{AccessRules, CallError, Timestamp};
use toolgate_egress::{EgressClient, EgressPolicy};
use toolgate_store_sqlite::SqliteStore;
use toolgate_testkit::ProtectedServer;

pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
pub(crate) const SERVICE: &str = "mcp:server";
pub(crate) const REDIRECT: &str = "https://gate.example/connections/callback";

/// A clock that stands until it is moved.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// One service, at one place.
struct OneService(std::sync::Mutex<Option<Place>>);

#[async_trait]
impl Services for OneService {
    async fn place(&self, _: &TenantId, service: &str) -> Result<Option<Place>, StoreError> {
        Ok(self.0.lock().unwrap().clone().filter(|_| service == SERVICE))
    }
}

pub(crate) struct Given {
    pub(crate) server: ProtectedServer,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) broker: Arc<SecretBroker>,
    clock: Arc<TestClock>,
    services: Arc<OneService>,
    clients: ClientRegistry,
    _folder: Option<TempDir>,
}

pub(crate) fn tenant() -> TenantId {
    TenantId::default_tenant()
}

pub(crate) fn ada() -> PrincipalId {
    "user:ada".parse().unwrap()
}

impl Given {
    /// On the embedded store.
    pub(crate) async fn new() -> Self {
        Self::with_clients(ClientRegistry::default()).await
    }

    pub(crate) async fn with_clients(clients: ClientRegistry) -> Self {
        let folder = TempDir::new().unwrap();
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        Self { _folder: Some(folder), ..Self::on(store, clients).await }
    }

    pub(crate) async fn on(store: Arc<dyn Store>, clients: ClientRegistry) -> Self {
        let server = ProtectedServer::start().await;
        let clock = Arc::new(TestClock(AtomicI64::new(1_700_000_000_000_000)));
        let services = Arc::new(OneService(std::sync::Mutex::new(Some(Place::Url(server.url())))));
        let person = Principal {
            tenant: tenant(),
            id: ada(),
            title: "Ada".to_owned(),
            rules: AccessRules::new([]),
            roles: Vec::new(),
            acts_for: Vec::new(),
            disabled: false,
            created_at: clock.now(),
        };
        let writes = vec![Write::PutPrincipal { principal: Box::new(person), expect: Expect::Anything }];
        change(&store, writes).await;
        let broker = broker(&store, &server, &clock, &services, &clients);
        Self { server, store, broker, clock, services, clients, _folder: None }
    }

    /// The same with other clients.
    pub(crate) fn set_clients(&mut self, clients: ClientRegistry) {
        self.clients = clients;
        self.broker = self.another_node();
    }

    /// Another node on the same store.
    pub(crate) fn another_node(&self) -> Arc<SecretBroker> {
        broker(&self.store, &self.server, &self.clock, &self.services, &self.clients)
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.clock.0.fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn move_service(&self, to: Option<Place>) {
        *self.services.0.lock().unwrap() = to;
    }

    pub(crate) fn login(&self) -> Login {
        Login {
            tenant: tenant(),
            person: ada(),
            service: SERVICE.to_owned(),
            owner: Owner::Person(ada()),
            place: Place::Url(self.server.url()),
            redirect_uri: REDIRECT.to_owned(),
            state: "the-state".to_owned(),
        }
    }

    /// Ada logs in, and her connection is written.
    pub(crate) async fn log_in(&self) -> Connection {
        let underway = self.broker.depart(&self.login()).await.unwrap();
        let back = returned(underway.papers, &self.server.consent(&underway.url));
        let made = self.broker.arrive(&tenant(), &ada(), back).await.unwrap();
        change(&self.store, vec![Write::PutConnection(Box::new(made.clone()))]).await;
        made.0
    }

    /// A secret someone gave.
    pub(crate) async fn give(&self, kind: ConnectionKind, secret: &str) -> Connection {
        let now = self.clock.now();
        let connection = Connection {
            id: ConnectionId::generate(),
            tenant: tenant(),
            service: SERVICE.to_owned(),
            owner: Owner::Person(ada()),
            kind,
            place: Place::Url(self.server.url()).bound(),
            state: ConnectionState::Ok,
            created_at: now,
            updated_at: now,
            last_used_at: None,
        };
        let sealed = self.broker.seal(&connection, &Opened::new(secret.to_owned())).unwrap();
        change(&self.store, vec![Write::PutConnection(Box::new((connection.clone(), sealed)))]).await;
        connection
    }

    pub(crate) async fn token(&self) -> Result<String, CallError> {
        token_of(&self.broker).await
    }

    pub(crate) async fn refuse(&self) {
        self.broker.refused(&tenant(), SERVICE, Whose::Person(&ada())).await;
    }

    pub(crate) async fn stored(&self) -> (Connection, SealedSecret) {
        self.store.connection(&tenant(), SERVICE, &Owner::Person(ada())).await.unwrap().unwrap()
    }
}

pub(crate) async fn token_of(broker: &SecretBroker) -> Result<String, CallError> {
    let mut presented = broker.present(&tenant(), SERVICE, Whose::Person(&ada())).await?;
    match presented.remove(0) {
        Presented::Bearer(token) => Ok(token.reveal().to_owned()),
        other => panic!("not a token: {other:?}"),
    }
}

pub(crate) async fn change(store: &Arc<dyn Store>, writes: Vec<Write>) {
    let at = Timestamp::from_micros(1_700_000_000_000_000);
    let summary = serde_json::json!({ "action": "test" });
    store.change(AdminChange::new(tenant(), ada(), at, &summary, writes)).await.unwrap();
}

pub(crate) fn returned(papers: toolgate_core::JsonText, sent_back: &str) -> Returned {
    let url = toolgate_egress::Url::parse(sent_back).unwrap();
    let of = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    Returned { papers, code: of("code"), refusal: of("error"), issuer: of("iss") }
}

fn broker(
    store: &Arc<dyn Store>,
    server: &ProtectedServer,
    clock: &Arc<TestClock>,
    services: &Arc<OneService>,
    clients: &ClientRegistry,
) -> Arc<SecretBroker> {
    let policy = EgressPolicy { allow: vec![server.host().parse().unwrap()], ..EgressPolicy::default() };
    Arc::new(SecretBroker::new(BrokerParts {
        store: Arc::clone(store),
        services: Arc::clone(services) as _,
        keyring: Keyring::from_texts(KEY, [], "the test").unwrap(),
        egress: EgressClient::new(policy).unwrap(),
        clock: Arc::clone(clock) as _,
        clients: clients.clone(),
        public_url: Some("https://gate.example/".to_owned()),
    }))
}

//! A whole gate in this process.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_app::{ApiKeySecret, App, Background, FixedTools, hash_key, set_up_admin, set_up_tools};
use toolgate_core::id::{ApiKeyId, TenantId};
use toolgate_core::port::capability::{Capabilities, Clock, SystemClock};
use toolgate_core::port::store::{ApiKey, Store};
use toolgate_core::runner::{Parts, Runner, Settings};
use toolgate_core::{BoundTool, Timestamp};
use toolgate_policy::{AccessAuthorizer, GrantedConnections, LocalLimiter, Rule, RuleDecision, RulePolicy};
use toolgate_server::{ServerSettings, ServerState};
use toolgate_store_postgres::PostgresStore;
use toolgate_store_sqlite::SqliteStore;
use toolgate_testkit::{CountingReceiver, shared_postgres};

use crate::losing::Losing;

pub(crate) const ADMIN: &str = "admin-key-0123456789abcdef0123456789abcdef01234567";
pub(crate) const AGENT: &str = "agent-key-0123456789abcdef0123456789abcdef01234567";
pub(crate) const OTHER_USER: &str = "other-key-0123456789abcdef0123456789abcdef01234567";
pub(crate) const OTHER_TENANT: &str = "tenant-key-0123456789abcdef0123456789abcdef0123456";

/// Which store the gate of this test binary stands on.
#[allow(dead_code, reason = "each test binary uses one")]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

pub(crate) struct TestGate {
    pub(crate) url: String,
    pub(crate) client: reqwest::Client,
    pub(crate) receiver: CountingReceiver,
    pub(crate) runner: Runner,
    pub(crate) losing: Arc<Losing>,
    stop: CancellationToken,
    _folder: TempDir,
}

impl TestGate {
    /// A gate with all built-in and fixture tools, the default policy, and four callers: the administrator, an agent
    /// and another person of the same tenant, and the administrator of another tenant.
    pub(crate) async fn start() -> Self {
        Self::with(ServerSettings::default(), RulePolicy::default()).await
    }

    /// The same where everything may run.
    pub(crate) async fn permissive() -> Self {
        let all = Rule {
            name: "everything runs".into(),
            decision: RuleDecision::Allow,
            tools: vec![],
            effects: vec![],
            egress: vec![],
            principals: vec![],
        };
        Self::with(ServerSettings::default(), RulePolicy::new(vec![all]).unwrap()).await
    }

    pub(crate) async fn with(settings: ServerSettings, policy: RulePolicy) -> Self {
        let folder = TempDir::new().unwrap();
        let store: Arc<dyn Store> = match crate::ENGINE {
            Engine::Sqlite => Arc::new(SqliteStore::open(folder.path()).unwrap()),
            Engine::Postgres => {
                let url = shared_postgres().create_database().await;
                Arc::new(PostgresStore::connect(&url).await.unwrap())
            }
        };
        let losing = Arc::new(Losing::new(store));
        let store: Arc<dyn Store> = Arc::clone(&losing) as _;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        set_up_admin(store.as_ref(), ApiKeySecret::given(ADMIN), clock.now()).await.unwrap();
        for (tenant, principal, rules, key) in [
            ("default", "agent:helper", "plain.thing.read", AGENT),
            ("default", "user:other", "plain.thing.read", OTHER_USER),
            ("elsewhere", "user:chief", "*", OTHER_TENANT),
        ] {
            let (tenant, principal): (TenantId, _) = (tenant.parse().unwrap(), principal.parse().unwrap());
            store.put_principal(&tenant, &principal, &[rules.to_owned()]).await.unwrap();
            let key = ApiKey {
                id: ApiKeyId::generate(),
                tenant,
                principal,
                hash: hash_key(key),
                label: "test".into(),
                created_at: Timestamp::from_micros(1),
            };
            store.put_key(key).await.unwrap();
        }
        let receiver = CountingReceiver::start().await;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tools: Vec<BoundTool> = [toolgate_tools::plugin(), toolgate_fixtures::plugin()]
            .into_iter()
            .flat_map(|plugin| plugin.registrable().unwrap())
            .map(|(contract, reaches, code)| toolgate_schema::register(contract, reaches, code).unwrap())
            .collect();
        let catalog = set_up_tools(store.as_ref(), tools, "2026-01-01", clock.now()).await.unwrap();
        let runner = Runner::new(Parts {
            tools: Arc::new(FixedTools::new(catalog)),
            policy: Arc::new(policy),
            authorizer: Arc::new(AccessAuthorizer),
            connections: Arc::new(GrantedConnections::default()),
            limiter: Arc::new(LocalLimiter::new(None)),
            capabilities: Capabilities {
                clock: Some(Arc::clone(&clock)),
                http: Some(Arc::new(toolgate_fixtures::ReceiverHttp::new(&receiver.url()).unwrap())),
            },
            store,
            clock,
            settings: Settings::default(),
        });
        tokio::spawn(Background::default().run(runner.clone()));
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = ServerState::new(App::new(runner.clone()), settings.clone(), None, stop.clone());
        let router = toolgate_server::router(state);
        tokio::spawn(toolgate_server::serve(
            listener,
            router,
            settings,
            stop.clone(),
            Duration::from_secs(1),
        ));
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        Self { url, client, receiver, runner, losing, stop, _folder: folder }
    }

    pub(crate) async fn send(
        &self,
        key: Option<&str>,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> (u16, Value) {
        let method: reqwest::Method = method.parse().unwrap();
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        assert!(answer.headers().contains_key("server-timing"), "{path} does not say how long the gate took");
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Some(ADMIN), "GET", path, None, &[]).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Some(ADMIN), "POST", path, Some(body), &[]).await
    }

    pub(crate) async fn invoke(&self, tool: &str, input: Value) -> (u16, Value) {
        self.post(&format!("/api/v1/tools/{tool}/invoke"), json!({ "input": input })).await
    }

    pub(crate) async fn invoke_as(&self, key: &str, tool: &str, input: Value) -> (u16, Value) {
        let path = format!("/api/v1/tools/{tool}/invoke");
        self.send(Some(key), "POST", &path, Some(json!({ "input": input })), &[]).await
    }

    pub(crate) async fn events(&self, call: &Value) -> Vec<String> {
        let (_, row) = self.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
        row["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) async fn verify(&self) {
        let (status, report) = self.send(Some(ADMIN), "POST", "/api/v1/audit/verify", None, &[]).await;
        assert_eq!((status, &report["ok"]), (200, &json!(true)), "{report}");
    }
}

impl Drop for TestGate {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

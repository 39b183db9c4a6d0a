//! A whole gate in this process.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_app::{
    ApiKeySecret, App, Background, Connections, Limits, Records, Snapshots, hash_key, set_up_admin,
    set_up_tools,
};
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::assignment::{Assigned, Assignment};
use toolgate_core::contract::Alias;
use toolgate_core::document::{DocumentKind, Expect};
use toolgate_core::id::{ApiKeyId, PrincipalId, PrincipalKind, TenantId};
use toolgate_core::port::capability::{Capabilities, Clock, SystemClock};
use toolgate_core::port::store::Store;
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::runner::{Parts, Runner, Settings};
use toolgate_core::scope::Scopes;
use toolgate_core::{AccessRules, BoundTool, JsonText, Timestamp};
use toolgate_policy::cedar::Policies;
use toolgate_policy::{AccessAuthorizer, GrantedConnections};
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
    pub(crate) app: App,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) losing: Arc<Losing>,
    stop: CancellationToken,
    _folder: TempDir,
}

/// A caller to be made: in which tenant, who, with which roles, rules and scopes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NewCaller<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) subject: Option<&'a str>,
    pub(crate) roles: &'a [&'a str],
    pub(crate) rules: &'a [&'a str],
    pub(crate) scopes: &'a [&'a str],
    pub(crate) acts_for: &'a [&'a str],
}

/// Everything runs, for everyone, without asking.
pub(crate) const PERMISSIVE: &str = r#"
    @id("everything runs") permit (principal, action, resource);
"#;

impl TestGate {
    /// A gate with all built-in and fixture tools, the default policy, and four callers: the administrator, an agent
    /// (that has all tools) and another person of the same tenant, and the administrator of another tenant.
    pub(crate) async fn start() -> Self {
        Self::with(ServerSettings::default(), Policies::default_set().0).await
    }

    /// The same where everything may run.
    pub(crate) async fn permissive() -> Self {
        Self::with(ServerSettings::default(), PERMISSIVE).await
    }

    /// Makes a caller in the records and returns nothing: the key is the one given.
    pub(crate) async fn add_caller(store: &dyn Store, key: &str, caller: NewCaller<'_>) {
        let tenant: TenantId = caller.tenant.parse().unwrap();
        let principal: PrincipalId = caller.principal.parse().unwrap();
        let at = Timestamp::from_micros(1);
        let mut writes = Vec::new();
        if store.tenant(&tenant).await.unwrap().is_none() {
            writes.push(Write::PutTenant {
                title: tenant.to_string(),
                disabled: false,
                expect: Expect::Absent,
            });
        }
        writes.push(Write::PutPrincipal {
            principal: Box::new(Principal {
                tenant: tenant.clone(),
                id: principal.clone(),
                title: "a test's caller".into(),
                rules: AccessRules::new(caller.rules.iter().map(|&rule| rule.to_owned())),
                roles: caller.roles.iter().map(|role| role.parse().unwrap()).collect(),
                acts_for: caller.acts_for.iter().map(|who| who.parse().unwrap()).collect(),
                disabled: false,
                created_at: at,
            }),
            expect: Expect::Anything,
        });
        writes.push(Write::PutKey(Box::new(ApiKey {
            id: ApiKeyId::generate(),
            tenant: tenant.clone(),
            principal: principal.clone(),
            subject: caller.subject.map(|subject| subject.parse().unwrap()),
            hash: hash_key(key),
            label: "test".into(),
            scopes: Scopes::new(caller.scopes.iter().map(|scope| scope.parse().unwrap())),
            created_by: principal.clone(),
            created_at: at,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            replaces: None,
        })));
        if principal.kind() == PrincipalKind::Agent {
            writes.push(put_document(DocumentKind::Toolset, "everything", json!({ "tools": ["*"] })));
            let target = Assigned::Toolset("everything".parse().unwrap());
            let name = Assignment::document_name(&principal, &target);
            let body = json!({ "agent": principal, "target": { "toolset": "everything" } });
            writes.push(put_document(DocumentKind::Assignment, &name, body));
        }
        let by = "service:test".parse().unwrap();
        store.change(AdminChange::new(tenant, by, at, &json!({ "action": "test" }), writes)).await.unwrap();
    }

    /// Makes a caller of a running gate and returns its key.
    pub(crate) async fn caller(&self, caller: NewCaller<'_>) -> String {
        let key = format!("key-of-a-test-{}", ApiKeyId::generate());
        Self::add_caller(self.runner.parts().store.as_ref(), &key, caller).await;
        self.snapshots.reload(&caller.tenant.parse().unwrap()).await.unwrap();
        key
    }

    pub(crate) async fn with(settings: ServerSettings, policy: &str) -> Self {
        Self::with_providers(settings, policy, Vec::new()).await
    }

    pub(crate) async fn with_providers(
        settings: ServerSettings,
        policy: &str,
        providers: Vec<toolgate_app::ConnectedProvider>,
    ) -> Self {
        Self::with_all(settings, policy, providers, toolgate_app::Outbox::default()).await
    }

    pub(crate) async fn with_all(
        settings: ServerSettings,
        policy: &str,
        providers: Vec<toolgate_app::ConnectedProvider>,
        outbox: toolgate_app::Outbox,
    ) -> Self {
        Self::with_app(settings, policy, |app| app.with_providers(providers).with_outbox(outbox)).await
    }

    /// The same with whatever else is decided about the product.
    pub(crate) async fn with_app(
        settings: ServerSettings,
        policy: &str,
        decide: impl FnOnce(App) -> App,
    ) -> Self {
        Self::with_outside(settings, policy, None, decide).await
    }

    /// The same with a way to MCP servers and accounts at outside services, if one is given.
    pub(crate) async fn with_outside(
        settings: ServerSettings,
        policy: &str,
        outside: Option<crate::outside::Outside>,
        decide: impl FnOnce(App) -> App,
    ) -> Self {
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
            let caller = NewCaller { tenant, principal, rules: &[rules], ..NewCaller::default() };
            Self::add_caller(store.as_ref(), key, caller).await;
        }
        let receiver = CountingReceiver::start().await;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tools: Vec<BoundTool> = [toolgate_tools::plugin(), toolgate_fixtures::plugin()]
            .into_iter()
            .flat_map(|plugin| plugin.registrable().unwrap())
            .map(|(mut contract, reaches, code)| {
                if contract.id.as_str() == "fixture__counted_read" {
                    let id = "fixture__count".parse().unwrap();
                    contract.aliases.push(Alias { id, remove_by: "2099-01-01".into() });
                }
                toolgate_schema::register(contract, reaches, code).unwrap()
            })
            .collect();
        let tools = set_up_tools(store.as_ref(), tools, "2026-01-01", clock.now()).await.unwrap();
        let snapshots =
            Snapshots::new(Arc::clone(&store), tools, "2026-01-01".into(), policy.to_owned()).unwrap();
        let outside = outside.map(|outside| outside.open(&store, &clock));
        let snapshots = Arc::new(match &outside {
            Some(outside) => outside.join(snapshots),
            None => snapshots,
        });
        let runner = Runner::new(Parts {
            tools: Arc::clone(&snapshots) as _,
            policy: Arc::clone(&snapshots) as _,
            authorizer: Arc::new(AccessAuthorizer),
            connections: Arc::new(match &outside {
                Some(outside) => {
                    outside.gate(Connections::new(GrantedConnections::default(), Arc::clone(&snapshots)))
                }
                None => Connections::new(GrantedConnections::default(), Arc::clone(&snapshots)),
            }),
            limiter: Arc::new(Limits::new(Arc::clone(&store), Arc::clone(&snapshots), None)),
            directory: Arc::new(Records::new(Arc::clone(&store), Arc::clone(&snapshots))),
            capabilities: Capabilities {
                clock: Some(Arc::clone(&clock)),
                http: Some(Arc::new(toolgate_fixtures::ReceiverHttp::new(&receiver.url()).unwrap())),
                ..Capabilities::default()
            },
            store,
            clock,
            settings: Settings::default(),
        });
        let app = App::new(runner.clone(), Arc::clone(&snapshots));
        let app = decide(match outside {
            Some(outside) => outside.keep(app),
            None => app,
        });
        tokio::spawn(Background::default().run(app.clone()));
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = ServerState::new(app.clone(), settings.clone(), None, stop.clone());
        let router = toolgate_server::router(state);
        tokio::spawn(toolgate_server::serve(
            listener,
            router,
            settings,
            stop.clone(),
            Duration::from_secs(1),
        ));
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        Self { url, client, receiver, runner, app, snapshots, losing, stop, _folder: folder }
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

    /// The status alone, without waiting for the end of a stream.
    pub(crate) async fn status(
        &self,
        key: Option<&str>,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> u16 {
        let method: reqwest::Method = method.parse().unwrap();
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
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

fn put_document(kind: DocumentKind, name: &str, body: Value) -> Write {
    Write::PutDocument {
        kind,
        name: name.to_owned(),
        body: JsonText::from_value(&body),
        expect: Expect::Anything,
    }
}

impl Drop for TestGate {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

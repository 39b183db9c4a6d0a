//! A runner over a real store with a pool of servers: what a gate is, without its doors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toolgate_core::actor::Credential;
use toolgate_core::catalog::Tools;
use toolgate_core::contract::{Binding, Effect};
use toolgate_core::id::{ApiKeyId, ConnectionId, PrincipalId, Slug, TenantId};
use toolgate_core::input_request;
use toolgate_core::port::capability::{Capabilities, SystemClock};
use toolgate_core::port::connection::{Credentials, Opened, Presented, Whose};
use toolgate_core::port::executor::{Executor, ToolFailure};
use toolgate_core::port::gate::{
    Admission, Ask, Authorizer, ConnectionGate, Decision, Directory, LimitError, Limiter, Permit, Policy,
    Verdict,
};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::upstream::{Listing, Upstreams};
use toolgate_core::runner::{CallInput, Parts, Settings as RunnerSettings};
use toolgate_core::scope::Scopes;
use toolgate_core::upstream::{
    Acceptance, Accepted, Offer, Questions, Transport, Upstream, UpstreamAuth, UpstreamTool, tool_id,
};
use toolgate_core::{
    AccessRules, Actor, Call, CallError, CallResult, Catalog, ClearedCall, ErrorCode, Runner, Source,
    Timestamp, ToolContract, ToolOutput,
};
use toolgate_egress::{EgressClient, EgressPolicy};
use toolgate_store_sqlite::SqliteStore;
use toolgate_upstream::{Settings, UpstreamPool};

pub(crate) const NAME: &str = "peer";

/// A runner, a pool and one server.
pub(crate) struct Plane {
    pub(crate) pool: UpstreamPool,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) runner: Runner,
    tools: Arc<Held>,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
struct Held(Mutex<Arc<Catalog>>);

impl Tools for Held {
    fn of(&self, _: &TenantId) -> Arc<Catalog> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

pub(crate) fn tenant() -> TenantId {
    TenantId::default_tenant()
}

pub(crate) fn name() -> Slug {
    NAME.parse().unwrap()
}

/// A server behind a command.
pub(crate) fn stdio(command: impl AsRef<Path>, args: &[&str]) -> Upstream {
    upstream(Transport::Stdio {
        command: command.as_ref().to_str().unwrap().to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: BTreeMap::new(),
    })
}

/// The server that does what it is told, as a process.
pub(crate) fn hostile(modes: &[&str]) -> Upstream {
    let script = script();
    let args: Vec<&str> =
        [script.to_str().unwrap(), "stdio"].into_iter().chain(modes.iter().copied()).collect();
    stdio("node", &args)
}

pub(crate) fn upstream(transport: Transport) -> Upstream {
    Upstream {
        title: String::new(),
        transport,
        enabled: true,
        auth: UpstreamAuth::None,
        connect_timeout_ms: 60_000,
        concurrency: 16,
        questions: Questions::Refuse,
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hostile.mjs")
}

/// The server that does what it is told, over HTTP. Ends on drop.
pub(crate) struct HttpPeer {
    pub(crate) url: String,
    _process: Child,
}

impl HttpPeer {
    pub(crate) async fn start(modes: &[&str]) -> Self {
        let mut process = Command::new("node")
            .arg(script())
            .arg("http")
            .args(modes)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs: `make test` installs it");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("a port");
        Self { url: format!("http://127.0.0.1:{port}"), _process: process }
    }

    pub(crate) fn upstream(&self) -> Upstream {
        upstream(Transport::Http { url: format!("{}/mcp", self.url), headers: BTreeMap::new() })
    }

    /// Every request so far, as the server saw it.
    pub(crate) async fn seen(&self) -> Vec<Value> {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let seen = client.get(format!("{}/seen", self.url)).send().await.unwrap().bytes().await.unwrap();
        serde_json::from_slice(&seen).unwrap()
    }
}

impl Plane {
    pub(crate) async fn new(upstream: Upstream) -> Self {
        Self::with(upstream, Settings::default(), Arc::new(Nobody)).await
    }

    pub(crate) async fn with(
        upstream: Upstream,
        settings: Settings,
        credentials: Arc<dyn Credentials>,
    ) -> Self {
        let policy = EgressPolicy {
            allow: vec!["127.0.0.1".parse().unwrap()],
            plain_http: true,
            ..EgressPolicy::default()
        };
        let pool = UpstreamPool::new(credentials, EgressClient::new(policy).unwrap(), settings);
        let tools = Arc::new(Held::default());
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SystemClock);
        let runner = Runner::new(Parts {
            tools: Arc::clone(&tools) as _,
            policy: Arc::new(Open),
            authorizer: Arc::new(Open),
            connections: Arc::new(Open),
            limiter: Arc::new(Open),
            directory: Arc::new(Open),
            capabilities: Capabilities { clock: Some(Arc::clone(&clock) as _), ..Capabilities::default() },
            store: Arc::new(SqliteStore::open(folder.path()).unwrap()),
            clock,
            settings: RunnerSettings::default(),
        });
        Self { pool, upstream: Arc::new(upstream), runner, tools, _folder: folder }
    }

    pub(crate) async fn list(&self) -> Result<Listing, CallError> {
        self.pool.list(&tenant(), &name(), &self.upstream, Some(&person())).await
    }

    /// Lists, and accepts everything as it is offered.
    pub(crate) async fn accept(&self, effect: Effect) -> Listing {
        self.accept_within(effect, 30_000).await
    }

    pub(crate) async fn accept_within(&self, effect: Effect, timeout_ms: u64) -> Listing {
        let listing = self.list().await.unwrap_or_else(|error| panic!("{error:?}\n{:?}", self.stderr()));
        self.take(&listing.tools, effect, timeout_ms);
        listing
    }

    /// Accepts these offers.
    pub(crate) fn take(&self, offers: &[Offer], effect: Effect, timeout_ms: u64) {
        let bound = offers.iter().map(|offer| {
            let contract = contract(offer, effect, timeout_ms);
            let executor = self.pool.executor(&tenant(), &name(), &self.upstream, offer);
            Arc::new(toolgate_schema::register(contract, Vec::new(), executor).unwrap())
        });
        let asks = ToolContract {
            id: input_request::TOOL.parse().unwrap(),
            execution: Binding::Native { plugin: "core".to_owned() },
            input_schema: json!({ "type": "object" }).into(),
            output_schema: json!({ "type": "object" }).into(),
            ..contract(&offers[0], Effect::Read, 30_000)
        };
        let asks = toolgate_schema::register(asks, Vec::new(), Arc::new(Asks)).unwrap();
        let bound = bound.chain([Arc::new(asks)]);
        *self.tools.0.lock().unwrap() = Arc::new(Catalog::of(bound, "2026-01-01").unwrap());
    }

    /// Accepts one tool without asking the server.
    pub(crate) fn take_unseen(&self, tool: &str, effect: Effect) {
        let offer = Offer {
            name: tool.to_owned(),
            title: None,
            description: "d".to_owned(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: serde_json::Map::new(),
        };
        self.take(&[offer], effect, 30_000);
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> CallResult {
        self.call_as(actor(), tool, input).await
    }

    pub(crate) async fn call_as(&self, actor: Actor, tool: &str, input: Value) -> CallResult {
        let call = Call {
            actor,
            tool: tool_id(&name(), tool).unwrap(),
            input: CallInput::Value(input),
            session: None,
            parent: None,
            idempotency_key: None,
            connection: None,
            key: None,
            source: Source::Api,
            wait: Duration::from_secs(120),
            watch: None,
        };
        self.runner.execute(call).await.unwrap()
    }

    /// Calls and expects a result.
    pub(crate) async fn value(&self, tool: &str, input: Value) -> Value {
        let result = self.call(tool, input).await;
        let text = result.value.unwrap_or_else(|| panic!("{:?}\n{:?}", result.error, self.stderr()));
        serde_json::from_str(text.as_str()).unwrap()
    }

    /// Calls and expects a failure with this code.
    pub(crate) async fn error(&self, tool: &str, input: Value, code: ErrorCode) -> CallError {
        let result = self.call(tool, input).await;
        let error = result.error.unwrap_or_else(|| panic!("{:?}", result.value));
        assert_eq!(error.code, code, "{error:?}\n{:?}", self.stderr());
        error
    }

    pub(crate) fn stderr(&self) -> Option<String> {
        self.pool.health(&tenant(), &name()).and_then(|health| health.stderr)
    }
}

fn contract(offer: &Offer, effect: Effect, timeout_ms: u64) -> ToolContract {
    let decision: Acceptance = serde_json::from_value(json!({
        "digest": offer.digest(), "effect": effect, "egress": "none", "redaction": { "allow": ["*"] },
        "limits": { "timeout_ms": timeout_ms, "max_result_bytes": 16_000_000 },
    }))
    .unwrap();
    let tool = UpstreamTool {
        upstream: name(),
        id: tool_id(&name(), &offer.name).unwrap(),
        offer: Some(offer.clone()),
        warnings: Vec::new(),
        accepted: Some(Accepted { offer: offer.clone(), decision }),
        refused: None,
    };
    tool.contract().unwrap()
}

pub(crate) fn person() -> PrincipalId {
    "user:ada".parse().unwrap()
}

pub(crate) fn actor() -> Actor {
    Actor {
        tenant: tenant(),
        principal: person(),
        subject: None,
        rules: AccessRules::all(),
        roles: Arc::default(),
        scopes: Arc::new(Scopes::new([])),
        credential: Credential::Key(ApiKeyId::generate()),
    }
}

/// The tool that asks people, without the people.
struct Asks;

#[async_trait]
impl Executor for Asks {
    async fn execute(&self, call: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        let within = Duration::from_secs(call.input()["expires_in_seconds"].as_u64().unwrap());
        Err(ToolFailure::HandedOn { to: "a person's answer", within })
    }
}

/// Has no credentials for anyone.
pub(crate) struct Nobody;

#[async_trait]
impl Credentials for Nobody {
    async fn find(&self, _: &TenantId, _: &str, _: Whose<'_>) -> Result<ConnectionId, CallError> {
        Err(CallError::new(ErrorCode::ConnectionNeeded, "nobody is connected"))
    }

    async fn present(&self, _: &TenantId, _: &str, _: Whose<'_>) -> Result<Vec<Presented>, CallError> {
        Err(CallError::new(ErrorCode::ConnectionNeeded, "nobody is connected"))
    }

    async fn refused(&self, _: &TenantId, _: &str, _: Whose<'_>) {}
}

/// One credential, given as told.
pub(crate) struct Given<F>(pub(crate) F);

#[async_trait]
impl<F: Fn(&str, Whose<'_>) -> Presented + Send + Sync> Credentials for Given<F> {
    async fn find(&self, _: &TenantId, _: &str, _: Whose<'_>) -> Result<ConnectionId, CallError> {
        Ok(ConnectionId::generate())
    }

    async fn present(
        &self,
        _: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<Vec<Presented>, CallError> {
        Ok(vec![(self.0)(service, whose)])
    }

    async fn refused(&self, _: &TenantId, _: &str, _: Whose<'_>) {}
}

pub(crate) fn secret(text: &str) -> Opened {
    Opened::new(text.to_owned())
}

/// Lets everything through: what is tested lies behind.
struct Open;

impl Policy for Open {
    fn decide(&self, _: &Ask<'_>) -> Decision {
        Decision::new(Verdict::Allow, "open", "")
    }

    fn decide_approval(&self, _: &Ask<'_>, _: toolgate_core::port::gate::Whose, _: &Value) -> Decision {
        Decision::new(Verdict::Allow, "open", "")
    }

    fn decide_manage(&self, _: &Actor, _: toolgate_core::document::Area, _: Timestamp) -> Decision {
        Decision::new(Verdict::Allow, "open", "")
    }
}

impl Authorizer for Open {
    fn authorize(&self, _: &Actor, _: &ToolContract) -> Result<(), CallError> {
        Ok(())
    }
}

#[async_trait]
impl ConnectionGate for Open {
    async fn check(
        &self,
        _: &Ask<'_>,
        connection: Option<ConnectionId>,
    ) -> Result<Option<ConnectionId>, CallError> {
        Ok(connection)
    }
}

#[async_trait]
impl Limiter for Open {
    async fn admit(&self, _: &Ask<'_>) -> Result<Admission, LimitError> {
        Ok(Admission::Granted(Permit::free()))
    }

    async fn admit_approved(&self, _: &Ask<'_>) -> Result<Permit, LimitError> {
        Ok(Permit::free())
    }
}

#[async_trait]
impl Directory for Open {
    async fn actor(
        &self,
        _: &TenantId,
        _: &PrincipalId,
        _: Option<&PrincipalId>,
        _: Option<ApiKeyId>,
    ) -> Result<Option<Actor>, StoreError> {
        Ok(Some(actor()))
    }
}

//! The pipeline's own CPU: all stages on one thread, with a store that forgets at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use toolgate_app::FixedTools;
use toolgate_core::change::{Change, NewCall};
use toolgate_core::event::{Anchor, ChainHead, Event};
use toolgate_core::id::{IdempotencyKey, InvocationId, PrincipalId, SessionId, TenantId, ToolName, WorkerId};
use toolgate_core::port::capability::{Capabilities, SystemClock};
use toolgate_core::port::store::{
    ApiKey, AuditStore, Begun, InvocationFilter, InvocationStore, Page, PrincipalStore, Session,
    SessionStore, Store, StoreError, ToolRow, ToolStore,
};
use toolgate_core::runner::{CallInput, Parts, Settings};
use toolgate_core::{AccessRules, Actor, BoundTool, Call, Catalog, Invocation, Runner, Source, Timestamp};
use toolgate_policy::{AccessAuthorizer, GrantedConnections, LocalLimiter, RulePolicy};

/// Prints the pipeline's CPU per call at several numbers of tools.
pub(crate) async fn measure() -> anyhow::Result<()> {
    println!("## The pipeline alone: 13 stages, events sealed, no commit\n");
    println!("| tools | CPU per call | ratio |");
    println!("| --- | --- | --- |");
    let mut few = None;
    for tools in [10, 1_000, 10_000] {
        let runner = runner(tools)?;
        // A current-thread runtime on a thread of its own: wall time is CPU time.
        let cost = tokio::task::spawn_blocking(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(cost(&runner))
        })
        .await??;
        let base = *few.get_or_insert(cost);
        println!(
            "| {tools} | {:.1} µs | {:.2} |",
            cost.as_secs_f64() * 1e6,
            cost.as_secs_f64() / base.as_secs_f64()
        );
    }
    Ok(())
}

async fn cost(runner: &Runner) -> anyhow::Result<Duration> {
    const CALLS: u32 = 20_000;
    for _ in 0..2_000 {
        one_call(runner).await?;
    }
    let began = Instant::now();
    for _ in 0..CALLS {
        one_call(runner).await?;
    }
    Ok(began.elapsed() / CALLS)
}

async fn one_call(runner: &Runner) -> anyhow::Result<()> {
    let call = Call {
        actor: Actor {
            tenant: TenantId::default_tenant(),
            principal: "user:admin".parse()?,
            subject: None,
            rules: AccessRules::all(),
            key: None,
        },
        tool: "core__get_current_time".parse()?,
        input: CallInput::Value(serde_json::json!({ "timezone": "Europe/Berlin" })),
        session: None,
        parent: None,
        idempotency_key: None,
        connection: None,
        source: Source::Api,
        wait: Duration::from_secs(30),
    };
    ensure!(runner.execute(call).await?.ok);
    Ok(())
}

fn runner(tools: usize) -> anyhow::Result<Runner> {
    let mut bound: Vec<Arc<BoundTool>> = Vec::new();
    for number in 0..tools {
        let tool = toolgate_tools::all()
            .into_iter()
            .find(|tool| tool.contract.as_ref().is_ok_and(|c| c.id.as_str() == "core__get_current_time"))
            .context("the clock")?;
        let mut contract = tool.contract?;
        if number > 0 {
            contract.id = format!("copy__{number}").parse()?;
        }
        bound.push(Arc::new(toolgate_schema::register(contract, tool.capabilities, tool.executor)?));
    }
    let clock = Arc::new(SystemClock);
    Ok(Runner::new(Parts {
        tools: Arc::new(FixedTools::new(Catalog::of(bound, "2026-01-01")?)),
        policy: Arc::new(RulePolicy::default()),
        authorizer: Arc::new(AccessAuthorizer),
        connections: Arc::new(GrantedConnections::default()),
        limiter: Arc::new(LocalLimiter::new(None)),
        capabilities: Capabilities { clock: Some(Arc::clone(&clock) as _), http: None },
        store: Arc::new(Forgetful),
        clock,
        settings: Settings::default(),
    }))
}

/// Seals events as a store would, and keeps nothing.
struct Forgetful;

fn gone<T>() -> Result<T, StoreError> {
    Err(StoreError::NotFound)
}

#[async_trait]
impl InvocationStore for Forgetful {
    async fn begin(&self, call: NewCall) -> Result<Begun, StoreError> {
        let mut head = ChainHead::EMPTY;
        let mut events = Vec::with_capacity(2);
        for draft in call.drafts() {
            let event = draft.clone().seal(head);
            head = event.head();
            events.push(event);
        }
        Ok(Begun::Fresh(call.written(&events)))
    }
    async fn advance(&self, _: Change) -> Result<Invocation, StoreError> {
        gone()
    }
    async fn find_by_key(
        &self,
        _: &TenantId,
        _: &PrincipalId,
        _: &ToolName,
        _: &IdempotencyKey,
    ) -> Result<Option<Invocation>, StoreError> {
        Ok(None)
    }
    async fn get(&self, _: &TenantId, _: InvocationId) -> Result<Option<Invocation>, StoreError> {
        Ok(None)
    }
    async fn list(&self, _: &TenantId, _: &InvocationFilter, _: Page) -> Result<Vec<Invocation>, StoreError> {
        Ok(Vec::new())
    }
    async fn due(&self, _: Timestamp, _: u32) -> Result<Vec<Invocation>, StoreError> {
        Ok(Vec::new())
    }
    async fn renew(
        &self,
        _: WorkerId,
        _: &[InvocationId],
        _: Timestamp,
    ) -> Result<Vec<InvocationId>, StoreError> {
        Ok(Vec::new())
    }
    async fn end_foreign_leases(&self) -> Result<(), StoreError> {
        Ok(())
    }
    async fn invocation_events(&self, _: &Invocation) -> Result<Vec<Event>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl SessionStore for Forgetful {
    async fn create_session(&self, _: Session) -> Result<(), StoreError> {
        Ok(())
    }
    async fn session(&self, _: &TenantId, _: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(None)
    }
    async fn session_events(&self, _: SessionId, _: i64, _: u32) -> Result<Vec<Event>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl AuditStore for Forgetful {
    async fn sessions_after(&self, _: Option<SessionId>, _: u32) -> Result<Vec<SessionId>, StoreError> {
        Ok(Vec::new())
    }
    async fn invocations_after(
        &self,
        _: Option<InvocationId>,
        _: u32,
    ) -> Result<Vec<Invocation>, StoreError> {
        Ok(Vec::new())
    }
    async fn anchors_after(&self, _: i64, _: u32) -> Result<Vec<Anchor>, StoreError> {
        Ok(Vec::new())
    }
    async fn write_anchor(&self, _: Timestamp, _: u32) -> Result<usize, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl ToolStore for Forgetful {
    async fn record_tools(
        &self,
        _: &TenantId,
        tools: Vec<ToolRow>,
        _: Timestamp,
    ) -> Result<Vec<ToolRow>, StoreError> {
        Ok(tools)
    }
}

#[async_trait]
impl PrincipalStore for Forgetful {
    async fn put_principal(&self, _: &TenantId, _: &PrincipalId, _: &[String]) -> Result<(), StoreError> {
        Ok(())
    }
    async fn principal(&self, _: &TenantId, _: &PrincipalId) -> Result<Option<Actor>, StoreError> {
        Ok(None)
    }
    async fn put_key(&self, _: ApiKey) -> Result<(), StoreError> {
        Ok(())
    }
    async fn any_key(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
    async fn actor_by_key(&self, _: &[u8; 32]) -> Result<Option<Actor>, StoreError> {
        Ok(None)
    }
}

#[async_trait]
impl Store for Forgetful {
    fn engine(&self) -> &'static str {
        "none"
    }
    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

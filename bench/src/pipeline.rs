//! The pipeline's own CPU: all stages on one thread, with a store that forgets at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use toolgate_app::{Connections, Limits, Records, Snapshots};
use toolgate_core::id::{ApiKeyId, TenantId};
use toolgate_core::port::capability::{Capabilities, SystemClock};
use toolgate_core::port::store::Store;
use toolgate_core::runner::{CallInput, Parts, Settings};
use toolgate_core::{AccessRules, Actor, BoundTool, Call, Credential, Runner, Source};
use toolgate_policy::cedar::Policies;
use toolgate_policy::{AccessAuthorizer, GrantedConnections};
use toolgate_testkit::Forgetful;

/// Prints the pipeline's CPU per call at several numbers of tools and policies.
pub(crate) async fn measure() -> anyhow::Result<()> {
    println!("## The pipeline alone: 13 stages, events sealed, no commit\n");
    println!("| tools | policies | CPU per call | ratio |");
    println!("| --- | --- | --- | --- |");
    let mut few = None;
    for (tools, policies) in [(10, 10), (1_000, 10), (10_000, 10), (10, 100), (10, 1_000), (10_000, 1_000)] {
        let runner = runner(tools, policies).await?;
        // A current-thread runtime on a thread of its own: wall time is CPU time.
        let cost = tokio::task::spawn_blocking(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(cost(&runner))
        })
        .await??;
        let base = *few.get_or_insert(cost);
        println!(
            "| {tools} | {policies} | {:.1} µs | {:.2} |",
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
            roles: ["admin".to_owned()].into(),
            scopes: Arc::default(),
            credential: Credential::Key(ApiKeyId::generate()),
        },
        tool: "core__get_current_time".parse()?,
        input: CallInput::Value(serde_json::json!({ "timezone": "Europe/Berlin" })),
        session: None,
        parent: None,
        idempotency_key: None,
        connection: None,
        key: None,
        source: Source::Api,
        wait: Duration::from_secs(30),
        watch: None,
    };
    ensure!(runner.execute(call).await?.ok);
    Ok(())
}

/// A runner with so many tools and, beside the default ones, so many policies.
async fn runner(tools: usize, policies: usize) -> anyhow::Result<Runner> {
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
    let mut text = Policies::default_set().0.to_owned();
    for number in 0..policies {
        text.push_str(&format!(
            "\n@id(\"team {number}\") forbid (principal in Toolgate::Role::\"team-{number}\", \
             action == Toolgate::Action::\"call\", resource) when {{ resource.effect == \"destructive\" }};"
        ));
    }
    let clock = Arc::new(SystemClock);
    let store: Arc<dyn Store> = Arc::new(Forgetful::default());
    let snapshots = Arc::new(Snapshots::new(Arc::clone(&store), bound, "2026-01-01".into(), text)?);
    snapshots.load(&TenantId::default_tenant()).await?;
    Ok(Runner::new(Parts {
        tools: Arc::clone(&snapshots) as _,
        policy: Arc::clone(&snapshots) as _,
        authorizer: Arc::new(AccessAuthorizer),
        connections: Arc::new(Connections::new(GrantedConnections::default(), Arc::clone(&snapshots))),
        limiter: Arc::new(Limits::new(Arc::clone(&store), Arc::clone(&snapshots), None)),
        directory: Arc::new(Records::new(Arc::clone(&store), snapshots)),
        capabilities: Capabilities { clock: Some(Arc::clone(&clock) as _), ..Capabilities::default() },
        store,
        clock,
        settings: Settings::default(),
    }))
}

//! The real binary: killed before and after each commit against a receiver that counts effects, and watched.
#![allow(clippy::unwrap_used, reason = "test code")]

mod approve;
mod fence;
mod kill;
mod load;
mod notify;
mod observe;
mod restart;

use toolgate_testkit::{CountingReceiver, Gate, GateSetup, TestPostgres, shared_postgres};

/// Everything a fixture tool does may run, so that crashes and not people decide what happens.
const POLICIES: &str = r#"@id("everything runs") permit (principal, action, resource);"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

async fn setup(engine: Engine, receiver: &CountingReceiver) -> GateSetup {
    let postgres = || -> &'static TestPostgres { shared_postgres() };
    GateSetup {
        binary: env!("CARGO_BIN_EXE_toolgate").into(),
        args: ["--fixture-tools", "--fixture-receiver", &receiver.url(), "--lease-seconds", "1"]
            .map(str::to_owned)
            .to_vec(),
        envs: vec![("TOOLGATE_LOG".into(), "warn".into())],
        database_url: match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(postgres().create_database().await),
        },
        config: None,
        policies: Some(POLICIES.to_owned()),
    }
}

/// Waits until nothing runs any more, then checks the whole record.
async fn settle_and_verify(gate: &Gate) {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let (status, running) = gate.get("/api/v1/invocations?status=running&limit=1").await;
        assert_eq!(status, 200, "{running}");
        if running["invocations"].as_array().unwrap().is_empty() {
            break;
        }
        assert!(std::time::Instant::now() < patience, "calls still run: {running}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let (status, report) = gate.send("POST", "/api/v1/audit/verify", None, &[]).await;
    assert_eq!((status, &report["ok"]), (200, &serde_json::json!(true)), "{report}");
}

//! What waiting calls cost: deciding on one while ten wait, and while ten thousand do.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use toolgate_testkit::{ADMIN_KEY, TempPostgres};

use crate::governance::Api;
use crate::process::{self, Server};

const DECISIONS: usize = 300;
const AT_ONCE: usize = 32;
/// Everything asks.
const ASK: &str =
    "\n@id(\"ask\") forbid (principal, action == Toolgate::Action::\"call_unattended\", resource);";

/// Prints what a decision takes, and the memory, at ten and at ten thousand waiting calls.
pub(crate) async fn measure(binary: &Path, postgres: &TempPostgres) -> anyhow::Result<()> {
    println!("\n## Deciding on a call while others wait (approve, run, answer; one client)\n");
    println!("| store | waiting | p50 | ratio | p99 | memory |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, url) in [("SQLite", None), ("Postgres", Some(postgres.create_database().await))] {
        let server = process::gate(binary, url.as_deref(), 0).await?;
        let api = Api::of(&server)?;
        let text = format!("{}{ASK}", toolgate_policy::cedar::Policies::default_set().0);
        api.send("PUT", "/api/v1/policy", ADMIN_KEY, Some(json!({ "text": text }))).await?;
        let (mut few, mut there) = (None, 0);
        for waiting in [10, 10_000] {
            fill(&server, waiting - there).await?;
            there = waiting;
            let mut times = decide(&api).await?;
            times.sort_unstable();
            let p50 = times[DECISIONS / 2];
            let base = *few.get_or_insert(p50);
            println!(
                "| {name} | {waiting} | {:.2} ms | {:.2} | {:.2} ms | {:.1} MB |",
                p50.as_secs_f64() * 1e3,
                p50.as_secs_f64() / base.as_secs_f64(),
                times[DECISIONS * 99 / 100].as_secs_f64() * 1e3,
                server.memory()?.resident as f64 / 1e6
            );
        }
    }
    Ok(())
}

/// Makes so many calls wait.
async fn fill(server: &Server, count: usize) -> anyhow::Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..AT_ONCE {
        let api = Api::of(server)?;
        let mine = count / AT_ONCE + usize::from(task < count % AT_ONCE);
        tasks.spawn(async move {
            for _ in 0..mine {
                ask(&api).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

async fn ask(api: &Api) -> anyhow::Result<String> {
    let body = json!({ "input": { "timezone": "Europe/Berlin" } });
    let path = "/api/v1/tools/core__get_current_time/invoke";
    let (status, call) = api.send("POST", path, ADMIN_KEY, Some(body)).await?;
    ensure!(status == 202, "it waits: {status} {call}");
    Ok(call["call_id"].as_str().context("an id")?.to_owned())
}

/// How long decisions take, one after the other, each on a call of its own.
async fn decide(api: &Api) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(DECISIONS);
    for _ in 0..DECISIONS {
        let path = format!("/api/v1/invocations/{}/approve", ask(api).await?);
        let began = Instant::now();
        let (status, answer) = api.send("POST", &path, ADMIN_KEY, Some(json!({}))).await?;
        times.push(began.elapsed());
        ensure!(status == 200 && answer["ok"] == true, "it ran: {status} {answer}");
    }
    Ok(times)
}

//! What governing costs and how soon it holds: calls under many policies, listings, and revocations on another node.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use toolgate_testkit::{ADMIN_KEY, TempPostgres};

use crate::process::{self, Server};
use crate::{MEASURE, client, micros};

const REVOCATIONS: usize = 15;

/// Prints what a call costs under more policies, what listing costs, and how late another node hears of a revocation.
pub(crate) async fn measure(binary: &Path, postgres: &TempPostgres) -> anyhow::Result<()> {
    calls_under_policies(binary).await?;
    listing(binary).await?;
    revocation(binary, postgres).await
}

async fn calls_under_policies(binary: &Path) -> anyhow::Result<()> {
    println!("\n## With more policies saved (SQLite, 16 clients)\n");
    println!("| policies | calls/s | server CPU per call | ratio of CPU |");
    println!("| --- | --- | --- | --- |");
    let mut few = None;
    for policies in [10, 100, 1_000] {
        let server = process::gate(binary, None, 0).await?;
        let api = Api::of(&server)?;
        let mut text = toolgate_policy::cedar::Policies::default_set().0.to_owned();
        for number in 0..policies {
            text.push_str(&format!(
                "\n@id(\"team {number}\") forbid (principal in Toolgate::Role::\"team-{number}\", \
                 action == Toolgate::Action::\"call\", resource) when {{ resource.effect == \"destructive\" }};"
            ));
        }
        api.send("PUT", "/api/v1/policy", ADMIN_KEY, Some(json!({ "text": text }))).await?;
        let found = client::run(&server, 16, MEASURE).await?;
        let cpu = found.cpu_per_call();
        let base = *few.get_or_insert(cpu);
        println!(
            "| {policies} | {:.0} | {:.1} µs | {:.2} |",
            found.per_second(),
            micros(cpu),
            cpu.as_secs_f64() / base.as_secs_f64()
        );
    }
    Ok(())
}

async fn listing(binary: &Path) -> anyhow::Result<()> {
    println!("\n## Listing 5,000 tools over REST, as the gate times itself (pages of 1,000)\n");
    println!("| listing | time | per tool |");
    println!("| --- | --- | --- |");
    let server = process::gate(binary, None, 4_991).await?;
    let api = Api::of(&server)?;
    let mut warm = Vec::new();
    for round in 0..11 {
        let (mut path, mut tools) = ("/api/v1/tools?limit=1000".to_owned(), 0);
        let mut took = Duration::ZERO;
        loop {
            let (page, gate) = api.page(&path).await?;
            took += gate;
            tools += page["tools"].as_array().context("a page")?.len();
            let Some(next) = page["next_cursor"].as_str() else { break };
            path = format!("/api/v1/tools?limit=1000&cursor={next}");
        }
        if round == 0 {
            println!(
                "| the first | {:.1} ms | {:.2} µs |",
                took.as_secs_f64() * 1e3,
                micros(took) / tools as f64
            );
        } else {
            warm.push(took);
        }
    }
    let p50 = middle(&mut warm);
    println!("| warm, p50 of 10 | {:.1} ms | {:.2} µs |", p50.as_secs_f64() * 1e3, micros(p50) / 5_000.0);
    Ok(())
}

async fn revocation(binary: &Path, postgres: &TempPostgres) -> anyhow::Result<()> {
    let url = postgres.create_database().await;
    let (one, other) =
        (process::gate(binary, Some(&url), 0).await?, process::gate(binary, Some(&url), 0).await?);
    let (here, there) = (Api::of(&one)?, Api::of(&other)?);
    here.send("POST", "/api/v1/principals", ADMIN_KEY, Some(json!({ "id": "service:ci", "title": "CI" })))
        .await?;
    println!("\n## A key revoked on one node, refused by another (Postgres, {REVOCATIONS} keys)\n");
    let mut late = Vec::new();
    for _ in 0..REVOCATIONS {
        let body = json!({ "principal": "service:ci", "label": "to be revoked" });
        let (_, made) = here.send("POST", "/api/v1/keys", ADMIN_KEY, Some(body)).await?;
        let (id, secret) = (text(&made["key"]["id"])?, text(&made["secret"])?);
        ensure!(there.send("GET", "/api/v1/me", secret, None).await?.0 == 200, "it works there");
        here.send("DELETE", &format!("/api/v1/keys/{id}"), ADMIN_KEY, None).await?;
        let revoked = Instant::now();
        while there.send("GET", "/api/v1/me", secret, None).await?.0 == 200 {
            ensure!(revoked.elapsed() < Duration::from_secs(10), "it still works there");
        }
        late.push(revoked.elapsed());
    }
    let most = late.iter().max().copied().unwrap_or_default();
    println!(
        "p50 {:.0} ms, at most {:.0} ms",
        middle(&mut late).as_secs_f64() * 1e3,
        most.as_secs_f64() * 1e3
    );
    Ok(())
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("a text")
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The gate's REST API.
pub(crate) struct Api {
    base: String,
    client: reqwest::Client,
}

impl Api {
    pub(crate) fn of(server: &Server) -> anyhow::Result<Self> {
        Ok(Self { base: format!("http://{}", server.address), client: process::http_client()? })
    }

    /// A page, and how long the gate says it took.
    async fn page(&self, path: &str) -> anyhow::Result<(Value, Duration)> {
        let answer = self.client.get(format!("{}{path}", self.base)).bearer_auth(ADMIN_KEY).send().await?;
        let timing = answer.headers().get("server-timing").and_then(|value| value.to_str().ok());
        let millis: f64 =
            timing.and_then(|text| text.split("dur=").nth(1)?.parse().ok()).context("a timing")?;
        Ok((serde_json::from_str(&answer.text().await?)?, Duration::from_secs_f64(millis / 1e3)))
    }

    /// Sends a request and gives status and body.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: Option<Value>,
    ) -> anyhow::Result<(u16, Value)> {
        let mut request =
            self.client.request(method.parse()?, format!("{}{path}", self.base)).bearer_auth(key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let text = answer.text().await?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }
}

//! What a call over MCP costs: to a tool of the gate's own and to a fast upstream, beside that upstream called directly
//! and beside the yardstick.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use toolgate_testkit::ADMIN_KEY;

use crate::client::{self, Measured};
use crate::governance::Api;
use crate::process::{self, Server};
use crate::{CLIENTS, MEASURE, micros, upstream};

const CLOCK: &str = "core__get_current_time";
const THROUGH: &str = "mcp__fast__echo";
const REVISION: &str = "2026-07-28";
/// Until the allocator has given back what only the start needed.
const AT_REST: Duration = Duration::from_secs(3);

/// Prints what calls cost, and what 1,000 tools cost in time to list and in memory.
pub(crate) async fn measure(binary: &Path) -> anyhow::Result<()> {
    println!("\n## `tools/call` over MCP ({REVISION}, SQLite)\n");
    println!(
        "| what | clients | calls/s | of direct | p50 | added | p99 | added | CPU per call | CPU of the yardstick's | \
         calls/s of the yardstick's |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let fast = process::upstream()?;
    let yardstick = process::yardstick(&fast)?;
    let gate = process::gate(binary, None, 0).await?;
    register(&gate, &fast).await?;
    let echo = json!({ "text": "a line of text to say again" });
    for clients in CLIENTS {
        // Side by side at each load, so that the machine's mood strikes all four alike.
        let direct = run(&fast, upstream::TOOL, &echo, clients).await?;
        row("the upstream, direct", clients, &direct, None, None);
        let least = run(&yardstick, upstream::TOOL, &echo, clients).await?;
        row("the yardstick: allow list, forward, fsync", clients, &least, Some(&direct), None);
        let through = run(&gate, THROUGH, &echo, clients).await?;
        row("**the gate, to the upstream**", clients, &through, Some(&direct), Some(&least));
        let native = run(&gate, CLOCK, &json!({ "timezone": "Europe/Berlin" }), clients).await?;
        row("**the gate, to a tool of its own**", clients, &native, None, Some(&least));
    }
    many_tools(binary).await
}

async fn run(server: &Server, tool: &str, arguments: &Value, clients: usize) -> anyhow::Result<Measured> {
    let request = request(server, "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments }));
    // A refusal would be quick too: what is measured has to go well.
    let answer = client::once(server, &request).await?;
    let went_well = serde_json::from_str::<Value>(&answer)?["result"]["structuredContent"].is_object();
    ensure!(went_well && !answer.contains("\"isError\":true"), "an unexpected answer: {answer}");
    client::send(server, &request, clients, MEASURE).await
}

/// Writes the upstream down and accepts its tool as it is.
async fn register(gate: &Server, fast: &Server) -> anyhow::Result<()> {
    let api = Api::of(gate)?;
    let send = async |method: &str, path: &str, body: Value| {
        let (status, answer) = api.send(method, path, ADMIN_KEY, Some(body)).await?;
        ensure!(status < 300, "{method} {path}: {status} {answer}");
        anyhow::Ok(answer)
    };
    let transport = json!({ "kind": "http", "url": format!("http://{}/mcp", fast.address) });
    send("PUT", "/api/v1/upstreams/fast", json!({ "transport": transport, "concurrency": 256 })).await?;
    send("POST", "/api/v1/upstreams/fast/refresh", json!({})).await?;
    let (_, tool) = api.send("GET", &format!("/api/v1/upstream-tools/{THROUGH}"), ADMIN_KEY, None).await?;
    let accept = json!({ "digest": tool["digest"], "effect": "read", "egress": "none", "idempotent": true,
        "redaction_allow": ["*"] });
    send("POST", &format!("/api/v1/upstream-tools/{THROUGH}/accept"), accept).await?;
    Ok(())
}

/// A request of the stateless era, ready to be written.
fn request(server: &Server, method: &str, name: Option<&str>, mut params: Value) -> Vec<u8> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let name = name.map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {ADMIN_KEY}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {REVISION}\r\nmcp-method: {method}\r\n{name}\
         content-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .into_bytes()
}

fn row(what: &str, clients: usize, found: &Measured, direct: Option<&Measured>, least: Option<&Measured>) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let added = |share: f64| {
        let more = |base: &Measured| millis(found.percentile(share)) - millis(base.percentile(share));
        direct.map(|base| format!("{:+.2} ms", more(base))).unwrap_or_default()
    };
    let ratio = |base: Option<&Measured>, of: fn(&Measured) -> f64| {
        base.map(|base| format!("{:.2}", of(found) / of(base))).unwrap_or_default()
    };
    println!(
        "| {what} | {clients} | {:.0} | {} | {:.2} ms | {} | {:.2} ms | {} | {:.1} µs | {} | {} |",
        found.per_second(),
        ratio(direct, Measured::per_second),
        millis(found.percentile(0.50)),
        added(0.50),
        millis(found.percentile(0.99)),
        added(0.99),
        micros(found.cpu_per_call()),
        ratio(least, |measured| measured.cpu_per_call().as_secs_f64()),
        ratio(least, Measured::per_second),
    );
}

async fn many_tools(binary: &Path) -> anyhow::Result<()> {
    println!("\n## 1,000 tools over MCP, each with schemas of its own\n");
    let few = process::gate(binary, None, 0).await?;
    tokio::time::sleep(AT_REST).await;
    println!("Idle, with its own tools only: {}\n", few.memory()?);
    let gate = process::gate(binary, None, 990).await?;
    tokio::time::sleep(AT_REST).await;
    let (before, idle) = (few.memory()?, gate.memory()?);
    println!("Idle, with 990 more, before the first request: {idle}\n");
    println!("Of its own for each tool: {:.1} kB\n", (idle.own as f64 - before.own as f64) / 990.0 / 1e3);
    drop(few);
    let client = process::http_client()?;
    println!("| `tools/list`, all pages | tools | bytes | time at the client | the gate's own |");
    println!("| --- | --- | --- | --- | --- |");
    let mut warm = Vec::new();
    for round in 0..21 {
        let listed = list(&client, &gate).await?;
        if round == 0 {
            listed.print("the first");
        } else {
            warm.push(listed);
        }
    }
    warm.sort_unstable_by_key(|listed| listed.took);
    warm[warm.len() / 2].print("warm, p50 of 20");
    println!("\nAfter listing: {}", gate.memory()?);
    Ok(())
}

struct Listed {
    tools: usize,
    bytes: usize,
    took: Duration,
    gate: Duration,
}

impl Listed {
    fn print(&self, what: &str) {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "| {what} | {} | {} | {:.1} ms | {:.1} ms |",
            self.tools,
            self.bytes,
            millis(self.took),
            millis(self.gate)
        );
    }
}

async fn list(client: &reqwest::Client, gate: &Server) -> anyhow::Result<Listed> {
    let mut listed = Listed { tools: 0, bytes: 0, took: Duration::ZERO, gate: Duration::ZERO };
    let mut cursor = None::<String>;
    loop {
        let mut params = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        } });
        if let Some(cursor) = &cursor {
            params["cursor"] = cursor.as_str().into();
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let began = Instant::now();
        let answer = client
            .post(format!("http://{}/mcp", gate.address))
            .bearer_auth(ADMIN_KEY)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", "tools/list")
            .json(&body)
            .send()
            .await?;
        let timing = answer.headers().get("server-timing").and_then(|value| value.to_str().ok());
        let own: f64 = timing.and_then(|text| text.split("dur=").nth(1)?.parse().ok()).context("a timing")?;
        let text = answer.text().await?;
        listed.took += began.elapsed();
        listed.gate += Duration::from_secs_f64(own / 1e3);
        listed.bytes += text.len();
        let page: Value = serde_json::from_str(&text)?;
        listed.tools += page["result"]["tools"].as_array().context("a page of tools")?.len();
        match page["result"]["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(listed),
        }
    }
}

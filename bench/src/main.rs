//! What a call costs: ratios measured in one run, so that the machine's mood cancels out.
//!
//! `toolgate-bench <toolgate binary>`; `make bench` builds both and runs it. `toolgate-bench mcp <toolgate binary>`
//! measures the MCP part alone, `toolgate-bench pending <toolgate binary>` what waiting calls cost.
#![allow(clippy::print_stdout, reason = "it prints its findings")]

mod client;
mod commit;
mod governance;
mod mcp;
mod pending;
mod pipeline;
mod plain;
mod policy;
mod process;
mod upstream;
mod yardstick;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use client::Measured;
use toolgate_testkit::{Fsync, TempPostgres};

/// How long each measurement lasts.
const MEASURE: Duration = Duration::from_secs(4);
const CLIENTS: [usize; 3] = [1, 16, 64];

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("plain") => runtime.block_on(plain::serve(words.next().context("an address")?)),
        Some("upstream") => runtime.block_on(upstream::serve(words.next().context("an address")?)),
        Some("yardstick") => {
            let mut word = || words.next().context("an address, an upstream and a file");
            runtime.block_on(yardstick::serve(word()?, word()?, word()?))
        }
        Some("pending") => {
            let postgres = TempPostgres::start_with(Fsync::On);
            let binary = words.next().context("a binary")?;
            runtime.block_on(pending::measure(Path::new(&binary), &postgres))
        }
        Some("mcp") => runtime.block_on(mcp::measure(Path::new(&words.next().context("a binary")?))),
        Some(binary) => runtime.block_on(measure(Path::new(binary))),
        None => bail!("usage: toolgate-bench [mcp | pending] <toolgate binary>"),
    }
}

async fn measure(binary: &Path) -> anyhow::Result<()> {
    println!("# Toolgate benchmark: {} cores, {MEASURE:?} each\n", std::thread::available_parallelism()?);
    pipeline::measure().await?;
    policy::measure();

    println!("\n## A REST call of a pure tool (`core__get_current_time`)\n");
    println!(
        "| what | clients | calls/s | p50 | p99 | server CPU per call | of the plain handler | of the bare commits |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut plain = Vec::new();
    {
        let server = process::plain()?;
        for clients in CLIENTS {
            let found = client::run(&server, clients, MEASURE).await?;
            row("plain handler, no pipeline, no record", clients, &found, None, None);
            plain.push(found.per_second());
        }
    }
    let postgres = TempPostgres::start_with(Fsync::On);
    for (name, url) in [("SQLite", None), ("Postgres", Some(postgres.create_database().await))] {
        let bare = commit::measure(url.as_deref(), &CLIENTS).await?;
        for (clients, per_second) in CLIENTS.iter().zip(&bare) {
            println!("| bare commit loop, {name} | {clients} | {per_second:.0} | | | | | 1.00 |");
        }
        let server = process::gate(binary, url.as_deref(), 0).await?;
        for (i, clients) in CLIENTS.into_iter().enumerate() {
            let found = client::run(&server, clients, MEASURE).await?;
            row(&format!("**the gate, durable, {name}**"), clients, &found, Some(plain[i]), Some(bare[i]));
        }
    }

    println!("\n## With more tools registered (SQLite, 16 clients)\n");
    println!("| tools | calls/s | server CPU per call | ratio of CPU |");
    println!("| --- | --- | --- | --- |");
    let mut few = None;
    for copies in [1, 991, 9_991] {
        let server = process::gate(binary, None, copies).await?;
        let found = client::run(&server, 16, MEASURE).await?;
        let cpu = found.cpu_per_call();
        let base = *few.get_or_insert(cpu);
        println!(
            "| {} | {:.0} | {:.1} µs | {:.2} |",
            copies + 9,
            found.per_second(),
            micros(cpu),
            cpu.as_secs_f64() / base.as_secs_f64()
        );
    }
    governance::measure(binary, &postgres).await?;
    pending::measure(binary, &postgres).await?;
    mcp::measure(binary).await
}

fn row(what: &str, clients: usize, found: &Measured, plain: Option<f64>, bare: Option<f64>) {
    let ratio =
        |base: Option<f64>| base.map_or_else(String::new, |base| format!("{:.2}", found.per_second() / base));
    println!(
        "| {what} | {clients} | {:.0} | {:.2} ms | {:.2} ms | {:.1} µs | {} | {} |",
        found.per_second(),
        found.percentile(0.50).as_secs_f64() * 1e3,
        found.percentile(0.99).as_secs_f64() * 1e3,
        micros(found.cpu_per_call()),
        ratio(plain),
        ratio(bare),
    );
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

//! The client side of the protocol's test suite: `toolgate conformance-client URL`, started by the suite.

use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::Value;
use toolgate_upstream::conformance::{Scenario, play};

/// What the suite gives: the server's address as an argument, the rest by environment.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// The server that the suite started.
    url: String,
    /// What it wants to see.
    #[arg(long, env = "MCP_CONFORMANCE_SCENARIO", hide_env_values = true)]
    scenario: String,
    /// What it gives along, as JSON.
    #[arg(long, env = "MCP_CONFORMANCE_CONTEXT", hide_env_values = true, default_value = "{}")]
    context: String,
}

pub(crate) async fn run(args: ConformanceArgs) -> Result<()> {
    let context: Value = serde_json::from_str(&args.context).context("the context is not JSON")?;
    let scenario = Scenario { url: args.url, name: args.scenario, context };
    play(&scenario).await.map_err(|why| anyhow!("`{}` did not go through: {why}", scenario.name))
}

//! `toolgate mcp`: the MCP door over standard input and output, for clients that start their servers themselves.
//! Messages go to a gate elsewhere, or to one in this process over local data. Nothing but messages goes to standard
//! output.

mod batch;
mod bridge;
mod lines;
mod local;
mod pieces;
mod refusal;
mod remote;

use std::path::PathBuf;

use anyhow::bail;
use async_trait::async_trait;
use clap::Args;
use futures::stream::BoxStream;
use serde_json::Value;
use toolgate_core::id::{PrincipalId, Slug};

use crate::client::Global;

pub(crate) const EXAMPLES: &str = "Examples:
  toolgate mcp --url https://tools.example.com           your tools on a gate, with TOOLGATE_KEY
  toolgate mcp --toolset reading                         only those of one toolset
  toolgate mcp --data data --as user:ada                 local data, as this person";

/// How to serve MCP over standard input and output.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Only the tools of this toolset.
    #[arg(long, value_name = "NAME")]
    toolset: Option<Slug>,
    /// Serve the data in this folder in this process, instead of a gate elsewhere.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The same with the data in a Postgres.
    #[arg(long, value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The configuration file for local data.
    #[arg(long, env = "TOOLGATE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Who calls, with local data.
    #[arg(long = "as", value_name = "PRINCIPAL", default_value = "user:admin")]
    caller: PrincipalId,
}

impl McpArgs {
    fn is_local(&self) -> bool {
        self.data.is_some() || self.database_url.is_some()
    }

    fn path(&self) -> String {
        self.toolset.as_ref().map_or("/mcp".to_owned(), |name| format!("/mcp/{name}"))
    }
}

/// What is sent to a gate.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    /// The method: POST, GET or DELETE.
    pub(crate) method: &'static str,
    /// More headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The message.
    pub(crate) body: Option<Value>,
}

/// What comes back.
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Whether the body is a stream of events.
    pub(crate) streams: bool,
    /// The session that was begun.
    pub(crate) session: Option<String>,
    /// The body, bit by bit.
    pub(crate) body: BoxStream<'static, anyhow::Result<Vec<u8>>>,
}

/// A way to a gate.
#[async_trait]
pub(crate) trait Way: Send + Sync + 'static {
    /// Sends something and returns what comes back.
    async fn send(&self, post: Post) -> anyhow::Result<Reply>;
}

/// Serves until standard input ends.
pub(crate) async fn run(args: McpArgs, global: &Global) -> anyhow::Result<()> {
    if global.key_stdin {
        bail!("standard input carries messages here: give the key in TOOLGATE_KEY");
    }
    if args.is_local() {
        return local::run(&args).await;
    }
    bridge::run(remote::Remote::new(global, &args.path())?).await
}

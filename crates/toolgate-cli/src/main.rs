//! `toolgate`: the server and the command line to it. The one place that wires everything.

mod broker;
mod client;
mod config;
mod conformance_client;
mod courier;
mod files;
mod listen;
mod mcp;
mod mcp_door;
mod names;
mod notify;
mod oauth;
mod oidc;
mod print;
mod serve;
mod shares;
mod telemetry;
mod upstreams;

use std::pin::Pin;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Define a tool once. People get a form, agents get a schema, and every call takes the same guarded, recorded path.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, about, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: client::Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  toolgate serve                                        run a gate on 127.0.0.1:8787
  toolgate tool list                                    what you may call
  toolgate tool invoke core__get_current_time           call a tool
  toolgate tool invoke core__get_current_time --help    its own flags, from its schema
  toolgate audit verify                                 check the whole record

Exit codes: 0 done, 1 failed, 2 usage, 3 denied, 4 waiting for approval";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a gate.
    Serve(serve::ServeArgs),
    /// Play the client in the protocol's test suite.
    #[command(hide = true)]
    ConformanceClient(conformance_client::ConformanceArgs),
    /// Wait for a gate to end, and end the MCP servers it left.
    #[command(hide = true)]
    KeepWatch,
    /// Serve MCP over standard input and output: a gate elsewhere, or local data.
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(Box<mcp::McpArgs>),
    #[command(flatten)]
    Client(client::ClientCommand),
}

// A call makes and drops hundreds of small texts on threads that hand them to each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::KeepWatch = cli.command {
        upstreams::keep_watch();
        return ExitCode::SUCCESS;
    }
    // Both HTTP and Postgres may need TLS; one provider serves both.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => return print::failure(&anyhow::Error::new(cause).context("the runtime did not start")),
    };
    // Behind a pointer: the runtime would otherwise have all the code of each command three times.
    let ended: Pin<Box<dyn Future<Output = ExitCode>>> = match cli.command {
        Command::Serve(args) => Box::pin(told(serve::run(args))),
        Command::ConformanceClient(args) => Box::pin(told(conformance_client::run(args))),
        Command::Mcp(args) => Box::pin(told(mcp::run(*args, &cli.global))),
        Command::KeepWatch => return ExitCode::SUCCESS,
        Command::Client(command) => Box::pin(client::run(command, &cli.global)),
    };
    runtime.block_on(ended)
}

async fn told(command: impl Future<Output = anyhow::Result<()>>) -> ExitCode {
    match command.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => print::failure(&cause),
    }
}

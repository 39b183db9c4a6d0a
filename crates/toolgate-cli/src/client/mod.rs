//! The command line to a running gate.

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The gate to talk to.
    #[arg(long, global = true, env = "TOOLGATE_URL", default_value = "http://127.0.0.1:8787", value_name = "URL")]
    pub(crate) url: String,
    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Check a setup.
    Doctor,
}

pub(crate) async fn run(_command: ClientCommand, _global: &Global) -> ExitCode {
    ExitCode::SUCCESS
}

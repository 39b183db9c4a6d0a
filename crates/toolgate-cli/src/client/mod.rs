//! The command line to a running gate: one file per noun, data on stdout, talk on stderr.

mod answer;
mod ask;
mod audit;
mod decide;
mod doctor;
mod explain;
mod fail;
mod flags;
mod http;
mod invocation;
mod invoke;
mod options;
mod schema;
mod section;
mod session;
mod show;
mod sse;
mod store;
mod tool;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use fail::Stop;

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    // Read from the environment by hand: clap would show `--url` in every usage line of whoever has set it.
    /// The gate to talk to [env: TOOLGATE_URL] [default: http://127.0.0.1:8787]
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) url: Option<String>,
    /// Read the key from standard input instead of the environment variable TOOLGATE_KEY.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) key_stdin: bool,
    /// Print what the gate answered as JSON: pretty on a terminal, else as it came.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Say nothing but data and errors.
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Say which requests are made and how long they take.
    #[arg(long, short, global = true, help_heading = "Global options", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

impl Global {
    /// Says something to the person, unless they asked for quiet.
    fn talk(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            crate::print::talk(text);
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// See and call tools.
    #[command(subcommand, arg_required_else_help = true)]
    Tool(tool::ToolCommand),
    /// See, stop and decide on calls.
    #[command(subcommand, arg_required_else_help = true)]
    Invocation(invocation::InvocationCommand),
    /// Threads of work and their live events.
    #[command(subcommand, arg_required_else_help = true)]
    Session(session::SessionCommand),
    /// Check and export the record.
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::AuditCommand),
    /// Check a setup, one line for each thing that can be wrong.
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorArgs),
    /// Explain an error code.
    #[command(after_help = explain::EXPLAIN_EXAMPLES)]
    Explain {
        /// The code, as errors show it in brackets.
        code: String,
    },
    /// Print the OpenAPI document of the REST routes. Needs no server.
    #[command(after_help = explain::OPENAPI_EXAMPLES)]
    Openapi,
    /// Print a completion script for a shell.
    #[command(after_help = explain::COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Runs one command and says how it ended.
pub(crate) async fn run(command: ClientCommand, global: &Global) -> ExitCode {
    let ended = match command {
        ClientCommand::Tool(command) => tool::run(command, global).await,
        ClientCommand::Invocation(command) => invocation::run(command, global).await,
        ClientCommand::Session(command) => session::run(command, global).await,
        ClientCommand::Audit(command) => audit::run(command, global).await,
        ClientCommand::Doctor(args) => doctor::run(&args, global).await,
        ClientCommand::Explain { code } => explain::explain(&code),
        ClientCommand::Openapi => explain::openapi(),
        ClientCommand::Completions { shell } => Ok(explain::completions(shell)),
    };
    ended.unwrap_or_else(|stop: Stop| stop.report(global.json))
}

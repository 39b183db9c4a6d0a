//! Calls from the side of tools: `tool invocations`, `tool approve` and `tool reject` say what `invocation` says.

use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches, Subcommand};
use toolgate_core::id::{PrincipalId, ToolName};

use super::invocation::{self, InvocationCommand};
use super::who::parse_agent;
use super::{Global, Stop, options};

pub(super) const INVOCATIONS_EXAMPLES: &str = "\
Examples:
  toolgate tool invocations --status pending        what waits for a person
  toolgate tool invocations --agent helper --limit 50
  toolgate invocation list --since 2h --all         more filters";

pub(super) const APPROVE_EXAMPLES: &str = "\
Examples:
  toolgate tool approve inv_…
  toolgate tool approve inv_… --reason \"as agreed\" --yes";

pub(super) const REJECT_EXAMPLES: &str = "\
Examples:
  toolgate tool reject inv_… --reason \"use the test account\"";

/// Which calls to list.
#[derive(Debug, Args)]
pub(crate) struct InvocationsArgs {
    /// Of one tool.
    #[arg(long, value_name = "ID")]
    tool: Option<ToolName>,
    /// In one status, such as pending, running, completed, failed or in_doubt.
    #[arg(long)]
    status: Option<String>,
    /// By one agent: its name, or id.
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    agent: Option<PrincipalId>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Says it in the words of `invocation list`, so that both stay the same.
pub(super) async fn invocations(args: InvocationsArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut words = vec!["list".to_owned(), format!("--limit={}", args.limit)];
    words.extend(args.tool.map(|tool| format!("--tool={tool}")));
    words.extend(args.status.map(|status| format!("--status={status}")));
    words.extend(args.agent.map(|agent| format!("--actor={agent}")));
    let command = InvocationCommand::augment_subcommands(Command::new("invocation").no_binary_name(true));
    let matches = command.try_get_matches_from(words).map_err(options::internal)?;
    invocation::run(InvocationCommand::from_arg_matches(&matches).map_err(options::internal)?, global).await
}

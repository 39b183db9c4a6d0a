//! Kill switches: what is stopped at once, whatever policy says.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use toolgate_api::{KillView, ThrowKillRequest, ThrownKillView};

use super::ask::Confirm;
use super::change::{Facts, show_answer, show_gone};
use super::http::{Gate, PATIENCE};
use super::page::Listing;
use super::{Global, Stop, show};

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate kill list";

const THROW_EXAMPLES: &str = "\
Examples:
  toolgate kill throw tool crm__refund --reason \"refunds twice, see incident 12\"
  toolgate kill throw principal agent:helper --reason \"under attack\" --yes
  toolgate kill throw tenant --reason \"all calls stop\"";

const LIFT_EXAMPLES: &str = "\
Examples:
  toolgate kill lift tool crm__refund
  toolgate kill lift tenant --yes";

#[derive(Debug, Subcommand)]
pub(crate) enum KillCommand {
    /// List the switches that are thrown.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Throw a switch: nothing it names begins any more, and what runs is told to stop. What is not there yet can be
    /// named too.
    #[command(after_help = THROW_EXAMPLES)]
    Throw {
        #[command(flatten)]
        target: TargetArgs,
        /// Why: whoever meets it will read it.
        #[arg(long, value_name = "TEXT", required = true)]
        reason: String,
    },
    /// Lift a switch: what it stopped can be called again.
    #[command(after_help = LIFT_EXAMPLES)]
    Lift(TargetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// What it stops.
    kind: KillKind,
    /// Which one: its id. Left out for a tenant, which is always your own.
    #[arg(required_if_eq_any = [("kind", "tool"), ("kind", "principal"), ("kind", "connection"), ("kind", "session")])]
    target: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KillKind {
    /// All calls of a tool.
    Tool,
    /// All calls by a user, agent or service, or on its behalf.
    Principal,
    /// All calls that use a connection.
    Connection,
    /// All calls in a session.
    Session,
    /// All calls of your tenant.
    Tenant,
}

impl KillKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Principal => "principal",
            Self::Connection => "connection",
            Self::Session => "session",
            Self::Tenant => "tenant",
        }
    }
}

impl TargetArgs {
    fn words(&self) -> String {
        match &self.target {
            Some(target) => format!("{} {}", self.kind.as_str(), show::plain(target)),
            None => format!("your {}", self.kind.as_str()),
        }
    }
}

impl Facts for ThrownKillView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let kill = &self.kill;
        vec![
            ("stops", format!("{} {}", kill.kind, kill.target)),
            ("reason", kill.reason.clone()),
            ("thrown", format!("{} by {}", show::moment(&kill.at), kill.by)),
        ]
    }
}

pub(super) async fn run(command: KillCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        KillCommand::List => list(global).await,
        KillCommand::Throw { target, reason } => throw(target, reason, global).await,
        KillCommand::Lift(target) => lift(target, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["kills"], items: "kills", ..Listing::default() };
    let row = |kill: KillView| vec![kill.kind, kill.target, show::moment(&kill.at), kill.by, kill.reason];
    listing.show(&["kind", "target", "thrown", "by", "reason"], "no switch is thrown", row, global).await
}

async fn throw(target: TargetArgs, reason: String, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    target.confirm.insist(&format!("Stop all calls of {}?", target.words()))?;
    let body = ThrowKillRequest { kind: target.kind.as_str().to_owned(), target: target.target, reason };
    let answer = gate.post(gate.url(&["api", "v1", "kills"], &[]), &body, PATIENCE).await?;
    let thrown: ThrownKillView = answer.read()?;
    let shown = show_answer::<ThrownKillView>(&answer, global)?;
    if thrown.known == Some(false) {
        let (kind, target) = (show::plain(&thrown.kill.kind), show::plain(&thrown.kill.target));
        global.talk(format_args!("there is no {kind} {target} now; the switch holds once there is"));
    }
    Ok(shown)
}

async fn lift(target: TargetArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let words = target.words();
    target.confirm.insist(&format!("Let calls of {words} run again?"))?;
    let mut query = vec![("kind", target.kind.as_str().to_owned())];
    query.extend(target.target.map(|target| ("target", target)));
    let answer = gate.delete(gate.url(&["api", "v1", "kills"], &query)).await?;
    Ok(show_gone(&answer, &format!("the switch for {words} is lifted"), global))
}

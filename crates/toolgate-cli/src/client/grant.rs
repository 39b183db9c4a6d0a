//! Standing grants: what people let run without asking. They are given by `approval approve --remember`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::GrantView;

use super::ask::Confirm;
use super::change::{Facts, show_gone, show_one};
use super::http::Gate;
use super::page::Listing;
use super::{Global, Stop, show};

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate grant list
  toolgate grant list --json | jq '.grants[] | {name, tool, arguments}'";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate grant show gnt-…";

const REVOKE_EXAMPLES: &str = "\
Examples:
  toolgate grant revoke gnt-…";

#[derive(Debug, Subcommand)]
pub(crate) enum GrantCommand {
    /// List standing grants and how often each was used: your own, or all of them if you manage approvals.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show a standing grant, and how often it was used.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: String,
    },
    /// Take a standing grant back: the next such call asks again.
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// Its name.
    name: String,
    #[command(flatten)]
    confirm: Confirm,
}

impl Facts for GrantView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("name", self.name.clone()),
            ("tool", self.tool.clone()),
            ("caller", caller(self)),
            ("session", self.session_id.clone().unwrap_or_default()),
            ("arguments", self.arguments.as_ref().map_or_else(|| "any".to_owned(), ToString::to_string)),
            ("given", format!("{} by {}", show::moment(&self.created_at), self.by)),
            ("with", self.call_id.clone()),
            ("ends", show::moment(&self.expires_at)),
            ("used", times(self.used)),
        ]
    }
}

/// What was used more often than is counted was used at least that often.
fn times(used: u64) -> String {
    if used >= 1_000 { "1000 or more".to_owned() } else { used.to_string() }
}

fn caller(grant: &GrantView) -> String {
    match &grant.subject {
        Some(subject) => format!("{} for {subject}", grant.actor),
        None => grant.actor.clone(),
    }
}

pub(super) async fn run(command: GrantCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        GrantCommand::List => list(global).await,
        GrantCommand::Show { name } => show_one::<GrantView>(&["grants", &name], global).await,
        GrantCommand::Revoke(args) => revoke(args, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["grants"], items: "grants", ..Listing::default() };
    let columns = ["name", "tool", "caller", "used", "given by", "ends", "where", "arguments"];
    let row = |grant: GrantView| {
        let (caller, ends) = (caller(&grant), show::moment(&grant.expires_at));
        let place = if grant.session_id.is_some() { "one session" } else { "everywhere" };
        let arguments = grant.arguments.as_ref().map_or_else(|| "any".to_owned(), ToString::to_string);
        let arguments = show::shortened(&arguments, 100);
        let used = times(grant.used);
        vec![grant.name, grant.tool, caller, used, grant.by, ends, place.to_owned(), arguments]
    };
    listing.show(&columns, "there is no standing grant", row, global).await
}

async fn revoke(args: RevokeArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Take {} back?", args.name))?;
    let answer = gate.delete(gate.url(&["api", "v1", "grants", &args.name], &[])).await?;
    Ok(show_gone(&answer, &format!("the grant `{}` is taken back", args.name), global))
}

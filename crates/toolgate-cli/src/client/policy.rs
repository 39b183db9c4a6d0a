//! Policies: one text for the tenant, with its versions. Explaining and trying have their own files.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{PolicyDiffView, PolicySchemaView, PolicyVersionView, PolicyView, RollbackPolicyRequest};

use super::ask::Confirm;
use super::http::{Gate, PATIENCE};
use super::page::Listing;
use super::policy_explain::{self, ExplainArgs};
use super::policy_save::{self, SaveArgs, ValidateArgs};
use super::policy_try::{self, TryArgs};
use super::{Global, Stop, show};
use crate::print;

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate policy show
  toolgate policy show > policy.cedar        the text alone, to edit
  toolgate policy show 3                     an earlier version; 0 is what every tenant starts with";

const VERSIONS_EXAMPLES: &str = "\
Examples:
  toolgate policy versions";

const DIFF_EXAMPLES: &str = "\
Examples:
  toolgate policy diff 3            from version 3 to what is in force
  toolgate policy diff 0 3          from what every tenant starts with to version 3";

const ROLLBACK_EXAMPLES: &str = "\
Examples:
  toolgate policy diff 3
  toolgate policy rollback 3
  toolgate policy rollback 0 --yes  what every tenant starts with";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  toolgate policy schema > toolgate.cedarschema";

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the policies in force, or those of one version.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The version's number.
        number: Option<u64>,
    },
    /// Check a text without saving it.
    #[command(after_help = policy_save::VALIDATE_EXAMPLES)]
    Validate(ValidateArgs),
    /// Save a text and bring it into force.
    #[command(after_help = policy_save::SAVE_EXAMPLES)]
    Save(SaveArgs),
    /// List the versions, newest first.
    #[command(after_help = VERSIONS_EXAMPLES)]
    Versions,
    /// Show what changed from one version to another.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff {
        /// The earlier version's number.
        from: u64,
        /// The later version's number; left out, what is in force.
        to: Option<u64>,
    },
    /// Save an earlier version again, as a new one.
    #[command(after_help = ROLLBACK_EXAMPLES)]
    Rollback(RollbackArgs),
    /// Explain whether a call would run, ask or be refused, gate by gate.
    #[command(after_help = policy_explain::EXAMPLES)]
    Explain(ExplainArgs),
    /// Try a draft on recorded calls: what would have come out otherwise?
    #[command(after_help = policy_try::EXAMPLES)]
    Try(TryArgs),
    /// Print the Cedar schema that policies are checked against.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// The version's number; 0 is what every tenant starts with.
    number: u64,
    #[command(flatten)]
    confirm: Confirm,
}

pub(super) async fn run(command: PolicyCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        PolicyCommand::Show { number } => show_policy(number, global).await,
        PolicyCommand::Validate(args) => policy_save::validate(args, global).await,
        PolicyCommand::Save(args) => policy_save::save(args, global).await,
        PolicyCommand::Versions => versions(global).await,
        PolicyCommand::Diff { from, to } => diff(from, to, global).await,
        PolicyCommand::Rollback(args) => roll_back(args, global).await,
        PolicyCommand::Explain(args) => policy_explain::explain(args, global).await,
        PolicyCommand::Try(args) => policy_try::try_draft(args, global).await,
        PolicyCommand::Schema => schema(global).await,
    }
}

async fn show_policy(number: Option<u64>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = match number {
        None => gate.get(gate.url(&["api", "v1", "policy"], &[])).await?,
        Some(number) => {
            let number = number.to_string();
            gate.get(gate.url(&["api", "v1", "policy", "versions", &number], &[])).await?
        }
    };
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let (text, line) = match number {
        None => {
            let policy: PolicyView = answer.read()?;
            let line = saved(&policy);
            (policy.text, line)
        }
        Some(number) => {
            let version: PolicyVersionView = answer.read()?;
            let line = format!("version {number}: {}", version.note);
            (version.text.unwrap_or_default(), line)
        }
    };
    print_text(&text);
    global.talk(show::plain(line.trim_end_matches([':', ' '])));
    Ok(ExitCode::SUCCESS)
}

/// Which version this is, whose, and why.
pub(super) fn saved(policy: &PolicyView) -> String {
    let by = match (&policy.saved_by, &policy.saved_at) {
        (Some(by), Some(at)) => format!(", saved {} by {by}", show::moment(at)),
        _ => String::new(),
    };
    let note = if policy.note.is_empty() { String::new() } else { format!(": {}", policy.note) };
    format!("version {}{by}{note}", policy.version)
}

async fn versions(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["policy", "versions"], items: "versions", ..Listing::default() };
    let row = |version: PolicyVersionView| {
        let at = show::moment(&version.saved_at);
        vec![version.version.to_string(), at, version.saved_by, version.note]
    };
    let none = "nothing was saved yet: the policies every tenant starts with are in force";
    listing.show(&["version", "saved", "by", "note"], none, row, global).await
}

async fn diff(from: u64, to: Option<u64>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let mut query = vec![("from", from.to_string())];
    query.extend(to.map(|to| ("to", to.to_string())));
    let answer = gate.get(gate.url(&["api", "v1", "policy", "diff"], &query)).await?;
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let PolicyDiffView { diff } = answer.read()?;
    if diff.is_empty() {
        global.talk("nothing changed");
    } else if has_colours() {
        let lines: Vec<String> = diff.lines().map(|line| coloured(&show::plain(line))).collect();
        print::data(lines.join("\n"));
    } else {
        print_text(&diff);
    }
    Ok(ExitCode::SUCCESS)
}

fn has_colours() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn coloured(line: &str) -> String {
    let colour = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "1",
        [b'+', ..] => "32",
        [b'-', ..] => "31",
        [b'@', ..] => "36",
        _ => return line.to_owned(),
    };
    format!("\x1b[{colour}m{line}\x1b[0m")
}

async fn roll_back(args: RollbackArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Bring version {} into force again?", args.number))?;
    let body = RollbackPolicyRequest { version: args.number };
    let answer = gate.post(gate.url(&["api", "v1", "policy", "rollback"], &[]), &body, PATIENCE).await?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&saved(&answer.read()?)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn schema(global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = gate.get(gate.url(&["api", "v1", "policy", "schema"], &[])).await?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print_text(&answer.read::<PolicySchemaView>()?.schema);
    }
    Ok(ExitCode::SUCCESS)
}

/// A whole text: as it is into a file, without control characters on a terminal.
fn print_text(text: &str) {
    let text = text.trim_end_matches('\n');
    if std::io::stdout().is_terminal() {
        print::data(text.lines().map(show::plain).collect::<Vec<_>>().join("\n"));
    } else {
        print::data(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_coloured_line_by_line() {
        assert_eq!(coloured("+permit"), "\x1b[32m+permit\x1b[0m");
        assert_eq!(coloured("-permit"), "\x1b[31m-permit\x1b[0m");
        assert_eq!(coloured("--- version 1"), "\x1b[1m--- version 1\x1b[0m");
        assert_eq!(coloured("@@ -1 +1 @@"), "\x1b[36m@@ -1 +1 @@\x1b[0m");
        assert_eq!(coloured(" permit"), " permit");
    }
}

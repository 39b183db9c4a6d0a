//! A draft tried on recorded calls, before it is in force.

use std::process::ExitCode;

use clap::Args;
use reqwest::Method;
use toolgate_api::{PolicyTrialView, TriedVerdictView, TryPolicyRequest};
use toolgate_core::id::{PrincipalId, ToolName};

use super::change::lines;
use super::http::{Gate, PATIENCE};
use super::policy_save::{used, warn};
use super::show::{self, Column};
use super::{Global, Stop, text};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Examples:
  toolgate policy try --file draft.cedar
  toolgate policy try --file draft.cedar --limit 1000 --principal agent:helper
  toolgate policy try --file draft.cedar --json | jq '.changed[] | .call_id'";

#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// The file with the draft, or - for standard input.
    #[arg(long, value_name = "FILE", required = true)]
    file: String,
    /// How many calls, newest first. [default: 200]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
    /// Only calls of this tool.
    #[arg(long, value_name = "ID")]
    tool: Option<ToolName>,
    /// Only calls by this principal.
    #[arg(long, value_name = "ID")]
    principal: Option<PrincipalId>,
}

pub(super) async fn try_draft(args: TryArgs, global: &Global) -> Result<ExitCode, Stop> {
    let given = text::read(&args.file, global)?;
    let gate = Gate::of(global)?;
    let body = TryPolicyRequest {
        text: given.text.clone(),
        limit: args.limit,
        tool: args.tool.map(|tool| tool.to_string()),
        principal: args.principal.map(|principal| principal.to_string()),
    };
    let request = gate.request(Method::POST, gate.url(&["api", "v1", "policy", "try"], &[])).json(&body);
    let answer = used(gate.send(request.timeout(PATIENCE)).await?, &given)?;
    let trial: PolicyTrialView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print_trial(&trial, global);
    }
    warn(&given, &trial.warnings, global);
    Ok(ExitCode::SUCCESS)
}

fn print_trial(trial: &PolicyTrialView, global: &Global) {
    print::data(lines(&[
        ("calls", trial.calls.to_string()),
        ("same", trial.same.to_string()),
        ("now allowed", trial.now_allowed.to_string()),
        ("now asked", trial.now_asked.to_string()),
        ("now denied", trial.now_denied.to_string()),
        ("skipped", trial.skipped.to_string()),
    ]));
    if trial.changed.is_empty() {
        return global.talk("nothing would come out otherwise");
    }
    let verdict = |tried: &TriedVerdictView| format!("{} ({})", tried.verdict, tried.rule);
    let rows: Vec<Vec<String>> = trial
        .changed
        .iter()
        .map(|call| {
            let (before, after) = (verdict(&call.before), verdict(&call.after));
            vec![
                call.call_id.clone(),
                show::moment(&call.at),
                call.tool.clone(),
                call.actor.clone(),
                before,
                after,
            ]
        })
        .collect();
    let columns = ["call", "made", "tool", "actor", "in force", "draft"].map(Column::left);
    print::data(format_args!("\n{}", show::table(&columns, &rows)));
    let changed = trial.now_allowed + trial.now_asked + trial.now_denied;
    if changed > trial.changed.len() as u64 {
        global.talk(format_args!("these are the first {} of {changed}", trial.changed.len()));
    }
}

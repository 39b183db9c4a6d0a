//! A text of policies on its way in: checked, then saved. What is wrong is shown where it is.

use std::process::ExitCode;

use clap::Args;
use reqwest::Method;
use serde_json::Value;
use toolgate_api::{
    ErrorBody, PolicyCheckView, PolicyProblemView, PolicyView, SavePolicyRequest, ValidatePolicyRequest,
};

use super::fail::Exit;
use super::http::{Answer, Gate, PATIENCE};
use super::policy::saved;
use super::text::{self, Given};
use super::{Global, Stop, show};
use crate::print;

pub(super) const VALIDATE_EXAMPLES: &str = "\
Examples:
  toolgate policy validate --file policy.cedar
  cat policy.cedar | toolgate policy validate --file - --json

Exit codes: 0 it could be saved, 1 it could not";

pub(super) const SAVE_EXAMPLES: &str = "\
Examples:
  toolgate policy show > policy.cedar
  toolgate policy try --file policy.cedar
  toolgate policy save --file policy.cedar --note \"agents may not refund\" --if-version 3
  toolgate policy save --file policy.cedar --dry-run     only check it";

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The file with the Cedar text, or - for standard input.
    #[arg(long, value_name = "FILE", required = true)]
    file: String,
}

#[derive(Debug, Args)]
pub(crate) struct SaveArgs {
    /// The file with the Cedar text, or - for standard input.
    #[arg(long, value_name = "FILE", required = true)]
    file: String,
    /// Why, for those who read the versions.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
    /// Only if this version is still in force; 0 is what every tenant starts with.
    #[arg(long, value_name = "NUMBER")]
    if_version: Option<u64>,
    /// Only check it.
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn validate(args: ValidateArgs, global: &Global) -> Result<ExitCode, Stop> {
    check(&text::read(&args.file, global)?, global).await
}

pub(super) async fn save(args: SaveArgs, global: &Global) -> Result<ExitCode, Stop> {
    let given = text::read(&args.file, global)?;
    if args.dry_run {
        return check(&given, global).await;
    }
    let gate = Gate::of(global)?;
    let body = SavePolicyRequest { text: given.text.clone(), note: args.note, version: args.if_version };
    let request = gate.request(Method::PUT, gate.url(&["api", "v1", "policy"], &[])).json(&body);
    let answer = used(gate.send(request.timeout(PATIENCE)).await?, &given);
    let answer = answer.map_err(|stop| match (stop.code(), args.if_version) {
        ("conflict", Some(seen)) => {
            stop.hint(format!("see what others changed with `toolgate policy diff {seen}`"))
        }
        _ => stop,
    })?;
    let policy: PolicyView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&saved(&policy)));
    }
    warn(&given, &policy.warnings, global);
    Ok(ExitCode::SUCCESS)
}

async fn check(given: &Given, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let body = ValidatePolicyRequest { text: given.text.clone() };
    let answer = gate.post(gate.url(&["api", "v1", "policy", "validate"], &[]), &body, PATIENCE).await?;
    let found: PolicyCheckView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    }
    warn(given, &found.warnings, global);
    if found.ok {
        global.talk("the policies can be used");
        return Ok(ExitCode::SUCCESS);
    }
    print_problems(given, &found.problems);
    Ok(Exit::Failed.into())
}

/// The answer to a text of policies. One that can't be used is an error, with each problem said first, where it is.
pub(super) fn used(answer: Answer, given: &Given) -> Result<Answer, Stop> {
    if let Ok(ErrorBody { error }) = serde_json::from_str(&answer.text)
        && let Some(problems) =
            error.details.and_then(|mut details| details.get_mut("problems").map(Value::take))
        && let Ok(problems) = serde_json::from_value::<Vec<PolicyProblemView>>(problems)
    {
        print_problems(given, &problems);
        return Err(answer.error().hint("mend what is named above; nothing was saved"));
    }
    answer.ok()
}

/// What is odd about a text that can be used.
pub(super) fn warn(given: &Given, warnings: &[PolicyProblemView], global: &Global) {
    for warning in warnings {
        global.talk(place(given, warning, "warning: "));
        if let Some(hint) = &warning.hint {
            global.talk(format_args!("  hint: {}", show::plain(hint)));
        }
    }
}

fn print_problems(given: &Given, problems: &[PolicyProblemView]) {
    for problem in problems {
        print::talk(place(given, problem, ""));
        if let Some(hint) = &problem.hint {
            print::talk(format_args!("  hint: {}", show::plain(hint)));
        }
    }
}

/// `file:line:column: message`, as editors understand it.
fn place(given: &Given, problem: &PolicyProblemView, word: &str) -> String {
    let policy = problem.policy.as_ref().map_or_else(String::new, |id| format!("policy `{id}`: "));
    show::plain(&format!(
        "{}:{}:{}: {word}{policy}{}",
        given.name, problem.line, problem.column, problem.message
    ))
}

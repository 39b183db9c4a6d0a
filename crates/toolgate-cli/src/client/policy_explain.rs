//! Why a call would run, ask or be refused: every gate, and the rule that decided there.

use std::process::ExitCode;

use clap::Args;
use toolgate_api::{ExplainPolicyRequest, ExplanationView};
use toolgate_core::id::{PrincipalId, ToolName};

use super::change::lines;
use super::fail::Exit;
use super::http::{Gate, PATIENCE};
use super::page::word;
use super::show::{self, Column};
use super::text::json_given;
use super::who::parse_user;
use super::{Global, Stop};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Examples:
  toolgate policy explain --tool core__get_current_time               for yourself
  toolgate policy explain --tool crm__refund --principal agent:helper --for ada
  toolgate policy explain --tool crm__refund --principal agent:helper --input '{\"amount\": 500}'

Exit codes: 0 it would run, 3 it would be refused, 4 it would wait for a person";

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The tool's id.
    #[arg(long, value_name = "ID")]
    tool: ToolName,
    /// Who would call; left out, you.
    #[arg(long, value_name = "ID")]
    principal: Option<PrincipalId>,
    /// The user they would work for: a name, or an id.
    #[arg(long = "for", value_name = "USER", value_parser = parse_user)]
    subject: Option<PrincipalId>,
    /// The input, if that matters: as JSON, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// A label of the session it would be in. May be given several times.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// When it would be, as 2026-01-31T12:00:00Z; left out, now.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(super) async fn explain(args: ExplainArgs, global: &Global) -> Result<ExitCode, Stop> {
    let input = args.input.map(|given| json_given(&given, "--input", global)).transpose()?;
    let gate = Gate::of(global)?;
    let body = ExplainPolicyRequest {
        principal: args.principal.map(|principal| principal.to_string()),
        subject: args.subject.map(|subject| subject.to_string()),
        tool: args.tool.to_string(),
        input,
        labels: args.labels,
        at: args.at,
    };
    let answer = gate.post(gate.url(&["api", "v1", "policy", "explain"], &[]), &body, PATIENCE).await?;
    let explanation: ExplanationView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print_explanation(&explanation, global);
    }
    Ok(match explanation.verdict.as_str() {
        "allow" => ExitCode::SUCCESS,
        "ask" => Exit::Waiting.into(),
        // `deny`, `hide`, and what a later gate may say that this command does not know.
        _ => Exit::Denied.into(),
    })
}

fn print_explanation(explanation: &ExplanationView, global: &Global) {
    let verdict = match explanation.verdict.as_str() {
        "allow" => "allow: it would run",
        "ask" => "ask: it would wait for a person",
        "deny" => "deny: it would be refused",
        "hide" => "hide: the tool would look absent",
        other => other,
    };
    print::data(lines(&[
        ("principal", explanation.principal.clone()),
        ("tool", explanation.tool.clone()),
        ("verdict", verdict.to_owned()),
        ("rule", explanation.rule.clone().unwrap_or_default()),
    ]));
    let columns = ["gate", "verdict", "rule", "reason"].map(Column::left);
    let rows: Vec<Vec<String>> = explanation
        .steps
        .iter()
        .map(|step| {
            vec![step.gate.clone(), step.verdict.clone(), word(step.rule.clone()), step.reason.clone()]
        })
        .collect();
    print::data(format_args!("\n{}", show::table(&columns, &rows)));
    // Two gates may advise the same.
    let mut said: Vec<&str> = Vec::new();
    for step in &explanation.steps {
        if let Some(hint) = step.hint.as_deref().filter(|hint| !said.contains(hint)) {
            global.talk(format_args!("hint: {}: {}", show::plain(&step.gate), show::plain(hint)));
            said.push(hint);
        }
    }
}

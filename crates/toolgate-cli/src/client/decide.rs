//! A person's word on a call: cancel, approve, reject, settle.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use toolgate_api::{CallView, InvocationView, ReasonRequest, SettleRequest, SettlementWord, ToolView};

use super::answer::{WaitArgs, show_call};
use super::ask::Confirm;
use super::http::{Answer, Gate, PATIENCE};
use super::{Global, Stop, show};
use crate::print;

pub(super) const CANCEL_EXAMPLES: &str = "\
Examples:
  toolgate invocation cancel inv_…
  toolgate invocation cancel inv_… --reason \"wrong month\" --yes";

pub(super) const APPROVE_EXAMPLES: &str = "\
Examples:
  toolgate invocation list --status pending
  toolgate invocation approve inv_…
  toolgate invocation approve inv_… --reason \"as agreed\" --wait 0 --yes";

pub(super) const REJECT_EXAMPLES: &str = "\
Examples:
  toolgate invocation reject inv_… --reason \"use the test account\"";

pub(super) const SETTLE_EXAMPLES: &str = "\
Examples:
  toolgate invocation list --status in_doubt
  toolgate invocation settle inv_… --outcome done         it happened
  toolgate invocation settle inv_… --outcome failed       it did not happen
  toolgate invocation settle inv_… --outcome run-again    run it once more";

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The call's id.
    id: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The call's id.
    id: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// The call's id.
    id: String,
    /// Why: whoever made the call will read it.
    #[arg(long, value_name = "TEXT", required = true)]
    reason: String,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct SettleArgs {
    /// The call's id.
    id: String,
    /// What became of it.
    #[arg(long, value_enum)]
    outcome: Outcome,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Outcome {
    /// It happened.
    Done,
    /// It did not happen.
    Failed,
    /// Run it once more.
    RunAgain,
}

pub(super) async fn cancel(args: CancelArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Cancel {}?", args.id))?;
    let url = gate.url(&["api", "v1", "invocations", &args.id, "cancel"], &[]);
    let answer = gate.post(url, &ReasonRequest { reason: args.reason }, PATIENCE).await?;
    show_decided(&answer, global)
}

pub(super) async fn reject(args: RejectArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    args.confirm.ask(&format!("Refuse {}?", args.id))?;
    let url = gate.url(&["api", "v1", "invocations", &args.id, "reject"], &[]);
    let answer = gate.post(url, &ReasonRequest { reason: Some(args.reason) }, PATIENCE).await?;
    show_decided(&answer, global)
}

pub(super) async fn approve(args: ApproveArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let call = read_call(&gate, &args.id).await?;
    global.talk(format_args!(
        "{} with {}",
        show::plain(&call.tool_id),
        show::shortened(call.input.as_str(), 400)
    ));
    args.confirm.ask(&format!("Let {} run?", args.id))?;
    decide(&gate, &call, "approve", &ReasonRequest { reason: args.reason }, args.wait, global).await
}

pub(super) async fn settle(args: SettleArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let call = read_call(&gate, &args.id).await?;
    let (outcome, question) = match args.outcome {
        Outcome::Done => (SettlementWord::Done, "Record that it happened?"),
        Outcome::Failed => (SettlementWord::Failed, "Record that it did not happen?"),
        Outcome::RunAgain => (SettlementWord::RunAgain, "Run it once more?"),
    };
    global.talk(format_args!(
        "{} with {}",
        show::plain(&call.tool_id),
        show::shortened(call.input.as_str(), 400)
    ));
    args.confirm.ask(question)?;
    if outcome == SettlementWord::RunAgain {
        return decide(&gate, &call, "settle", &SettleRequest { outcome }, args.wait, global).await;
    }
    // The call may be settled as failed; the command has done what it was asked for all the same.
    let url = gate.url(&["api", "v1", "invocations", &call.id, "settle"], &[]);
    let request = gate.request(Method::POST, url).json(&SettleRequest { outcome }).timeout(PATIENCE);
    let answer = gate.send(request).await?;
    let Ok(settled) = answer.read::<CallView>() else { return Err(answer.error()) };
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(format_args!("{} {}", show::plain(&settled.call_id), show::plain(&settled.status)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn read_call(gate: &Gate, id: &str) -> Result<InvocationView, Stop> {
    gate.get(gate.url(&["api", "v1", "invocations", id], &[])).await?.read()
}

/// Decides in a way that lets the call go on, and shows how it ended.
async fn decide<T: Serialize>(
    gate: &Gate,
    call: &InvocationView,
    word: &str,
    body: &T,
    wait: WaitArgs,
    global: &Global,
) -> Result<ExitCode, Stop> {
    // Without the tool's sections the result is shown as JSON, which will do.
    let tool = gate.get(gate.url(&["api", "v1", "tools", &call.tool_id], &[])).await;
    let tool = tool.and_then(|answer| answer.read::<ToolView>()).ok();
    let url =
        gate.url(&["api", "v1", "invocations", &call.id, word], &[("wait", wait.seconds().to_string())]);
    let request = gate.request(Method::POST, url).json(body).timeout(wait.patience());
    let answer = gate.send(request).await?;
    show_call(answer, tool.as_ref().map_or(&Value::Null, |tool| &tool.output_sections), global)
}

fn show_decided(answer: &Answer, global: &Global) -> Result<ExitCode, Stop> {
    if global.json {
        show::json_text(&answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let call: InvocationView = answer.read()?;
    print::data(format_args!("{} {}", show::plain(&call.id), show::plain(&call.status)));
    if call.cancel_requested && call.status != "cancelled" {
        global.talk("it was told to stop; a tool may take a moment to listen");
        global.talk(format_args!("hint: see `toolgate invocation show {} --wait 60`", show::plain(&call.id)));
    }
    Ok(ExitCode::SUCCESS)
}

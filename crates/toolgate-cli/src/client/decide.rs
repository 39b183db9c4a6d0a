//! A person's word on a call: cancel, approve, reject, settle.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use toolgate_api::{
    ApproveRequest, CallView, InvocationView, ReasonRequest, RejectRequest, SettleRequest, SettlementWord,
    ToolView,
};

use super::answer::{WaitArgs, show_call};
use super::ask::{Confirm, read_line, someone_is_there};
use super::fail::Exit;
use super::http::{Answer, Gate, PATIENCE};
use super::remember::RememberArgs;
use super::text::json_given;
use super::{Global, Stop, approval_show, show};
use crate::print;

pub(super) const CANCEL_EXAMPLES: &str = "\
Examples:
  toolgate invocation cancel inv_…
  toolgate invocation cancel inv_… --reason \"wrong month\" --yes";

pub(super) const APPROVE_EXAMPLES: &str = "\
Examples:
  toolgate approval show inv_…                            what it would do, and its digest
  toolgate approval approve inv_… --reason \"as agreed\"
  toolgate approval approve inv_… --digest 3f2a…          only what you saw
  toolgate approval approve inv_… --input '{\"amount\": 5}'   something else instead
  toolgate approval approve inv_… --remember same --for 8h
  toolgate approval approve inv_… --remember @bounds.json --session-only
  toolgate approval approve inv_… --confirm crm__purge    where the call destroys something

Exit codes: as for `tool invoke`; 4 when more people have to say yes";

pub(super) const REJECT_EXAMPLES: &str = "\
Examples:
  toolgate approval reject inv_… --reason \"use the test account\"";

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
    /// The tool's id, where the call destroys something. On a terminal you are asked to type it.
    #[arg(long = "confirm", value_name = "TOOL")]
    typed: Option<String>,
    /// Run this input instead, as JSON, @FILE, or - for standard input. It is checked and previewed anew.
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    #[command(flatten)]
    remember: RememberArgs,
    #[command(flatten)]
    seen: Seen,
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
    seen: Seen,
    #[command(flatten)]
    confirm: Confirm,
}

/// What the person looked at.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Seen {
    /// The digest of what you looked at, as `approval show` prints it; left out, that of what is shown now.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
}

impl Seen {
    /// What the decision is bound to.
    pub(super) fn digest(self, call: &InvocationView) -> Option<String> {
        self.digest.or_else(|| call.review.as_ref().map(|review| review.digest.clone()))
    }
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
    let call = read_call(&gate, &args.id).await?;
    tell(&call, global);
    args.confirm.ask(&format!("Refuse {}?", args.id))?;
    let digest = args.seen.digest(&call);
    let answer = say_no(&gate, &call, RejectRequest { reason: args.reason, digest }).await?;
    show_decided(&answer, global)
}

/// Refuses a call.
pub(super) async fn say_no(gate: &Gate, call: &InvocationView, body: RejectRequest) -> Result<Answer, Stop> {
    let url = gate.url(&["api", "v1", "invocations", &call.id, "reject"], &[]);
    gate.post(url, &body, PATIENCE).await.map_err(|stop| look_again(stop, &call.id))
}

pub(super) async fn approve(args: ApproveArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let remember = args.remember.request(global)?;
    let input = args.input.as_deref().map(|given| json_given(given, "--input", global)).transpose()?;
    let call = read_call(&gate, &args.id).await?;
    tell(&call, global);
    let confirm = match args.typed {
        Some(typed) => Some(typed),
        None if destroys(&call) => Some(args.confirm.type_name(&call.tool_id)?),
        None => None,
    };
    if confirm.is_none() {
        args.confirm.ask(&format!("Let {} run?", args.id))?;
    }
    let remembers = remember.is_some();
    let digest = args.seen.digest(&call);
    let body = ApproveRequest { reason: args.reason, digest, confirm, input, remember };
    let ended = say_yes(&gate, &call, &body, args.wait, global).await?;
    if remembers {
        global.talk("hint: see what runs without asking from now on with `toolgate grant list`");
    }
    Ok(ended)
}

/// Whether a person has to type the tool's name first.
pub(super) fn destroys(call: &InvocationView) -> bool {
    call.effect == "destructive" && call.approval == "pending"
}

impl Confirm {
    /// Has the tool's name typed on a terminal; elsewhere it must have been given.
    fn type_name(self, tool: &str) -> Result<String, Stop> {
        let tool = show::plain(tool);
        if !self.asks() || !someone_is_there() {
            return Err(Stop::usage("this call destroys something: confirm it with the tool's name")
                .hint(format!("use `--confirm {tool}`")));
        }
        type_name(&tool)
    }
}

/// Has the tool's name typed.
pub(super) fn type_name(tool: &str) -> Result<String, Stop> {
    let typed = read_line(&format!("This destroys something. Type {tool} to let it run: "));
    typed.map(|typed| typed.trim().to_owned()).filter(|typed| typed == tool).ok_or_else(|| {
        Stop::failed("nothing was done: that is not the tool's name").hint(format!("type `{tool}`"))
    })
}

/// Says yes to a call, and shows what came of it.
pub(super) async fn say_yes(
    gate: &Gate,
    call: &InvocationView,
    body: &ApproveRequest,
    wait: WaitArgs,
    global: &Global,
) -> Result<ExitCode, Stop> {
    let answer = decide(gate, call, "approve", body, wait).await?;
    match answer.read::<CallView>() {
        Ok(result) if result.status == "pending" && result.error.is_none() => {
            show_voted(gate, &answer, &result, global).await
        }
        Ok(_) => show_call(answer, &sections(gate, call).await, global),
        Err(_) => Err(look_again(answer.error(), &call.id)),
    }
}

/// A yes that did not begin the call yet.
async fn show_voted(
    gate: &Gate,
    answer: &Answer,
    result: &CallView,
    global: &Global,
) -> Result<ExitCode, Stop> {
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&result.call_id));
    }
    let call = read_call(gate, &result.call_id).await?;
    if call.approval == "approved" {
        global.talk("the call is approved; it begins when there is a place for it");
        return Ok(ExitCode::SUCCESS);
    }
    let said = call.review.as_ref().map_or_else(String::new, approval_show::yes_so_far);
    global.talk(format_args!("your yes is recorded, and the call goes on waiting: {said}"));
    Ok(Exit::Waiting.into())
}

pub(super) async fn settle(args: SettleArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let call = read_call(&gate, &args.id).await?;
    let (outcome, question) = match args.outcome {
        Outcome::Done => (SettlementWord::Done, "Record that it happened?"),
        Outcome::Failed => (SettlementWord::Failed, "Record that it did not happen?"),
        Outcome::RunAgain => (SettlementWord::RunAgain, "Run it once more?"),
    };
    tell(&call, global);
    args.confirm.ask(question)?;
    if outcome == SettlementWord::RunAgain {
        let answer = decide(&gate, &call, "settle", &SettleRequest { outcome }, args.wait).await?;
        return show_call(answer, &sections(&gate, &call).await, global);
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

pub(super) async fn read_call(gate: &Gate, id: &str) -> Result<InvocationView, Stop> {
    gate.get(gate.url(&["api", "v1", "invocations", id], &[])).await?.read()
}

/// Says in short what is decided on.
fn tell(call: &InvocationView, global: &Global) {
    let input = approval_show::input_to_run(call).to_string();
    global.talk(format_args!("{} with {}", show::plain(&call.tool_id), show::shortened(&input, 400)));
    if let Some(summary) = approval_show::summary(call) {
        global.talk(show::shortened(summary, 400));
    }
}

/// Decides in a way that lets the call go on.
async fn decide<T: Serialize>(
    gate: &Gate,
    call: &InvocationView,
    word: &str,
    body: &T,
    wait: WaitArgs,
) -> Result<Answer, Stop> {
    let url =
        gate.url(&["api", "v1", "invocations", &call.id, word], &[("wait", wait.seconds().to_string())]);
    gate.send(gate.request(Method::POST, url).json(body).timeout(wait.patience())).await
}

/// How the tool shows its results. Without it they are shown as JSON, which will do.
pub(super) async fn sections(gate: &Gate, call: &InvocationView) -> Value {
    let tool = gate.get(gate.url(&["api", "v1", "tools", &call.tool_id], &[])).await;
    tool.and_then(|answer| answer.read::<ToolView>()).map_or(Value::Null, |tool| tool.output_sections)
}

/// Whoever decides on something that changed has to look again.
pub(super) fn look_again(stop: Stop, id: &str) -> Stop {
    match stop.code() {
        "conflict" => stop.hint(format!("see it as it is now with `toolgate approval show {id}`")),
        _ => stop,
    }
}

/// Shows where a call stands after someone had a say in it.
pub(super) fn show_decided(answer: &Answer, global: &Global) -> Result<ExitCode, Stop> {
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

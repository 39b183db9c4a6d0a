//! Waiting for a call that someone has to decide on, or that takes its time.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use reqwest::Method;
use serde_json::Value;
use toolgate_api::InvocationView;
use toolgate_core::JsonText;

use super::amount::parse_seconds;
use super::answer::{exit_of, unfinished};
use super::fail::print_error;
use super::http::{Answer, Gate, PATIENCE};
use super::{Global, Stop, content, decide, section, show};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Examples:
  CALL=$(toolgate tool invoke ID --wait 0)
  toolgate invocation wait \"$CALL\"
  toolgate invocation wait \"$CALL\" --timeout 10m --json

Exit codes: as for `tool invoke`; 4 when it still waits for a person after --timeout";

/// The longest that one request waits, in seconds.
const AT_ONCE: u64 = 300;
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct WaitForArgs {
    /// The call's id.
    id: String,
    /// For how long at most, such as 30s, 10m or 1d; left out, until it is over.
    #[arg(long, value_name = "SPAN", value_parser = parse_seconds)]
    timeout: Option<u64>,
}

pub(super) async fn run(args: WaitForArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let until = args.timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut known = false;
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()).as_secs());
        let seconds = left.unwrap_or(AT_ONCE).min(AT_ONCE);
        let answer = match ask(&gate, &args.id, seconds).await {
            // A call outlives a restart of its gate, and so does waiting for it.
            Err(stop) if known && stop.passes() && left != Some(0) => {
                global.talk("the gate does not answer; trying again");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            other => other?,
        };
        known = true;
        let call: InvocationView = answer.read()?;
        let goes_on = matches!(call.status.as_str(), "pending" | "running" | "waiting");
        if !goes_on || left.is_some_and(|left| left <= AT_ONCE) {
            return Ok(show_outcome(&gate, &answer, &call, global).await);
        }
    }
}

async fn ask(gate: &Gate, id: &str, seconds: u64) -> Result<Answer, Stop> {
    let url = gate.url(&["api", "v1", "invocations", id], &[("wait", seconds.to_string())]);
    let patience = PATIENCE + Duration::from_secs(seconds);
    gate.send(gate.request(Method::GET, url).timeout(patience)).await?.ok()
}

async fn show_outcome(gate: &Gate, answer: &Answer, call: &InvocationView, global: &Global) -> ExitCode {
    if global.json {
        show::json_text(&answer.text);
    }
    let id = show::plain(&call.id);
    // While it waits, what stands there is why it does.
    if let Some(reason) = call.reason.as_ref().filter(|_| call.approval != "pending") {
        let by = call.decided_by.as_deref().unwrap_or("someone");
        global.talk(format_args!("{} said: {}", show::plain(by), show::plain(reason)));
    }
    if let Some(changed) = call.review.as_ref().and_then(|review| review.input.as_ref()) {
        let changed = show::shortened(&changed.to_string(), 400);
        global.talk(format_args!("a person changed the input to {changed}"));
    }
    if let Some(error) = &call.error {
        global.talk(format_args!("{id} {}", show::plain(&call.status)));
        print_error(error);
        return exit_of(error).into();
    }
    if call.status != "completed" {
        return unfinished(&call.status, &id, global);
    }
    if !global.json {
        let value = call.output.as_ref().map_or(Value::Null, JsonText::to_value);
        match content::render(&value, call.content.as_ref()) {
            Some(told) => print::data(told),
            None => print::data(section::render(&value, &decide::sections(gate, call).await)),
        }
    }
    global.talk(format_args!("{id} completed"));
    ExitCode::SUCCESS
}

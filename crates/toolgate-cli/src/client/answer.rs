//! A call's result: what it says, and the exit code that fits it.

use std::process::ExitCode;

use clap::Args;
use serde_json::Value;
use toolgate_api::{CallView, ErrorView};

use super::fail::{Exit, print_error};
use super::http::{Answer, PATIENCE};
use super::{Global, Stop, content, section, show};
use crate::print;

/// How long to wait for a call.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct WaitArgs {
    /// How many seconds to wait for the outcome, at most 300; past it you get the call's id. [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = parse_wait)]
    pub(super) wait: Option<f64>,
}

/// The longest wait a gate grants.
const LONGEST: f64 = 300.0;

fn parse_wait(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=LONGEST).contains(seconds));
    seconds.ok_or_else(|| "must be a number of seconds from 0 to 300".to_owned())
}

impl WaitArgs {
    /// The seconds to ask for.
    pub(super) fn seconds(self) -> f64 {
        self.wait.unwrap_or(LONGEST)
    }

    /// How long the answer may take.
    pub(super) fn patience(self) -> std::time::Duration {
        PATIENCE + std::time::Duration::from_secs_f64(self.seconds())
    }
}

/// Shows how a call stands. Whatever is not a call is an error.
pub(super) fn show_call(answer: Answer, sections: &Value, global: &Global) -> Result<ExitCode, Stop> {
    let Ok(call) = serde_json::from_str::<CallView>(&answer.text) else { return Err(answer.error()) };
    if global.json {
        show::json_text(&answer.text);
    }
    let id = show::plain(&call.call_id);
    if call.repeated {
        global.talk(format_args!("this is the answer to an earlier call with the same key: {id}"));
    }
    if call.ok {
        if !global.json {
            let value = call.value.as_ref().map_or(Value::Null, toolgate_core::JsonText::to_value);
            let told = content::render(&value, call.content.as_ref());
            print::data(told.unwrap_or_else(|| section::render(&value, sections)));
        }
        let milliseconds = |micros: u64| micros as f64 / 1000.0;
        let (gate, tool) = (milliseconds(call.timing.gate_us), milliseconds(call.timing.tool_us));
        global.talk(format_args!("{id} {}: {gate:.1} ms in the gate, {tool:.1} ms in the tool", call.status));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(error) = &call.error {
        global.talk(format_args!("{id} {}", show::plain(&call.status)));
        print_error(error);
        return Ok(exit_of(error).into());
    }
    if !global.json {
        print::data(&id);
    }
    // Where the answer comes from is shown this once, also to those who asked for quiet.
    for (what, url) in [("a person answers", &call.share_url), ("the result is reported", &call.callback_url)]
    {
        if let Some(url) = url {
            if !global.json {
                print::talk(format_args!("{what} at {}", show::plain(url)));
            }
            global.talk(format_args!("hint: follow the call with `toolgate invocation wait {id}`"));
            return Ok(Exit::Waiting.into());
        }
    }
    Ok(unfinished(&call.status, &id, global))
}

/// The exit code that fits the error a call ended with.
pub(super) fn exit_of(error: &ErrorView) -> Exit {
    match error.code.as_str() {
        "policy_denied" | "authz_denied" => Exit::Denied,
        _ => Exit::Failed,
    }
}

/// A call that goes on without us.
pub(super) fn unfinished(status: &str, id: &str, global: &Global) -> ExitCode {
    match status {
        "pending" => {
            global.talk("the call waits for a person to decide");
            global.talk(format_args!(
                "hint: see what it would do with `toolgate approval show {id}`, then `approval approve` or \
                 `approval reject` it"
            ));
            Exit::Waiting.into()
        }
        "running" | "waiting" => {
            global.talk(format_args!("the call is {status}; it goes on by itself"));
            global.talk(format_args!(
                "hint: see what became of it with `toolgate invocation show {id} --wait 60`"
            ));
            ExitCode::SUCCESS
        }
        status => {
            print::talk(format_args!("error: the call is {}", show::plain(status)));
            print::talk(format_args!("hint: see `toolgate invocation show {id}`"));
            Exit::Failed.into()
        }
    }
}

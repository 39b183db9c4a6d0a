//! Checks a setup: one line for each thing that can be wrong.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use toolgate_api::{InvocationListView, MeView, ToolListView};

use super::doctor_upstream::{check_connections, check_seals, check_upstreams};
use super::fail::Exit;
use super::http::{Answer, Gate, PATIENCE};
use super::store::StoreChoice;
use super::{Global, Stop, show};
use crate::print;
use crate::serve::{StoreArgs, can_hold_store};

pub(super) const EXAMPLES: &str = "\
Examples:
  toolgate doctor
  toolgate doctor --url https://tools.example.com
  toolgate doctor --data data              the store in this folder too

Exit codes: 0 nothing fails, 1 something does";

/// Clocks further apart than this are worth a word.
const MOST_SKEW_SECONDS: i64 = 5;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    store: StoreChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
pub(super) struct Check {
    check: &'static str,
    state: State,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    fn new(check: &'static str, state: State, message: impl Into<String>) -> Self {
        Self { check, state, message: message.into(), hint: None }
    }

    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Ok, message)
    }

    pub(super) fn warn(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::new(check, State::Warn, message) }
    }

    pub(super) fn fail(check: &'static str, stop: Stop) -> Self {
        let (message, hint) = stop.into_parts();
        Self { hint, ..Self::new(check, State::Fail, message) }
    }

    fn print(&self) {
        let (word, colour) = match self.state {
            State::Ok => ("ok", "32"),
            State::Warn => ("warn", "33"),
            State::Fail => ("fail", "31"),
        };
        let coloured =
            std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let word = if coloured { format!("\x1b[{colour}m{word:<4}\x1b[0m") } else { format!("{word:<4}") };
        print::data(format_args!("{word}  {:<9}  {}", self.check, show::plain(&self.message)));
        if let Some(hint) = &self.hint {
            print::data(format_args!("      hint: {}", show::plain(hint)));
        }
    }
}

pub(super) async fn run(args: &DoctorArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut checks = Vec::new();
    match Gate::of(global) {
        Ok(gate) => check_gate(&gate, &mut checks).await,
        Err(stop) => checks.push(Check::fail("address", stop)),
    }
    if let Some(store) = args.store.args() {
        checks.extend(check_store(&store).await);
    }
    let ok = checks.iter().all(|check| check.state != State::Fail);
    if global.json {
        show::json(&serde_json::json!({ "ok": ok, "checks": checks }));
    } else {
        checks.iter().for_each(Check::print);
    }
    Ok(if ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

async fn check_gate(gate: &Gate, checks: &mut Vec<Check>) {
    let alive = gate.get(gate.url(&["healthz"], &[])).await;
    let address = gate.base().as_str().trim_end_matches('/').to_owned();
    match alive {
        Ok(answer) => {
            checks.push(if gate.is_exposed() {
                let hint = "use https, or a tunnel: the key can be read on the way";
                Check::warn("address", format!("{address} answers, but not over TLS"), hint)
            } else {
                Check::ok("address", format!("{address} answers"))
            });
            checks.push(check_clock(&answer));
        }
        // Nothing below can be known.
        Err(stop) => return checks.push(Check::fail("address", stop)),
    }
    checks.push(check_ready(gate).await);
    checks.push(check_version(gate).await);
    match check_key(gate).await {
        Ok(check) => {
            checks.push(check);
            checks.push(check_tools(gate).await);
            checks.push(check_record(gate).await);
            checks.extend(check_upstreams(gate).await);
            checks.extend(check_connections(gate).await);
        }
        Err(check) => checks.push(check),
    }
}

fn check_clock(answer: &Answer) -> Check {
    let date = answer.headers.get("date").and_then(|value| value.to_str().ok());
    let there = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()).map(|at| at.timestamp());
    let Some(there) = there else { return Check::ok("clock", "the gate does not tell its time") };
    let skew = jiff::Timestamp::now().duration_since(there).as_secs();
    if skew.abs() <= MOST_SKEW_SECONDS {
        return Check::ok("clock", "agrees with the gate's");
    }
    let message = format!("is {} s {} the gate's", skew.abs(), if skew > 0 { "ahead of" } else { "behind" });
    Check::warn("clock", message, "set both clocks by NTP")
}

async fn check_ready(gate: &Gate) -> Check {
    let request = gate.request(Method::GET, gate.url(&["readyz"], &[])).timeout(PATIENCE);
    match gate.send(request).await {
        Ok(answer) if answer.status == 200 => Check::ok("ready", "the gate takes calls"),
        Ok(answer) => {
            let text = show::shortened(answer.text.trim(), 80);
            let stop = Stop::failed(format!("the gate is not ready: {text}"));
            Check::fail("ready", stop.hint("look at the gate's log, and at its database"))
        }
        Err(stop) => Check::fail("ready", stop),
    }
}

async fn check_version(gate: &Gate) -> Check {
    let ours = env!("CARGO_PKG_VERSION");
    let document = gate.get(gate.url(&["api", "v1", "openapi.json"], &[])).await;
    let document = match document.and_then(|answer| answer.read::<Value>()) {
        Ok(document) => document,
        Err(stop) => return Check::fail("version", stop),
    };
    match document.pointer("/info/version").and_then(Value::as_str) {
        Some(theirs) if theirs == ours => Check::ok("version", format!("{ours}, here and there")),
        theirs => {
            let message =
                format!("the gate is {}, this command {ours}", theirs.unwrap_or("of an unknown version"));
            Check::warn("version", message, "use the same version on both sides")
        }
    }
}

async fn check_key(gate: &Gate) -> Result<Check, Check> {
    if !gate.has_key() {
        let stop = Stop::failed("there is none")
            .hint("set TOOLGATE_KEY to your key, or pipe it in with --key-stdin");
        return Err(Check::fail("key", stop));
    }
    let me = gate.get(gate.url(&["api", "v1", "me"], &[])).await.and_then(|answer| answer.read::<MeView>());
    let me = me.map_err(|stop| Check::fail("key", stop))?;
    let rules = if me.rules.is_empty() { "no access rules".to_owned() } else { me.rules.join(", ") };
    Ok(Check::ok("key", format!("speaks for {} in tenant {} ({rules})", me.principal, me.tenant)))
}

async fn check_tools(gate: &Gate) -> Check {
    let url = gate.url(&["api", "v1", "tools"], &[("limit", "1000".to_owned())]);
    match gate.get(url).await.and_then(|answer| answer.read::<ToolListView>()) {
        Ok(list) if list.tools.is_empty() => {
            Check::warn("tools", "there is none you may call", "ask whoever keeps the policy")
        }
        Ok(list) => {
            let more = if list.next_cursor.is_some() { "more than " } else { "" };
            Check::ok("tools", format!("{more}{} you may call", list.tools.len()))
        }
        Err(stop) => Check::fail("tools", stop),
    }
}

/// A glance at the record; checking all of it is `audit verify`.
async fn check_record(gate: &Gate) -> Check {
    let count = async |status: &str| {
        let query = [("status", status.to_owned()), ("limit", "100".to_owned())];
        let answer = gate.get(gate.url(&["api", "v1", "invocations"], &query)).await?;
        let page: InvocationListView = answer.read()?;
        let more = if page.next_cursor.is_some() { "more than " } else { "" };
        Ok::<_, Stop>(Some(format!("{more}{}", page.invocations.len())).filter(|text| text != "0"))
    };
    match (count("in_doubt").await, count("pending").await) {
        (Ok(None), Ok(None)) => {
            Check::ok("record", "no call waits for a person; `toolgate audit verify` checks all of it")
        }
        (Ok(None), Ok(Some(pending))) => {
            let hint = "see them with `toolgate invocation list --status pending`";
            Check::warn("record", format!("calls that wait for a person: {pending}"), hint)
        }
        (Ok(Some(doubtful)), Ok(_)) => {
            let hint = "see them with `toolgate invocation list --status in_doubt`, then settle each";
            Check::warn("record", format!("calls in doubt: {doubtful}"), hint)
        }
        (Err(stop), _) | (_, Err(stop)) => Check::fail("record", stop),
    }
}

async fn check_store(store: &StoreArgs) -> Vec<Check> {
    let mut checks = Vec::new();
    if store.database_url.is_none() {
        let folder = store.data.display();
        checks.push(match can_hold_store(&store.data) {
            Ok(()) => Check::ok("folder", format!("`{folder}` can be written")),
            Err(cause) => {
                let stop = Stop::failed(format!("`{folder}` can't hold a store: {cause:#}"));
                Check::fail("folder", stop.hint("name a folder that this user may write"))
            }
        });
    }
    let opened = match store.open_to_read().await {
        Ok(opened) => opened.ping().await.map(|()| opened).map_err(anyhow::Error::from),
        Err(cause) => Err(cause),
    };
    let seals = match &opened {
        Ok(opened) => Some(check_seals(store, opened.as_ref()).await),
        Err(_) => None,
    };
    checks.push(match opened {
        Ok(opened) => Check::ok("store", format!("{} answers", opened.engine())),
        Err(cause) => {
            let hint = "start a gate on it once with `toolgate serve`, or check the address";
            Check::fail("store", Stop::failed(format!("{cause:#}")).hint(hint))
        }
    });
    checks.extend(seals);
    checks
}

//! Calls: list and show. Waiting for them and deciding on them have their own files.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolgate_api::{InvocationListView, InvocationView};

use super::answer::WaitArgs;
use super::decide::{self, ApproveArgs, CancelArgs, RejectArgs, SettleArgs};
use super::http::Gate;
use super::invocation_wait::{self, WaitForArgs};
use super::session::event_note;
use super::share::{self, ShareArgs, UnshareArgs};
use super::show::{self, Column};
use super::{Global, Stop, content};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate invocation list --status pending          what waits for a person
  toolgate invocation list --tool core__quick_score --since 2h
  toolgate invocation list --actor agent:helper --since 2026-01-31T00:00:00Z --all --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate invocation show inv_…
  toolgate invocation show inv_… --wait 60           not before it is over, or a minute has passed
  toolgate invocation show inv_… --json | jq .output";

#[derive(Debug, Subcommand)]
pub(crate) enum InvocationCommand {
    /// List calls, newest first.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show one call and what happened to it.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The call's id.
        id: String,
        /// How many seconds to wait for the outcome, at most 300.
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=300))]
        wait: Option<u32>,
    },
    /// Cancel a waiting call, or tell a running one to stop.
    #[command(after_help = decide::CANCEL_EXAMPLES)]
    Cancel(CancelArgs),
    /// Wait until a call is over, however long, and show its result.
    #[command(after_help = invocation_wait::EXAMPLES)]
    Wait(WaitForArgs),
    /// Let a waiting call run, and run it. The same as `approval approve`.
    #[command(after_help = decide::APPROVE_EXAMPLES)]
    Approve(Box<ApproveArgs>),
    /// Refuse a waiting call. The same as `approval reject`.
    #[command(after_help = decide::REJECT_EXAMPLES)]
    Reject(RejectArgs),
    /// Say what became of a call in doubt, whose outcome was lost.
    #[command(after_help = decide::SETTLE_EXAMPLES)]
    Settle(SettleArgs),
    /// Make a new address for whoever is to answer a waiting call of yours.
    #[command(after_help = share::LINKS_EXAMPLES)]
    Links {
        /// The call's id.
        id: String,
    },
    /// Make a link by which anyone may look at a call, for a while.
    #[command(after_help = share::SHARE_EXAMPLES)]
    Share(ShareArgs),
    /// List the links to a call that still work.
    #[command(after_help = share::SHARES_EXAMPLES)]
    Shares {
        /// The call's id.
        id: String,
    },
    /// Take a link back: it works no more, at once.
    #[command(after_help = share::UNSHARE_EXAMPLES)]
    Unshare(UnshareArgs),
}

/// Which calls to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Of one tool.
    #[arg(long, value_name = "ID")]
    tool: Option<String>,
    /// In one status, such as pending, running, completed, failed or in_doubt.
    #[arg(long)]
    status: Option<String>,
    /// By one actor, such as agent:helper.
    #[arg(long)]
    actor: Option<String>,
    /// In one session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Whose input holds this text.
    #[arg(long)]
    text: Option<String>,
    /// Made at or after this moment: 2026-01-31T12:00:00Z, or 2h for two hours ago.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    since: Option<jiff::Timestamp>,
    /// Made before this moment.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    until: Option<jiff::Timestamp>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All of them.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

pub(super) async fn run(command: InvocationCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        InvocationCommand::List(args) => list(args, global).await,
        InvocationCommand::Show { id, wait } => show_invocation(&id, wait, global).await,
        InvocationCommand::Cancel(args) => decide::cancel(args, global).await,
        InvocationCommand::Wait(args) => invocation_wait::run(args, global).await,
        InvocationCommand::Approve(args) => decide::approve(*args, global).await,
        InvocationCommand::Reject(args) => decide::reject(args, global).await,
        InvocationCommand::Settle(args) => decide::settle(args, global).await,
        InvocationCommand::Links { id } => share::links(&id, global).await,
        InvocationCommand::Share(args) => share::share(&args, global).await,
        InvocationCommand::Shares { id } => share::list(&id, global).await,
        InvocationCommand::Unshare(args) => share::revoke(&args, global).await,
    }
}

/// The most a gate gives at once.
const PAGE: u32 = 1000;

async fn list(args: ListArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let mut filter: Vec<(&str, String)> = Vec::new();
    let moment = |at: jiff::Timestamp| at.to_string();
    for (name, value) in [
        ("tool", args.tool),
        ("status", args.status),
        ("actor", args.actor),
        ("session_id", args.session),
        ("text", args.text),
        ("since", args.since.map(moment)),
        ("until", args.until.map(moment)),
    ] {
        filter.extend(value.map(|value| (name, value)));
    }
    let mut left = if args.all { u32::MAX } else { args.limit };
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    let mut cursor: Option<String> = None;
    loop {
        let mut query = filter.clone();
        query.push(("limit", left.min(PAGE).to_string()));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let answer = gate.get(gate.url(&["api", "v1", "invocations"], &query)).await?;
        let page: InvocationListView = answer.read()?;
        left = left.saturating_sub(u32::try_from(page.invocations.len()).unwrap_or(u32::MAX));
        if global.json
            && let Value::Array(calls) = answer.read::<Value>()?["invocations"].take()
        {
            all.extend(calls);
        }
        rows.extend(page.invocations.into_iter().map(|call| {
            vec![call.id, show::moment(&call.created_at), call.tool_id, call.status, call.actor]
        }));
        cursor = page.next_cursor;
        if cursor.is_none() || left == 0 {
            break;
        }
    }
    if global.json {
        let mut body = json!({ "invocations": all });
        if let Some(cursor) = cursor {
            body["next_cursor"] = cursor.into();
        }
        show::json(&body);
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        global.talk("there is no such call");
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["id", "made", "tool", "status", "actor"].map(Column::left);
    print::data(show::table(&columns, &rows));
    if cursor.is_some() {
        global.talk("hint: there are more; see them with --all or a larger --limit");
    }
    Ok(ExitCode::SUCCESS)
}

async fn show_invocation(id: &str, wait: Option<u32>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let query: Vec<_> = wait.map(|seconds| ("wait", seconds.to_string())).into_iter().collect();
    let patience = WaitArgs { wait: Some(wait.unwrap_or(0).into()) }.patience();
    let url = gate.url(&["api", "v1", "invocations", id], &query);
    let answer = gate.send(gate.request(reqwest::Method::GET, url).timeout(patience)).await?.ok()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print_invocation(&answer.read()?);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_invocation(call: &InvocationView) {
    let line = |name: &str, text: &str| print::data(format_args!("{name:<12} {}", show::plain(text)));
    let maybe = |name: &str, text: Option<&String>| {
        if let Some(text) = text {
            line(name, text);
        }
    };
    line("id", &call.id);
    line("tool", &call.tool_id);
    line("status", &call.status);
    line("effect", &format!("{}, egress {}", call.effect, call.egress));
    line("actor", &format!("{} by {}", call.actor, call.source));
    maybe("for", call.subject.as_ref());
    line("approval", &call.approval);
    maybe("decided by", call.decided_by.as_ref());
    maybe("reason", call.reason.as_ref());
    maybe("rule", call.rule.as_ref());
    line("session", &call.session_id);
    maybe("parent", call.parent_call_id.as_ref());
    maybe("key", call.idempotency_key.as_ref());
    line("made", &show::moment(&call.created_at));
    maybe("started", call.started_at.as_ref().map(|at| show::moment(at)).as_ref());
    maybe("ended", call.completed_at.as_ref().map(|at| show::moment(at)).as_ref());
    if call.attempt > 1 {
        line("attempt", &call.attempt.to_string());
    }
    if call.cancel_requested && call.completed_at.is_none() {
        line("cancelling", "someone asked it to stop");
    }
    print::data(format_args!("\n# Input\n{}", show::pretty(&call.input.to_value())));
    if let Some(changed) = call.review.as_ref().and_then(|review| review.input.as_ref()) {
        print::data(format_args!("\n# Input as a person changed it\n{}", show::pretty(changed)));
    }
    if let Some(output) = &call.output {
        let output = output.to_value();
        let told = content::render(&output, call.content.as_ref());
        print::data(format_args!("\n# Output\n{}", told.unwrap_or_else(|| show::pretty(&output))));
    }
    if let Some(error) = &call.error {
        print::data(format_args!("\n# Error\n{}: {}", show::plain(&error.code), show::plain(&error.message)));
        if let Some(said) = content::of_failure(error.details.as_ref(), &error.message) {
            print::data(said);
        }
        maybe("hint", error.hint.as_ref());
    }
    if let Some(events) = &call.events {
        let columns = ["event", "at", "what", "who", "more"].map(Column::left);
        let rows: Vec<Vec<String>> = events
            .iter()
            .map(|event| {
                let number = event.seq.to_string();
                vec![number, event.at.clone(), event.kind.clone(), event.actor.clone(), event_note(event)]
            })
            .collect();
        print::data(format_args!("\n{}", show::table(&columns, &rows)));
    }
    if call.links_url.is_some() {
        print::talk(format_args!(
            "hint: make an address for whoever is to answer with `toolgate invocation links {}`",
            show::plain(&call.id)
        ));
    }
    if call.status == "pending" && call.approval == "pending" {
        print::talk(format_args!(
            "hint: see what it would do with `toolgate approval show {}`, then decide",
            show::plain(&call.id)
        ));
    }
}

/// A moment, or how long ago.
pub(super) fn parse_moment(text: &str) -> Result<jiff::Timestamp, String> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(moment);
    }
    let ago = text.parse::<jiff::Span>().ok().map(jiff::Span::abs);
    let then = ago.and_then(|ago| jiff::Zoned::now().checked_sub(ago).ok());
    then.map(|then| then.timestamp())
        .ok_or_else(|| "must be such as 2026-01-31T12:00:00Z, 2h or 3d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_absolute_or_ago() {
        assert_eq!(parse_moment("2026-01-31T12:00:00Z").unwrap().to_string(), "2026-01-31T12:00:00Z");
        assert_eq!(parse_moment("2026-01-31T12:00:00+01:00").unwrap().to_string(), "2026-01-31T11:00:00Z");
        let ago = jiff::Timestamp::now().duration_since(parse_moment("2h").unwrap());
        assert!((7190..7210).contains(&ago.as_secs()), "{ago}");
        assert!(parse_moment("3d").is_ok() && parse_moment("1w").is_ok());
        for bad in ["", "yesterday", "2026-01-31", "2h2"] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }
}

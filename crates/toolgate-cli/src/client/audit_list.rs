//! The record as a list: newest first, narrowed, and followed as it grows.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use toolgate_api::{AuditEventListView, AuditEventView};

use super::http::Gate;
use super::invocation::parse_moment;
use super::session::data_note;
use super::show::{self, Column};
use super::sse::Frames;
use super::{Global, Stop};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Examples:
  toolgate audit list                                    the newest events
  toolgate audit list --type admin. --from 7d            who changed what this week
  toolgate audit list --type tool.failed --tool core__quick_score --all --json
  toolgate audit list --actor agent:helper --follow      and what comes, as it comes";

/// The most a gate gives at once.
const PAGE: u32 = 200;
/// The gate says something every 15 seconds; three times nothing is a connection that hangs.
const SILENCE: Duration = Duration::from_secs(45);
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Which events to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Of this type, such as tool.failed, or of all that begin so: tool. May be given many times.
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<String>,
    /// Caused by one principal, such as agent:helper.
    #[arg(long)]
    actor: Option<String>,
    /// Of calls made for one person.
    #[arg(long)]
    subject: Option<String>,
    /// Of calls of one tool.
    #[arg(long, value_name = "ID")]
    tool: Option<String>,
    /// In one session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of one call.
    #[arg(long, value_name = "ID")]
    invocation: Option<String>,
    /// At or after this moment: 2026-01-31T12:00:00Z, or 2h for two hours ago.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    from: Option<jiff::Timestamp>,
    /// Before this moment.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    to: Option<jiff::Timestamp>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All of them.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Show the newest last, then new events as they come.
    #[arg(long, short, conflicts_with = "to")]
    follow: bool,
}

impl ListArgs {
    fn narrowing(&self) -> Vec<(&'static str, String)> {
        let moment = |at: &jiff::Timestamp| at.to_string();
        let mut narrowing: Vec<_> = self.kinds.iter().map(|kind| ("type", kind.clone())).collect();
        for (name, value) in [
            ("actor", self.actor.clone()),
            ("subject", self.subject.clone()),
            ("tool", self.tool.clone()),
            ("session", self.session.clone()),
            ("invocation", self.invocation.clone()),
            ("from", self.from.as_ref().map(moment)),
            ("to", self.to.as_ref().map(moment)),
        ] {
            narrowing.extend(value.map(|value| (name, value)));
        }
        narrowing
    }
}

pub(super) async fn run(args: &ListArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let narrowing = args.narrowing();
    let mut left = if args.all { u32::MAX } else { args.limit };
    let (mut events, mut newest) = (Vec::new(), None);
    let mut cursor: Option<String> = None;
    loop {
        let mut query = narrowing.clone();
        query.push(("limit", left.min(PAGE).to_string()));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page: AuditEventListView =
            gate.get(gate.url(&["api", "v1", "audit", "events"], &query)).await?.read()?;
        left = left.saturating_sub(u32::try_from(page.events.len()).unwrap_or(u32::MAX));
        newest.get_or_insert(page.newest);
        events.extend(page.events);
        cursor = page.next_cursor;
        if cursor.is_none() || left == 0 {
            break;
        }
    }
    if args.follow {
        for event in events.iter().rev() {
            if show::stream(line(event, global.json)?.as_bytes()).is_err() {
                return Ok(ExitCode::SUCCESS);
            }
        }
        // What was written while the list was read stands in both.
        let seen = events.iter().map(place).collect();
        return follow(&gate, &narrowing, newest.unwrap_or_default(), seen, global).await;
    }
    if global.json {
        let mut body = json!({ "events": events });
        if let Some(cursor) = cursor {
            body["next_cursor"] = cursor.into();
        }
        show::json(&body);
    } else if events.is_empty() {
        global.talk("no event fits");
    } else {
        let columns = ["when", "type", "who", "about"].map(Column::left);
        let rows: Vec<_> = events.iter().map(row).collect();
        print::data(show::table(&columns, &rows));
        if cursor.is_some() {
            global.talk("there are more; see them with --limit or --all");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What tells an event from every other.
fn place(listed: &AuditEventView) -> (String, i64) {
    (listed.session_id.clone(), listed.seq)
}

fn row(listed: &AuditEventView) -> Vec<String> {
    vec![show::moment(&listed.at), listed.kind.clone(), who(listed), about(listed)]
}

fn who(listed: &AuditEventView) -> String {
    match &listed.subject {
        Some(subject) => format!("{} for {subject}", listed.actor),
        None => listed.actor.clone(),
    }
}

/// What an event is about, in a few words.
fn about(listed: &AuditEventView) -> String {
    let data = listed.data.to_value();
    if let Some(action) = data.get("action").and_then(Value::as_str) {
        let named = ["name", "tool", "principal", "agent", "target", "call", "id", "key"];
        let what = named.iter().find_map(|name| data.get(*name).and_then(Value::as_str));
        return show::shortened(&format!("{action} {}", what.unwrap_or_default()), 120).trim_end().to_owned();
    }
    let note = data_note(&data);
    match listed.tool.as_deref().filter(|tool| !note.starts_with(tool)) {
        Some(tool) if note.is_empty() => tool.to_owned(),
        Some(tool) => show::shortened(&format!("{tool}; {note}"), 120),
        None => note,
    }
}

fn line(listed: &AuditEventView, json: bool) -> Result<String, Stop> {
    if json {
        let text = serde_json::to_string(listed).map_err(anyhow::Error::from)?;
        return Ok(format!("{text}\n"));
    }
    let (kind, who, about) =
        (show::plain(&listed.kind), show::plain(&who(listed)), show::plain(&about(listed)));
    let text = format!("{}  {kind:<20}  {who}  {about}", show::moment(&listed.at));
    Ok(format!("{}\n", text.trim_end()))
}

async fn follow(
    gate: &Gate,
    narrowing: &[(&'static str, String)],
    mut last: String,
    mut seen: HashSet<(String, i64)>,
    global: &Global,
) -> Result<ExitCode, Stop> {
    // The first connection must work: a wrong address or key does not pass by itself.
    let mut response = Some(open(gate, narrowing, &last).await?);
    let mut pause = SHORTEST_PAUSE;
    loop {
        if let Some(mut response) = response.take() {
            let mut frames = Frames::default();
            while let Ok(Ok(Some(piece))) = tokio::time::timeout(SILENCE, response.chunk()).await {
                for frame in frames.push(&piece) {
                    if frame.id.is_empty() {
                        return Err(
                            Stop::failed("the record may no longer be read").hint("see `toolgate doctor`")
                        );
                    }
                    (last, pause) = (frame.id, SHORTEST_PAUSE);
                    let listed: AuditEventView = serde_json::from_str(&frame.data).map_err(|_| {
                        Stop::failed("an event came that this command can't read").hint(
                            "compare the versions of the gate and of this command with `toolgate doctor`",
                        )
                    })?;
                    if seen.contains(&place(&listed)) {
                        continue;
                    }
                    if show::stream(line(&listed, global.json)?.as_bytes()).is_err() {
                        return Ok(ExitCode::SUCCESS);
                    }
                }
            }
            seen.clear();
        }
        global.talk(format_args!("the connection is lost; trying again in {:.1} s", pause.as_secs_f64()));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        response = match open(gate, narrowing, &last).await {
            Ok(response) => Some(response),
            Err(stop) if stop.passes() => None,
            Err(stop) => return Err(stop),
        };
    }
}

async fn open(gate: &Gate, narrowing: &[(&'static str, String)], last: &str) -> Result<Response, Stop> {
    let url = gate.url(&["api", "v1", "audit", "events", "live"], narrowing);
    let request = gate.request(Method::GET, url).header("accept", "text/event-stream");
    gate.stream(request.header("last-event-id", last)).await
}

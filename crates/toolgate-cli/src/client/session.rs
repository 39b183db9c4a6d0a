//! Threads of work and their live events.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use reqwest::{Method, Response};
use serde_json::Value;
use toolgate_api::{EventView, SessionView};

use super::http::{Gate, PATIENCE};
use super::sse::{Frame, Frames};
use super::{Global, Stop, show};
use crate::print;

const NEW_EXAMPLES: &str = "\
Examples:
  session=$(toolgate session new)
  toolgate tool invoke core__get_current_time --session \"$session\"";

const TAIL_EXAMPLES: &str = "\
Examples:
  toolgate session tail ses_…                      all events, then new ones as they come
  toolgate session tail ses_… --after 12           only what came after event 12
  toolgate session tail ses_… --once --json        what there is so far, one JSON object a line";

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Begin a session, and print its id.
    #[command(after_help = NEW_EXAMPLES)]
    New,
    /// Follow what happens in a session.
    #[command(after_help = TAIL_EXAMPLES)]
    Tail(TailArgs),
}

/// What to follow.
#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// The session's id.
    id: String,
    /// Begin after the event with this number.
    #[arg(long, value_name = "SEQ", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    after: i64,
    /// End once no event has come for a second.
    #[arg(long)]
    once: bool,
}

pub(super) async fn run(command: SessionCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        SessionCommand::New => new(global).await,
        SessionCommand::Tail(args) => tail(&args, global).await,
    }
}

async fn new(global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let request = gate.request(Method::POST, gate.url(&["api", "v1", "sessions"], &[])).timeout(PATIENCE);
    let answer = gate.send(request).await?.ok()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(show::plain(&answer.read::<SessionView>()?.id));
    }
    Ok(ExitCode::SUCCESS)
}

const CAUGHT_UP: Duration = Duration::from_secs(1);
/// The gate says something every 15 seconds; three times nothing is a connection that hangs.
const SILENCE: Duration = Duration::from_secs(45);
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How one connection ended.
enum Ended {
    /// Whoever reads has all they want.
    Done,
    /// It broke, after so many events.
    Broke { events: usize },
}

async fn tail(args: &TailArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let mut last = args.after;
    // The first connection must work: a wrong address or key does not pass by itself.
    let mut response = Some(open(&gate, &args.id, last).await?);
    let mut pause = SHORTEST_PAUSE;
    loop {
        if let Some(response) = response.take() {
            match follow(response, args.once, &mut last, global).await? {
                Ended::Done => return Ok(ExitCode::SUCCESS),
                Ended::Broke { events: 0 } => {}
                Ended::Broke { .. } => pause = SHORTEST_PAUSE,
            }
        }
        global.talk(format_args!("the connection is lost; trying again in {:.1} s", pause.as_secs_f64()));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        response = match open(&gate, &args.id, last).await {
            Ok(response) => Some(response),
            Err(stop) if stop.passes() => None,
            Err(stop) => return Err(stop),
        };
    }
}

async fn open(gate: &Gate, id: &str, last: i64) -> Result<Response, Stop> {
    let url = gate.url(&["api", "v1", "sessions", id, "events"], &[]);
    let request = gate.request(Method::GET, url).header("accept", "text/event-stream");
    gate.stream(if last > 0 { request.header("last-event-id", last) } else { request }).await
}

async fn follow(mut response: Response, once: bool, last: &mut i64, global: &Global) -> Result<Ended, Stop> {
    let mut frames = Frames::default();
    let mut events = 0;
    let mut quiet_since = tokio::time::Instant::now();
    loop {
        let deadline = quiet_since + if once { CAUGHT_UP } else { SILENCE };
        let Ok(piece) = tokio::time::timeout_at(deadline, response.chunk()).await else {
            return Ok(if once { Ended::Done } else { Ended::Broke { events } });
        };
        let Ok(Some(piece)) = piece else { return Ok(Ended::Broke { events }) };
        let found = frames.push(&piece);
        // What only keeps the connection alive is no event.
        if !found.is_empty() || !once {
            quiet_since = tokio::time::Instant::now();
        }
        for frame in found {
            let Some(seq) = frame.id.parse::<i64>().ok().filter(|seq| seq > last) else { continue };
            if show::stream(line(&frame, global.json)?.as_bytes()).is_err() {
                return Ok(Ended::Done);
            }
            *last = seq;
            events += 1;
        }
    }
}

fn line(frame: &Frame, json: bool) -> Result<String, Stop> {
    if json {
        return Ok(format!("{}\n", frame.data));
    }
    let event: EventView = serde_json::from_str(&frame.data)
        .map_err(|_| Stop::failed("an event came that this command can't read").hint("see it with --json"))?;
    let (kind, call, actor) =
        (show::plain(&event.kind), show::plain(&event.call_id), show::plain(&event.actor));
    let text = format!("{:>5}  {}  {kind:<20}  {call}  {actor}  {}", event.seq, event.at, event_note(&event));
    Ok(format!("{}\n", text.trim_end()))
}

/// What else is worth a few words on an event.
pub(super) fn event_note(event: &EventView) -> String {
    data_note(&event.data.to_value())
}

/// The same of its data.
pub(super) fn data_note(data: &Value) -> String {
    let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let mut notes = Vec::new();
    notes.extend(text("/call/tool"));
    notes.extend(text("/reason"));
    notes.extend(data.get("step").and_then(step_note));
    if let (Some(code), Some(message)) = (text("/error/code"), text("/error/message")) {
        notes.push(format!("{code}: {message}"));
    }
    if let Some(attempt) = data.get("attempt").and_then(Value::as_u64).filter(|attempt| *attempt > 1) {
        notes.push(format!("attempt {attempt}"));
    }
    notes.extend(data.get("chunk").or_else(|| data.get("output")).map(Value::to_string));
    show::shortened(&notes.join("; "), 120)
}

/// A step of a review: a word, or a word with what was said or who was named.
fn step_note(step: &Value) -> Option<String> {
    if let Some(word) = step.as_str() {
        return Some(word.to_owned());
    }
    let (word, more) = step.as_object()?.iter().next()?;
    let more = ["text", "to", "role", "input"].into_iter().find_map(|name| more.get(name));
    Some(match more {
        Some(Value::String(text)) => format!("{word}: {text}"),
        Some(value) => format!("{word}: {value}"),
        None => word.clone(),
    })
}

//! How much waits, live.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use reqwest::{Method, Response};
use serde_json::Value;

use super::http::Gate;
use super::sse::Frames;
use super::{Global, Stop, show};

pub(super) const EXAMPLES: &str = "\
Examples:
  toolgate approval watch                     a line now, and whenever it changes
  toolgate approval watch --once --json       {\"count\":3}, and no more";

/// The gate says something every 15 seconds; three times nothing is a connection that hangs.
const SILENCE: Duration = Duration::from_secs(45);
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WatchArgs {
    /// Say it once, and end.
    #[arg(long)]
    once: bool,
}

/// How one connection ended.
enum Ended {
    Done,
    Broke,
}

pub(super) async fn run(args: WatchArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let mut told = None;
    // The first connection must work: a wrong address or key does not pass by itself.
    let mut response = Some(open(&gate).await?);
    let mut pause = SHORTEST_PAUSE;
    loop {
        if let Some(response) = response.take() {
            let before = told.clone();
            if let Ended::Done = follow(response, args.once, &mut told, global).await {
                return Ok(ExitCode::SUCCESS);
            }
            if before != told {
                pause = SHORTEST_PAUSE;
            }
        }
        global.talk(format_args!("the connection is lost; trying again in {:.1} s", pause.as_secs_f64()));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        response = match open(&gate).await {
            Ok(response) => Some(response),
            Err(stop) if stop.passes() => None,
            Err(stop) => return Err(stop),
        };
    }
}

async fn open(gate: &Gate) -> Result<Response, Stop> {
    let url = gate.url(&["api", "v1", "inbox", "events"], &[]);
    gate.stream(gate.request(Method::GET, url).header("accept", "text/event-stream")).await
}

async fn follow(mut response: Response, once: bool, told: &mut Option<String>, global: &Global) -> Ended {
    let mut frames = Frames::default();
    loop {
        let Ok(Ok(Some(piece))) = tokio::time::timeout(SILENCE, response.chunk()).await else {
            return Ended::Broke;
        };
        for frame in frames.push(&piece) {
            // A new connection says first what the old one said last.
            if told.as_ref() == Some(&frame.data) {
                continue;
            }
            let line = if global.json { format!("{}\n", frame.data) } else { sentence(&frame.data) };
            if show::stream(line.as_bytes()).is_err() || once {
                return Ended::Done;
            }
            *told = Some(frame.data);
        }
    }
}

fn sentence(data: &str) -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%SZ");
    let count = serde_json::from_str::<Value>(data).ok().and_then(|data| data.get("count")?.as_u64());
    match count {
        Some(0) => format!("{now}  nothing waits for you\n"),
        Some(1) => format!("{now}  1 call waits for you\n"),
        Some(count) => format!("{now}  {count} calls wait for you\n"),
        None => format!("{now}  {}\n", show::plain(data)),
    }
}

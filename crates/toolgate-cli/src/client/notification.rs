//! Notifications: what was told outside, once more, and whether a channel works.

use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use toolgate_api::NotificationView;

use super::change::{Facts, lines};
use super::fail::Exit;
use super::http::{Answer, Gate, PATIENCE};
use super::page::{Listing, at, word};
use super::{Global, Stop, show};
use crate::print;

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate notification list
  toolgate notification list --state dead            what nobody was told
  toolgate notification list --json | jq '.notifications[] | select(.attempts > 1)'";

const RETRY_EXAMPLES: &str = "\
Examples:
  toolgate notification retry ntf_…";

const TEST_EXAMPLES: &str = "\
Examples:
  toolgate notification test ops                     `[notify.ops]` in the server's file

Exit codes: 0 when the other side took the message, 1 when it did not";

#[derive(Debug, Subcommand)]
pub(crate) enum NotificationCommand {
    /// List what was told outside, newest first.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only these.
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Send a notification that was not delivered once more.
    #[command(after_help = RETRY_EXAMPLES)]
    Retry {
        /// Its id.
        id: String,
    },
    /// Send a message to a channel, to see whether it arrives.
    #[command(after_help = TEST_EXAMPLES)]
    Test {
        /// The channel's name.
        channel: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum State {
    /// To be sent, or being sent.
    Waiting,
    /// The other side took it.
    Delivered,
    /// Given up.
    Dead,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

impl Facts for NotificationView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("channel", self.channel.clone()),
            ("event", self.event.clone()),
            ("call", self.call_id.clone().unwrap_or_default()),
            ("state", self.state.clone()),
            ("attempts", self.attempts.to_string()),
            ("next", self.due_at.as_ref().map_or_else(String::new, |at| show::moment(at))),
            ("delivered", self.delivered_at.as_ref().map_or_else(String::new, |at| show::moment(at))),
            ("last error", self.last_error.clone().unwrap_or_default()),
        ]
    }
}

pub(super) async fn run(command: NotificationCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        NotificationCommand::List { state } => list(state, global).await,
        NotificationCommand::Retry { id } => {
            let gate = Gate::of(global)?;
            let answer = post(&gate, &["api", "v1", "notifications", &id, "retry"]).await?;
            show_notification(&answer, global)?;
            Ok(ExitCode::SUCCESS)
        }
        NotificationCommand::Test { channel } => {
            let gate = Gate::of(global)?;
            let answer = post(&gate, &["api", "v1", "notifications", "channels", &channel, "test"]).await?;
            let sent = show_notification(&answer, global)?;
            if sent.state == "delivered" {
                return Ok(ExitCode::SUCCESS);
            }
            global.talk("hint: look at the channel's address in the server's file, and at who answers there");
            Ok(Exit::Failed.into())
        }
    }
}

async fn list(state: Option<State>, global: &Global) -> Result<ExitCode, Stop> {
    let query = state.map(|state| ("state", state.as_str().to_owned())).into_iter().collect();
    let listing = Listing { path: &["notifications"], query, items: "notifications" };
    let columns = ["id", "channel", "event", "call", "state", "tries", "since", "last error"];
    let row = |one: NotificationView| {
        let since = at(Some(&one.created_at));
        let (call, error) = (word(one.call_id), word(one.last_error));
        vec![one.id, one.channel, one.event, call, one.state, one.attempts.to_string(), since, error]
    };
    listing.show(&columns, "nothing was told outside", row, global).await
}

async fn post(gate: &Gate, path: &[&str]) -> Result<Answer, Stop> {
    gate.post(gate.url(path, &[]), &serde_json::json!({}), PATIENCE).await
}

fn show_notification(answer: &Answer, global: &Global) -> Result<NotificationView, Stop> {
    let view: NotificationView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(lines(&view.facts()));
    }
    Ok(view)
}

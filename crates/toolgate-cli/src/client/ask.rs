//! Asks before something is decided that can't be taken back.

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;

use super::fail::Stop;

/// Whether to ask.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Confirm {
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Confirm {
    /// Asks on a terminal; elsewhere nobody could answer, and whoever wrote the script has decided.
    pub(super) fn ask(self, question: &str) -> Result<(), Stop> {
        if self.yes || !someone_is_there() {
            return Ok(());
        }
        let answer = read_line(&format!("{question} [y/N] ")).unwrap_or_default();
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        Err(Stop::failed("nothing was done").hint("answer `y`, or use --yes"))
    }

    /// Asks on a terminal; elsewhere takes only --yes: what reaches everyone's calls is never a slip of a script.
    pub(super) fn insist(self, question: &str) -> Result<(), Stop> {
        if self.yes || someone_is_there() {
            return self.ask(question);
        }
        Err(Stop::usage("nobody is there to confirm it").hint("use --yes in a script"))
    }

    /// Whether questions are wanted at all.
    pub(super) const fn asks(self) -> bool {
        !self.yes
    }
}

/// Whether a person sits at a terminal.
pub(super) fn someone_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a line; none when there is no more to read.
pub(super) fn read_line(question: &str) -> Option<String> {
    let mut line = String::new();
    let mut talk = std::io::stderr().lock();
    write!(talk, "{question}").and_then(|()| talk.flush()).ok()?;
    let read = std::io::stdin().lock().read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

//! Asks before something is decided that can't be taken back.

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;

use super::fail::Stop;

/// Whether to ask.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Confirm {
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Confirm {
    /// Asks on a terminal; elsewhere nobody could answer, and whoever wrote the script has decided.
    pub(super) fn ask(self, question: &str) -> Result<(), Stop> {
        let (input, talk) = (std::io::stdin(), std::io::stderr());
        if self.yes || !input.is_terminal() || !talk.is_terminal() {
            return Ok(());
        }
        let mut answer = String::new();
        let asked =
            write!(talk.lock(), "{question} [y/N] ").and_then(|()| input.lock().read_line(&mut answer));
        if asked.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        Err(Stop::failed("nothing was done").hint("answer `y`, or use --yes"))
    }

    /// Asks on a terminal; elsewhere takes only --yes: what reaches everyone's calls is never a slip of a script.
    pub(super) fn insist(self, question: &str) -> Result<(), Stop> {
        let someone = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if self.yes || someone {
            return self.ask(question);
        }
        Err(Stop::usage("nobody is there to confirm it").hint("use --yes in a script"))
    }
}

//! Our own options of `tool invoke`, told from the flags of the tool.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Args, Command, FromArgMatches};

use super::answer::WaitArgs;
use super::{Global, Stop};

/// Options of ours, before or after the id.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Call options")]
pub(super) struct InvokeOptions {
    /// The input as JSON, as @FILE, or as - for standard input. Flags win over it.
    #[arg(long, value_name = "JSON")]
    pub(super) input: Option<String>,
    /// Send a file first and name it in this field of the input. May be given several times.
    #[arg(long = "file", value_name = "FIELD=PATH", value_parser = super::file::field_and_path)]
    pub(super) files: Vec<(String, std::path::PathBuf)>,
    /// The session the call belongs to; without one it gets its own.
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Makes a repeat return the first call's result instead of calling again.
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
    /// The call that makes this one.
    #[arg(long, value_name = "ID")]
    pub(super) parent: Option<String>,
    /// Print the request instead of sending it.
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

impl InvokeOptions {
    /// The same, where a later word wins.
    pub(super) fn or_later(self, later: Self) -> Self {
        Self {
            input: later.input.or(self.input),
            files: [self.files, later.files].concat(),
            session: later.session.or(self.session),
            idempotency_key: later.idempotency_key.or(self.idempotency_key),
            parent: later.parent.or(self.parent),
            dry_run: later.dry_run || self.dry_run,
            wait: WaitArgs { wait: later.wait.wait.or(self.wait.wait) },
        }
    }
}

/// Our own options as a command of their own.
pub(super) fn own_command() -> Command {
    add_own(bare_command().bin_name("toolgate tool invoke <ID>"))
}

pub(super) fn bare_command() -> Command {
    Command::new("toolgate").no_binary_name(true).disable_help_flag(true)
}

pub(super) fn add_own(command: Command) -> Command {
    Global::augment_args(InvokeOptions::augment_args(command))
}

pub(super) fn help_flag() -> Arg {
    Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::Help)
        .help("Print help")
        .help_heading("Global options")
}

/// Which words are ours (with their values) and which are the tool's. A value that looks like an option is written
/// as `--name=--value`, so every word that looks like one of ours is.
pub(super) fn split(words: &[OsString], own: &Command) -> (Vec<OsString>, Vec<OsString>) {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            others.extend(words.cloned());
            break;
        }
        let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        let found = own.get_arguments().find(|arg| {
            arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
                || arg.get_short().is_some_and(|short| name == format!("-{short}"))
        });
        match found {
            Some(arg) => {
                ours.push(word.clone());
                if arg.get_action().takes_values() && !has_value {
                    ours.extend(words.next().cloned());
                }
            }
            None => others.push(word.clone()),
        }
    }
    (ours, others)
}

/// What was said before the id holds unless it was said again after it.
pub(super) fn merge_global(before: &Global, matches: &clap::ArgMatches) -> Result<Global, Stop> {
    let later = Global::from_arg_matches(matches).map_err(internal)?;
    Ok(Global {
        url: later.url.or_else(|| before.url.clone()),
        key_stdin: before.key_stdin || later.key_stdin,
        json: before.json || later.json,
        quiet: before.quiet || later.quiet,
        verbose: before.verbose || later.verbose,
    })
}

pub(super) fn internal(cause: clap::Error) -> Stop {
    Stop::usage(cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn check(all: &str, ours: &str, others: &str) {
        assert_eq!(split(&words(all), &own_command()), (words(ours), words(others)), "{all}");
    }

    #[test]
    fn our_own_words_are_told_from_the_tools() {
        check("--timezone UTC --json", "--json", "--timezone UTC");
        check("--wait 3 --x --wait=4 -q", "--wait 3 --wait=4 -q", "--x");
        check("--url http://h --input-wait 3 -h", "--url http://h", "--input-wait 3 -h");
        check("--x=--json -- --json", "", "--x=--json --json");
        check("--wait", "--wait", "");
    }
}

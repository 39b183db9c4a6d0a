//! The one place that prints: data on stdout, talk on stderr.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the printer")]

use std::io::Write;
use std::process::ExitCode;

/// Data, one piece a line.
pub(crate) fn data(text: impl std::fmt::Display) {
    // A reader that has gone away (`| head`) is no reason to complain.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Talk.
pub(crate) fn talk(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What went wrong, with its causes.
pub(crate) fn failure(cause: &anyhow::Error) -> ExitCode {
    talk(format_args!("error: {cause:#}"));
    ExitCode::FAILURE
}

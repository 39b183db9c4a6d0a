//! How a command ends when it does not end well: an exit code, a sentence, a hint.

use std::process::ExitCode;

use serde_json::Value;
use toolgate_api::ErrorView;

use super::{content, show};
use crate::print;

/// What the exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// It failed.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The gate said no.
    Denied = 3,
    /// A person has to decide first.
    Waiting = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command stopped.
#[derive(Debug)]
pub(super) struct Stop {
    exit: Exit,
    error: ErrorView,
    /// What the gate answered, for `--json`.
    body: Option<String>,
    /// Whether the same request may work in a moment.
    passing: bool,
}

impl Stop {
    /// Something of our own went wrong.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        let error = ErrorView { code: String::new(), message: message.into(), hint: None, details: None };
        Self { exit: Exit::Failed, error, body: None, passing: false }
    }

    /// What went wrong, in one sentence.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// The command line makes no sense.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::failed(message) }
    }

    /// The gate answered with an error.
    pub(super) fn answered(status: u16, error: ErrorView, body: String) -> Self {
        let exit = if matches!(status, 401 | 403) { Exit::Denied } else { Exit::Failed };
        Self { exit, error, body: Some(body), passing: matches!(status, 502..=504) }
    }

    /// The same with advice.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    /// The same, as something that passes.
    pub(super) fn passing(mut self) -> Self {
        self.passing = true;
        self
    }

    /// Whether the same request may work in a moment.
    pub(super) const fn passes(&self) -> bool {
        self.passing
    }

    /// The gate's code, empty when the trouble is on this side.
    pub(super) fn code(&self) -> &str {
        &self.error.code
    }

    /// What went wrong and what would help.
    pub(super) fn into_parts(self) -> (String, Option<String>) {
        (self.error.message, self.error.hint)
    }

    /// Says it, and gives the exit code.
    pub(super) fn report(&self, json: bool) -> ExitCode {
        if let Some(body) = self.body.as_deref().filter(|_| json) {
            show::json_text(body);
        }
        print_error(&self.error);
        self.exit.into()
    }
}

impl From<anyhow::Error> for Stop {
    fn from(cause: anyhow::Error) -> Self {
        Self::failed(format!("{cause:#}"))
    }
}

/// `error[code]: message`, what exactly, and a hint.
pub(super) fn print_error(error: &ErrorView) {
    let code = if error.code.is_empty() { String::new() } else { format!("[{}]", show::plain(&error.code)) };
    print::talk(format_args!("error{code}: {}", show::plain(&error.message)));
    if let Some(said) = content::of_failure(error.details.as_ref(), &error.message) {
        print::talk(said);
    }
    let violations = error.details.as_ref().and_then(|details| details.get("violations")?.as_array());
    // A single violation already stands in the message.
    for violation in violations.filter(|found| found.len() > 1).into_iter().flatten() {
        let text = |key: &str| violation.get(key).and_then(Value::as_str).unwrap_or_default();
        let line = format!("{} {}", text("path"), text("message"));
        print::talk(format_args!("  {}", show::plain(line.trim_start())));
    }
    let hint = match &error.hint {
        Some(hint) => hint.clone(),
        None if error.code.is_empty() => "try again with --verbose, or see `toolgate --help`".to_owned(),
        None => format!("see `toolgate explain {}`", error.code),
    };
    print::talk(format_args!("hint: {}", show::plain(&hint)));
}

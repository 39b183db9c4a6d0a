//! What a gate keeps, one thing at a time: write it, take it away, show it.

use std::process::ExitCode;

use reqwest::header::IF_MATCH;
use reqwest::{Method, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::http::{Answer, Gate, PATIENCE};
use super::{Global, Stop, show};
use crate::print;

/// Something that people read as a list of names and values.
pub(super) trait Facts: DeserializeOwned {
    /// The names and values; what is empty is left out.
    fn facts(&self) -> Vec<(&'static str, String)>;
}

impl Gate {
    /// Puts JSON in its place, if it still has the revision that was seen; an error status is an error.
    pub(super) async fn put<T: Serialize>(
        &self,
        url: Url,
        body: &T,
        seen: Option<u64>,
    ) -> Result<Answer, Stop> {
        let request = self.request(Method::PUT, url).json(body).timeout(PATIENCE);
        let request = match seen {
            Some(revision) => request.header(IF_MATCH, format!("\"{revision}\"")),
            None => request,
        };
        self.send(request).await?.ok()
    }

    /// Changes some fields; an error status is an error.
    pub(super) async fn patch<T: Serialize>(&self, url: Url, body: &T) -> Result<Answer, Stop> {
        self.send(self.request(Method::PATCH, url).json(body).timeout(PATIENCE)).await?.ok()
    }

    /// Takes it away; an error status is an error.
    pub(super) async fn delete(&self, url: Url) -> Result<Answer, Stop> {
        self.send(self.request(Method::DELETE, url).timeout(PATIENCE)).await?.ok()
    }
}

/// Reads one thing and shows it.
pub(super) async fn show_one<T: Facts>(path: &[&str], global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let answer = gate.get(gate.url(&[&["api", "v1"], path].concat(), &[])).await?;
    show_answer::<T>(&answer, global)
}

/// Shows one thing as it was answered: as JSON when that is wanted, else its facts.
pub(super) fn show_answer<T: Facts>(answer: &Answer, global: &Global) -> Result<ExitCode, Stop> {
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(lines(&answer.read::<T>()?.facts()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that something is gone; shows what the gate answered when that is wanted.
pub(super) fn show_gone(answer: &Answer, what: &str, global: &Global) -> ExitCode {
    if global.json && !answer.text.trim().is_empty() {
        show::json_text(&answer.text);
    }
    global.talk(show::plain(what));
    ExitCode::SUCCESS
}

/// Names and values under each other.
pub(super) fn lines(facts: &[(&'static str, String)]) -> String {
    let shown: Vec<_> = facts.iter().filter(|(_, value)| !value.is_empty()).collect();
    let width = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines: Vec<_> =
        shown.iter().map(|(name, value)| format!("{name:<width$}  {}", show::plain(value))).collect();
    lines.join("\n")
}

/// `yes` or nothing: for what is worth a word only when it is so.
pub(super) fn only_yes(holds: bool) -> String {
    if holds { "yes".to_owned() } else { String::new() }
}

/// A moment, where there is one.
pub(super) fn moment(at: Option<&String>) -> String {
    at.map_or_else(String::new, |at| show::moment(at))
}

/// Who wrote it last and when.
pub(super) fn written(by: &str, at: &str) -> String {
    format!("{} by {by}", show::moment(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_aligned_and_empty_ones_left_out() {
        let facts = [("id", "a".to_owned()), ("title", String::new()), ("roles", "x\x1b".to_owned())];
        assert_eq!(lines(&facts), "id     a\nroles  x ");
    }
}

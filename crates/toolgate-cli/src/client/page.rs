//! Lists: every page of one, as a table or as JSON.

use std::process::ExitCode;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::http::Gate;
use super::show::{self, Column};
use super::{Global, Stop};
use crate::print;

/// How many to ask for at once: the most a gate gives.
const PAGE: &str = "1000";

/// A list that a gate gives page by page.
#[derive(Debug, Default)]
pub(super) struct Listing<'a> {
    /// Where it is, under `/api/v1`.
    pub(super) path: &'a [&'a str],
    /// Which part of it.
    pub(super) query: Vec<(&'a str, String)>,
    /// The field of the answer that holds the items.
    pub(super) items: &'a str,
}

impl Listing<'_> {
    /// Reads it to its end, as it came.
    pub(super) async fn read_all(&self, gate: &Gate) -> Result<Vec<Value>, Stop> {
        let path = [&["api", "v1"], self.path].concat();
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut query = self.query.clone();
            query.push(("limit", PAGE.to_owned()));
            query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
            let mut page: Value = gate.get(gate.url(&path, &query)).await?.read()?;
            let Value::Array(items) = page[self.items].take() else { return Err(not_understood()) };
            all.extend(items);
            match &mut page["next_cursor"] {
                Value::String(next) => cursor = Some(std::mem::take(next)),
                _ => return Ok(all),
            }
        }
    }

    /// Shows it: as JSON when that is wanted, else one row for each item.
    pub(super) async fn show<T: DeserializeOwned>(
        &self,
        columns: &[&str],
        none: &str,
        row: impl Fn(T) -> Vec<String>,
        global: &Global,
    ) -> Result<ExitCode, Stop> {
        let all = self.read_all(&Gate::of(global)?).await?;
        self.show_these(all, columns, none, row, global)
    }

    /// Shows these items of it.
    pub(super) fn show_these<T: DeserializeOwned>(
        &self,
        items: Vec<Value>,
        columns: &[&str],
        none: &str,
        row: impl Fn(T) -> Vec<String>,
        global: &Global,
    ) -> Result<ExitCode, Stop> {
        if global.json {
            show::json(&json!({ self.items: items }));
        } else if items.is_empty() {
            global.talk(none);
        } else {
            let columns: Vec<Column> = columns.iter().map(|title| Column::left(*title)).collect();
            let rows = items.into_iter().map(|item| of(item).map(&row)).collect::<Result<Vec<_>, Stop>>()?;
            print::data(show::table(&columns, &rows));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// An item as what it should be.
pub(super) fn of<T: DeserializeOwned>(item: Value) -> Result<T, Stop> {
    serde_json::from_value(item).map_err(|_| not_understood())
}

fn not_understood() -> Stop {
    Stop::failed("the answer is not what this command understands")
        .hint("compare the versions of the gate and of this command with `toolgate doctor`")
}

/// Several words in one cell, or a dash.
pub(super) fn words(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// One word in a cell, or a dash.
pub(super) fn word(word: Option<String>) -> String {
    word.unwrap_or_else(|| "-".to_owned())
}

/// A moment in a cell, or a dash.
pub(super) fn at(moment: Option<&String>) -> String {
    moment.map_or_else(|| "-".to_owned(), |moment| show::moment(moment))
}

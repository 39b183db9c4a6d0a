//! The words of a section's `config`. Whatever draws a section needs to know only these.
//!
//! - summary: `figures`, up to four of `{ field, label, format }`; the sentence is in the field `text`.
//! - table: `columns` of `{ field, label, format }`.
//! - chart: `kind` (`line` or `bar`), `x` as `{ field, label }`, `series` of `{ field, label, format }`.
//! - radar: `axis` (the field that names an axis), `series` of `{ field, label, format }`, `max`.
//! - ranking: `label`, `score` and `reason` (fields), `max` for a full bar, or null for the best score.
//!
//! Formats: `text`, `label` (a word in snake_case), `integer`, `number`, `percent`, `money`, `list`.

use serde_json::{Value, json};

/// A field, what to call it and how to write it.
pub(crate) type Shown<'a> = (&'a str, &'a str, &'a str);

/// The figures of a summary.
pub(crate) fn figures(figures: &[Shown<'_>]) -> Value {
    json!({ "text": "text", "figures": shown(figures) })
}

/// The columns of a table.
pub(crate) fn columns(columns: &[Shown<'_>]) -> Value {
    json!({ "columns": shown(columns) })
}

/// Lines over an ordered axis.
pub(crate) fn lines(x: (&str, &str), series: &[Shown<'_>]) -> Value {
    json!({ "kind": "line", "x": { "field": x.0, "label": x.1 }, "series": shown(series) })
}

/// A group of bars for each item.
pub(crate) fn bars(x: (&str, &str), series: &[Shown<'_>]) -> Value {
    json!({ "kind": "bar", "x": { "field": x.0, "label": x.1 }, "series": shown(series) })
}

/// Scores around a circle, from 0 in the middle to `max`.
pub(crate) fn around(axis: &str, series: &[Shown<'_>], max: f64) -> Value {
    json!({ "axis": axis, "series": shown(series), "max": max })
}

/// Items in order of their score.
pub(crate) fn ranked(label: &str, score: &str, reason: &str, max: Option<f64>) -> Value {
    json!({ "label": label, "score": score, "reason": reason, "max": max })
}

fn shown(fields: &[Shown<'_>]) -> Vec<Value> {
    fields
        .iter()
        .map(|(field, label, format)| json!({ "field": field, "label": label, "format": format }))
        .collect()
}

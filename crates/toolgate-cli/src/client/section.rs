//! A tool's result as its output sections say: key figures as lines, rows as tables, the rest as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolgate_core::contract::{OutputSection, SectionKind};

use super::show::{self, Column};

/// The text of a result.
pub(super) fn render(value: &Value, sections: &Value) -> String {
    let sections = Vec::<OutputSection>::deserialize(sections).unwrap_or_default();
    let (Some(fields), false) = (value.as_object(), sections.is_empty()) else { return show::pretty(value) };
    let mut parts = Vec::new();
    for section in &sections {
        let Some(value) = fields.get(&section.key) else { continue };
        // On a terminal a drawing of rows says no more than the rows.
        let drawn_twice = matches!(section.kind, SectionKind::Chart | SectionKind::Radar)
            && sections.iter().any(|other| other.key == section.key && other.kind == SectionKind::Table);
        if !drawn_twice {
            parts.push(format!("{}\n{}", heading(&section.label), body(section, value)));
        }
    }
    for (key, value) in fields {
        if !sections.iter().any(|section| section.key == *key) {
            parts.push(format!("{}\n{}", heading(key), show::pretty(value)));
        }
    }
    parts.join("\n\n")
}

fn heading(label: &str) -> String {
    format!("# {}", show::plain(label))
}

fn body(section: &OutputSection, value: &Value) -> String {
    let drawn = match section.kind {
        SectionKind::Summary => value.as_object().map(|fields| summary(&section.config, fields)),
        SectionKind::Table | SectionKind::Chart | SectionKind::Radar | SectionKind::Ranking => {
            value.as_array().and_then(|rows| table(section, rows))
        }
        SectionKind::Custom => None,
    };
    drawn.unwrap_or_else(|| show::pretty(value))
}

/// One thing to show of a record.
struct Shown<'a> {
    field: &'a str,
    label: String,
    format: &'a str,
}

impl<'a> Shown<'a> {
    fn named(field: &'a str, format: &'a str) -> Self {
        Self { field, label: spoken(field), format }
    }

    /// From `{ field, label, format }`.
    fn read(entry: &'a Value) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let field = text("field")?;
        let label = text("label").map_or_else(|| spoken(field), str::to_owned);
        Some(Self { field, label, format: text("format").unwrap_or("text") })
    }

    fn list(config: &'a Option<Value>, key: &str) -> Vec<Self> {
        let entries = config.as_ref().and_then(|config| config.get(key)?.as_array());
        entries.into_iter().flatten().filter_map(Self::read).collect()
    }

    fn of(&self, record: &Value) -> String {
        record.get(self.field).map_or_else(String::new, |value| written(value, self.format))
    }

    fn is_number(&self) -> bool {
        matches!(self.format, "integer" | "number" | "percent" | "money")
    }
}

fn summary(config: &Option<Value>, fields: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    let sentence = config.as_ref().and_then(|config| config.get("text")?.as_str()).unwrap_or("text");
    if let Some(text) = fields.get(sentence).and_then(Value::as_str) {
        lines.push(show::paragraph(text));
    }
    let mut shown = Shown::list(config, "figures");
    // A person may want the figures that a tile has no room for as well.
    for field in fields.keys().filter(|field| *field != sentence) {
        if !shown.iter().any(|known| known.field == field) {
            shown.push(Shown::named(field, "text"));
        }
    }
    for figure in &shown {
        if let Some(value) = fields.get(figure.field) {
            lines.push(format!(
                "{}: {}",
                show::plain(&figure.label),
                show::plain(&written(value, figure.format))
            ));
        }
    }
    lines.join("\n")
}

fn table(section: &OutputSection, rows: &[Value]) -> Option<String> {
    let config = &section.config;
    let shown = match section.kind {
        SectionKind::Ranking => ["label", "score", "reason"]
            .iter()
            .filter_map(|role| {
                let field = config.as_ref()?.get(role)?.as_str()?;
                Some(Shown::named(field, if *role == "score" { "number" } else { "text" }))
            })
            .collect(),
        SectionKind::Chart => {
            let x = config.as_ref().and_then(|config| Shown::read(config.get("x")?));
            x.into_iter().chain(Shown::list(config, "series")).collect()
        }
        SectionKind::Radar => {
            let axis = config.as_ref().and_then(|config| config.get("axis")?.as_str());
            axis.map(|axis| Shown::named(axis, "label"))
                .into_iter()
                .chain(Shown::list(config, "series"))
                .collect()
        }
        SectionKind::Table | SectionKind::Summary | SectionKind::Custom => Shown::list(config, "columns"),
    };
    // Without columns of its own, a table has the fields of its first row.
    let shown: Vec<Shown<'_>> = if shown.is_empty() {
        rows.first()?.as_object()?.keys().map(|field| Shown::named(field, "text")).collect()
    } else {
        shown
    };
    if !rows.iter().all(Value::is_object) {
        return None;
    }
    let columns: Vec<Column> = shown
        .iter()
        .map(|shown| if shown.is_number() { Column::right(&shown.label) } else { Column::left(&shown.label) })
        .collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| shown.iter().map(|shown| shown.of(row)).collect()).collect();
    Some(show::table(&columns, &rows))
}

/// A value as people write it.
fn written(value: &Value, format: &str) -> String {
    match (value, format) {
        (Value::Null, _) => "-".to_owned(),
        (Value::Bool(yes), _) => if *yes { "yes" } else { "no" }.to_owned(),
        (Value::Number(_), "percent") => format!("{} %", grouped(&value.to_string())),
        (Value::Number(_), "money" | "number") => grouped(&value.to_string()),
        // Years and ids are numbers too: without a word on it, nothing is put between digits.
        (Value::Number(number), _) => number.to_string().trim_end_matches(".0").to_owned(),
        (Value::String(text), "label") => spoken(text),
        (Value::String(text), _) => text.clone(),
        (Value::Array(items), _) if items.is_empty() => "-".to_owned(),
        (Value::Array(items), _) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            items.iter().map(|item| written(item, format)).collect::<Vec<_>>().join(", ")
        }
        (other, _) => other.to_string(),
    }
}

/// `1234567.5` as `1,234,567.5`; what is written with an exponent stays.
fn grouped(number: &str) -> String {
    if number.contains(['e', 'E']) {
        return number.to_owned();
    }
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if decimals != "0" {
        text.push('.');
        text.push_str(decimals);
    }
    text
}

/// `quick_wins` as `Quick wins`.
fn spoken(name: &str) -> String {
    let text = name.replace('_', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sections_are_drawn_in_order_and_the_rest_follows() {
        let value = json!({
            "summary": { "text": "It pays off.", "npv": 1234567.5, "level": "quick_win", "gaps": [], "net": null, "year": 2026.0 },
            "rows": [{ "name": "a", "n": -1200 }, { "name": "b", "n": 5.0 }],
            "order": [{ "name": "first", "score": 9, "reason": "best" }],
            "more": { "x": 1 },
        });
        let sections = json!([
            { "key": "summary", "label": "Summary", "type": "summary", "config": {
                "text": "text",
                "figures": [
                    { "field": "npv", "label": "Worth", "format": "money" },
                    { "field": "level", "label": "Level", "format": "label" },
                ],
            } },
            { "key": "rows", "label": "Drawn", "type": "chart", "config": {} },
            { "key": "rows", "label": "Rows", "type": "table", "config": { "columns": [
                { "field": "name", "label": "Name", "format": "text" },
                { "field": "n", "label": "Count", "format": "number" },
            ] } },
            { "key": "order", "label": "Order", "type": "ranking", "config": {
                "label": "name", "score": "score", "reason": "reason", "max": null,
            } },
        ]);
        let expected = "\
# Summary
It pays off.
Worth: 1,234,567.5
Level: Quick win
Gaps: -
Net: -
Year: 2026

# Rows
NAME   COUNT
a     -1,200
b          5

# Order
NAME   SCORE  REASON
first      9  best

# more
{
  \"x\": 1
}";
        assert_eq!(render(&value, &sections), expected);
    }

    #[test]
    fn whatever_does_not_fit_its_section_is_json() {
        let sections = json!([{ "key": "a", "label": "A", "type": "table" }]);
        assert_eq!(render(&json!({ "a": [1, 2] }), &sections), "# A\n[\n  1,\n  2\n]");
        assert_eq!(render(&json!([1]), &sections), "[\n  1\n]");
        assert_eq!(render(&json!({ "a": [] }), &json!("nonsense")), "{\n  \"a\": []\n}");
        assert_eq!(render(&json!({ "a": [{ "long_name": 1 }] }), &sections), "# A\nLONG NAME\n1");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [
            ("0", "0"),
            ("-999", "-999"),
            ("1000", "1,000"),
            ("-1234567.25", "-1,234,567.25"),
            ("1e30", "1e30"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}

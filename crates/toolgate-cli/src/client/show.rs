//! How data looks: aligned tables, JSON, times; never a control character of someone else's.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::print;

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct Column {
    title: String,
    right: bool,
}

impl Column {
    /// Text, set to the left.
    pub(super) fn left(title: impl Into<String>) -> Self {
        Self { title: title.into(), right: false }
    }

    /// Numbers, set to the right.
    pub(super) fn right(title: impl Into<String>) -> Self {
        Self { title: title.into(), right: true }
    }
}

/// A table as text. On a terminal the last column is wrapped to fit.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    layout(columns, rows, terminal_width())
}

fn layout(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> String {
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_uppercase()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(titles)
        .chain(rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()))
        .collect();
    let widest = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(|cell| length(cell)).max();
    let widths: Vec<usize> = (0..columns.len()).map(|place| widest(place).unwrap_or(0)).collect();
    let Some((_, before)) = widths.split_last() else { return String::new() };
    let indent = before.iter().map(|width| width + 2).sum::<usize>();
    // A last column of a few words' width is harder to read than a line that runs over.
    let room = width.map(|width| width.saturating_sub(indent)).filter(|room| *room >= 24);
    let mut lines = Vec::new();
    for row in &rows {
        let mut line = String::new();
        for (place, cell) in row.iter().enumerate().take(before.len()) {
            line.push_str(&pad(cell, widths[place], columns[place].right));
            line.push_str("  ");
        }
        let last = row.get(before.len()).map_or("", String::as_str);
        let last = match columns.last() {
            Some(column) if column.right => vec![pad(last, widths[before.len()], true)],
            _ => wrap(last, room.unwrap_or(usize::MAX)),
        };
        for (number, part) in last.iter().enumerate() {
            let start = if number == 0 { line.clone() } else { " ".repeat(indent) };
            lines.push(format!("{start}{part}").trim_end().to_owned());
        }
    }
    lines.join("\n")
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(length(cell)));
    if right { format!("{space}{cell}") } else { format!("{cell}{space}") }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Text in lines of at most `width` characters, broken between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let fits =
            lines.last().is_some_and(|line| line.is_empty() || length(line) + 1 + length(word) <= width);
        match lines.last_mut() {
            Some(line) if fits => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A paragraph, wrapped on a terminal.
pub(super) fn paragraph(text: &str) -> String {
    wrap(&plain(text), terminal_width().unwrap_or(usize::MAX)).join("\n")
}

fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Text without control characters: what a tool or a model wrote must not steer someone's terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// JSON text as it came; pretty on a terminal.
pub(super) fn json_text(text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if std::io::stdout().is_terminal() => print::data(pretty(&value)),
        _ => print::data(text.trim_end()),
    }
}

/// A value as JSON; pretty on a terminal.
pub(super) fn json(value: &Value) {
    if std::io::stdout().is_terminal() { print::data(pretty(value)) } else { print::data(value) }
}

/// Pretty JSON. Control characters that JSON lets through are written as escapes.
pub(super) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push(letter),
            letter if letter.is_control() => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => shown.push(letter),
        }
    }
    shown
}

/// A moment to the second.
pub(super) fn moment(text: &str) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        Err(_) => plain(text),
    }
}

/// At most so many characters on one line.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let text = plain(text);
    if length(&text) <= most {
        return text;
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Writes a part of a stream. Fails when the reader has gone away, so that streams can end.
pub(super) fn stream(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: Option<usize>, expected: &str) {
        let columns = [Column::left("id"), Column::right("n"), Column::left("note")];
        let rows = [
            vec!["a".to_owned(), "1".to_owned(), "one two three four five six".to_owned()],
            vec!["long".to_owned(), "100".to_owned(), String::new()],
        ];
        assert_eq!(layout(&columns, &rows, width), expected);
    }

    #[test]
    fn tables_are_aligned_and_wrapped() {
        check(None, "ID      N  NOTE\na       1  one two three four five six\nlong  100");
        check(Some(36), "ID      N  NOTE\na       1  one two three four five\n           six\nlong  100");
        // Too narrow to wrap in a readable way.
        check(Some(20), "ID      N  NOTE\na       1  one two three four five six\nlong  100");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\nc\u{9b}d"), "a [31mb c d");
        let value = serde_json::json!("a\x1b\u{9b}b");
        assert_eq!(pretty(&value), "\"a\\u001b\\u009bb\"");
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).unwrap(), value);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}

//! Which kinds of files a place takes: what `x-accept` of a schema says, in the words of a file field on a page.

use std::sync::Arc;

use serde_json::Value;

use crate::file::Picture;

/// What is looked at of a list: more kinds than a person reads say nothing.
const MOST_KINDS: usize = 32;
const LONGEST_KIND: usize = 100;

/// Kinds of files: endings (`.csv`), media types (`text/csv`) and whole groups of them (`image/*`).
///
/// This keeps mistakes out, not attacks: it goes by what a file is called and said to be. A tool still has to read what it
/// gets with care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept(Arc<[String]>);

impl Accept {
    /// The kinds in a value of `x-accept`: a list, or one text with commas. None where it names nothing.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Array(items) => Self::from_kinds(items.iter().filter_map(Value::as_str)),
            _ => None,
        }
    }

    /// The kinds in a text with commas. None where it names nothing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_kinds(text.split(','))
    }

    fn from_kinds<'a>(kinds: impl Iterator<Item = &'a str>) -> Option<Self> {
        let kinds: Arc<[String]> = kinds
            .map(|kind| kind.trim().to_ascii_lowercase())
            .filter(|kind| (2..=LONGEST_KIND).contains(&kind.len()) && is_kind(kind))
            .take(MOST_KINDS)
            .collect();
        (!kinds.is_empty()).then_some(Self(kinds))
    }

    /// What any of these takes.
    #[must_use]
    pub fn any_of<'a>(all: impl Iterator<Item = &'a Self>) -> Option<Self> {
        Self::from_kinds(all.flat_map(|accept| accept.0.iter().map(String::as_str)))
    }

    /// Whether a file is of one of these kinds, by its name, by what its sender said, or by what its bytes show.
    #[must_use]
    pub fn takes(&self, name: &str, media_type: &str, picture: Option<Picture>) -> bool {
        let name = name.to_ascii_lowercase();
        let said = media_type.to_ascii_lowercase();
        let is_of = |kind: &str, media_type: &str| match kind.strip_suffix("/*") {
            Some("*") => true,
            Some(group) => media_type.split('/').next() == Some(group),
            None => media_type == kind,
        };
        self.0.iter().any(|kind| match kind.starts_with('.') {
            true => name.ends_with(kind.as_str()),
            false => is_of(kind, &said) || picture.is_some_and(|picture| is_of(kind, picture.as_str())),
        })
    }
}

/// As people read it: `` `text/csv` or `.csv` ``.
impl std::fmt::Display for Accept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, kind) in self.0.iter().enumerate() {
            let between = match number {
                0 => "",
                _ if number + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{between}`{kind}`")?;
        }
        Ok(())
    }
}

/// An ending or a media type. What is neither is passed over: it could fit nothing.
fn is_kind(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    match (text.strip_prefix('.'), text.split_once('/')) {
        (Some(ending), _) => word(ending),
        (None, Some((group, rest))) => (word(group) && (word(rest) || rest == "*")) || text == "*/*",
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_taken_by_its_name_its_type_or_its_bytes() {
        let check = |accept: Value, (name, media_type, picture): (&str, &str, Option<Picture>), expected| {
            let takes = Accept::of(&accept).unwrap().takes(name, media_type, picture);
            assert_eq!(takes, expected, "{accept} {name} {media_type}");
        };
        let table = json!(["text/csv", ".CSV", ".tsv"]);
        check(table.clone(), ("q3.csv", "application/octet-stream", None), true);
        check(table.clone(), ("Q3.TSV", "application/octet-stream", None), true);
        check(table.clone(), ("q3", "text/csv", None), true);
        check(table.clone(), ("q3.csv.exe", "application/x-msdownload", None), false);
        check(table, ("csv", "text/plain", None), false);
        check(json!("image/*, .pdf"), ("scan.pdf", "application/octet-stream", None), true);
        check(json!("image/*, .pdf"), ("scan", "Image/SVG+xml", None), true);
        check(json!("image/*"), ("scan", "application/octet-stream", Some(Picture::Png)), true);
        check(json!("image/*"), ("scan", "imagery/png", None), false);
        check(json!("image/jpeg"), ("scan", "application/octet-stream", Some(Picture::Png)), false);
        check(json!(["*/*"]), ("anything", "application/octet-stream", None), true);
    }

    #[test]
    fn what_names_no_kind_is_no_bound() {
        for nothing in
            [json!([]), json!(""), json!([1, null]), json!(true), json!(["csv", ".", "a/b/c", "`x`/y"])]
        {
            assert_eq!(Accept::of(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn kinds_read_as_a_sentence() {
        assert_eq!(Accept::parse("text/csv").unwrap().to_string(), "`text/csv`");
        assert_eq!(Accept::parse("text/csv,.csv,.tsv").unwrap().to_string(), "`text/csv`, `.csv` or `.tsv`");
    }
}

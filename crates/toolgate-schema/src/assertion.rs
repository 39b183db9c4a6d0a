//! Keywords that judge a value by itself, and what to say when one does not hold.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value, json};

use crate::check::Checked;
use crate::pattern::options;
use crate::shown;

/// The most options of an `enum` that are listed.
const MOST_OPTIONS: usize = 10;
/// The most characters of a schema's own text that are repeated: a pattern, and an option among others.
const MOST_TEXT: usize = 120;
const MOST_OPTION_TEXT: usize = 40;

/// What to say when the value breaks this keyword; nothing when it holds, or is not of this kind.
///
/// What is said comes from the schema alone.
pub(crate) fn broken(checked: &Checked, keyword: &str, wanted: &Value, value: &Value) -> Option<String> {
    match (keyword, value) {
        ("type", _) => (!is_of_type(wanted, value)).then(|| format!("must be {}", type_names(wanted))),
        ("enum", _) => {
            let options = wanted.as_array()?;
            let holds = options.iter().any(|option| same(option, value));
            (!holds).then(|| format!("must be {}", list_options(options)))
        }
        ("const", _) => (!same(wanted, value)).then(|| format!("must be {}", text_of(wanted))),
        (_, Value::Number(number)) => broken_number(checked, keyword, wanted, number, value),
        (_, Value::String(text)) => broken_text(checked, keyword, wanted, text, value),
        (_, Value::Array(items)) => {
            if keyword == "uniqueItems" {
                return (!holds_alone(checked, keyword, wanted, value))
                    .then(|| "must not have the same item twice".to_owned());
            }
            let unit = match keyword {
                "minItems" | "maxItems" => "item",
                _ => return None,
            };
            broken_length(keyword, wanted, items.len(), unit)
        }
        (_, Value::Object(fields)) => match keyword {
            "minProperties" | "maxProperties" => broken_length(keyword, wanted, fields.len(), "field"),
            _ => None,
        },
        (_, Value::Null | Value::Bool(_)) => None,
    }
}

/// Whether a value is of a type, or one of several.
pub(crate) fn is_of_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &Value| match (name.as_str(), value) {
        (Some("integer"), Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("number"), Value::Number(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => true,
        _ => false,
    };
    match wanted {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

/// Equal as JSON Schema has it: `1` is `1.0`, and the order of fields means nothing.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Whether the value holds against a schema of this one keyword.
fn holds_alone(checked: &Checked, keyword: &str, wanted: &Value, value: &Value) -> bool {
    let schema = Value::Object(Map::from_iter([(keyword.to_owned(), wanted.clone())]));
    options(checked.draft).build(&schema).is_ok_and(|validator| validator.is_valid(value))
}

fn broken_number(
    checked: &Checked,
    keyword: &str,
    wanted: &Value,
    number: &Number,
    value: &Value,
) -> Option<String> {
    if keyword == "multipleOf" {
        return (!holds_alone(checked, keyword, wanted, value))
            .then(|| format!("must be a multiple of {}", text_of(wanted)));
    }
    let Value::Number(limit) = wanted else { return None };
    let order = compare(number, limit)?;
    let (holds, relation) = match keyword {
        "minimum" => (order.is_ge(), "at least"),
        "maximum" => (order.is_le(), "at most"),
        "exclusiveMinimum" => (order.is_gt(), "greater than"),
        "exclusiveMaximum" => (order.is_lt(), "less than"),
        _ => return None,
    };
    (!holds).then(|| format!("must be {relation} {limit}"))
}

fn broken_text(
    checked: &Checked,
    keyword: &str,
    wanted: &Value,
    text: &str,
    value: &Value,
) -> Option<String> {
    match (keyword, wanted) {
        ("minLength" | "maxLength", _) => broken_length(keyword, wanted, text.chars().count(), "character"),
        ("pattern", Value::String(pattern)) => (!checked.patterns.matches(pattern, text))
            .then(|| format!("must match the pattern `{}`", cut(pattern, MOST_TEXT))),
        ("format", Value::String(format)) => (!holds_alone(checked, keyword, wanted, value))
            .then(|| format!("must be a valid `{}`", shown::name(format))),
        ("contentEncoding" | "contentMediaType", Value::String(name)) => {
            (!holds_alone(checked, keyword, wanted, value))
                .then(|| format!("must hold `{}`", cut(name, MOST_TEXT)))
        }
        _ => None,
    }
}

fn broken_length(keyword: &str, wanted: &Value, length: usize, unit: &str) -> Option<String> {
    let Value::Number(limit) = wanted else { return None };
    let order = compare(&Number::from(length), limit)?;
    let (holds, relation) =
        if keyword.starts_with("min") { (order.is_ge(), "at least") } else { (order.is_le(), "at most") };
    let plural = if limit.as_f64() == Some(1.0) { "" } else { "s" };
    (!holds).then(|| format!("must have {relation} {limit} {unit}{plural}"))
}

fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    let integer =
        |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn type_names(wanted: &Value) -> String {
    let name = |name: &Value| match name.as_str() {
        Some("integer") => "an integer",
        Some("array") => "an array",
        Some("object") => "an object",
        Some("boolean") => "true or false",
        Some("number") => "a number",
        Some("string") => "a string",
        _ => "null",
    };
    match wanted {
        Value::Array(names) => names.iter().map(name).collect::<Vec<_>>().join(" or "),
        one => name(one).to_owned(),
    }
}

fn list_options(options: &[Value]) -> String {
    let mut list = options.iter().take(MOST_OPTIONS).map(text_of).collect::<Vec<_>>().join(", ");
    if options.len() > MOST_OPTIONS {
        list.push_str(&format!(", or one of {} others", options.len() - MOST_OPTIONS));
    }
    if options.len() == 1 { list } else { format!("one of {list}") }
}

/// A value of the schema, cut short.
fn text_of(value: &Value) -> String {
    match value {
        // Cut first: writing out a long text to show its start would be waste.
        Value::String(text) => json!(cut(text, MOST_OPTION_TEXT)).to_string(),
        Value::Array(_) => "a certain array".to_owned(),
        Value::Object(_) => "a certain object".to_owned(),
        plain => plain.to_string(),
    }
}

fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).filter(|c| !c.is_control()).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

//! A schema as clients are shown it: in its own dialect and words, but for what would keep a client from reading it.
//!
//! A client reads the list of all tools at once, and one schema it does not understand costs it every tool. What is
//! changed here means the same, or says a little less.

use serde_json::{Map, Value, json};

use crate::check::Role;
use crate::keyword::{Takes, is_count, is_number, is_schema, limit_keyword, names, takes, types, values};
use crate::place::{Places, Target, holds_values};
use crate::portable::is_portable;

/// The longest chain of references from the top that is followed.
const MOST_LINKS: usize = 8;

type Keywords = Map<String, Value>;

/// A registered schema as clients are shown it.
///
/// - An input is always an object's, with its fields at the top even if the schema refers to them.
/// - A boolean where a field's or a form's schema stands is written as an object.
/// - What no dialect takes, references to nothing and ids that two tools could share are left out; limits of draft-04
///   are written as later dialects have them.
/// - Of an output, regular expressions that not every client's language has are left out as well, for clients compile
///   those.
#[must_use]
pub fn for_clients(schema: &Value, role: Role) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let shower = Shower { root: schema, places: Places::of(schema), role, by_place: refers_by_place(schema) };
    let mut top = shower.keywords(&at_the_top(keywords, &shower));
    if role == Role::Input {
        top.insert("type".to_owned(), "object".into());
        top.entry("properties").or_insert_with(|| json!({}));
    } else if !top.contains_key("type") && top.contains_key("properties") {
        top.insert("type".to_owned(), "object".into());
    }
    let named = top.get("$schema").and_then(Value::as_str);
    if named.is_none_or(|named| named.contains("2020-12")) && has_tuple(schema) {
        top.insert("$schema".to_owned(), DRAFT_07.into());
    }
    // Some clients take a boolean here and nothing else.
    if top.get("additionalProperties") == Some(&json!({})) {
        top.insert("additionalProperties".to_owned(), true.into());
    }
    Value::Object(top)
}

/// The schema with what it refers to at its top, since clients read the fields there.
fn at_the_top(keywords: &Keywords, shower: &Shower<'_>) -> Keywords {
    let mut top = keywords.clone();
    for _ in 0..MOST_LINKS {
        let Some(Value::String(reference)) = top.get("$ref") else { break };
        let Target::Schema(Value::Object(target), _) = shower.places.target(reference, shower.root) else {
            break;
        };
        if std::ptr::eq(target, keywords) {
            break;
        }
        top.shift_remove("$ref");
        for (keyword, held) in target {
            top.entry(keyword.clone()).or_insert_with(|| held.clone());
        }
    }
    top
}

struct Shower<'a> {
    root: &'a Value,
    places: Places<'a>,
    role: Role,
    /// Whether ids mean nothing, because no reference uses one.
    by_place: bool,
}

impl Shower<'_> {
    /// The dialect as it is shown. Without one, 2020-12 is meant; of an output it is not said, since some validators
    /// that have only older ones would rather compile nothing than try.
    fn dialect(&self, named: &Value) -> Option<Value> {
        let uri = named.as_str()?.trim_end_matches('#');
        let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match uri.strip_prefix("json-schema.org/")? {
            "draft-04/schema" => Some(DRAFT_07.into()),
            "draft-06/schema" | "draft-07/schema" | "draft/2019-09/schema" => Some(named.clone()),
            "draft/2020-12/schema" if self.role == Role::Input => Some(named.clone()),
            _ => None,
        }
    }

    fn schema(&self, schema: &Value) -> Value {
        match schema {
            Value::Object(keywords) => Value::Object(self.keywords(keywords)),
            Value::Bool(false) => json!({ "not": {} }),
            _ => json!({}),
        }
    }

    fn keywords(&self, keywords: &Keywords) -> Keywords {
        let mut shown = Map::new();
        for (keyword, held) in keywords {
            if let Some((keyword, held)) = self.keyword(keyword, held, keywords) {
                shown.insert(keyword.to_owned(), held);
            }
        }
        // The most used validator in JavaScript does not take it alone.
        if shown.contains_key("nullable") && !shown.contains_key("type") {
            shown.shift_remove("nullable");
            if keywords.get("nullable") == Some(&Value::Bool(true))
                && let Some(reference) = shown.shift_remove("$ref")
            {
                shown.insert("anyOf".to_owned(), json!([{ "$ref": reference }, { "type": "null" }]));
            }
        }
        shown
    }

    fn keyword<'k>(&self, keyword: &'k str, held: &Value, beside: &Keywords) -> Option<(&'k str, Value)> {
        let copy = || held.clone();
        let shown = match keyword {
            "$id" | "id" if held.is_string() && (self.by_place || keyword == "id") => None,
            "$schema" => self.dialect(held),
            "$ref" => {
                let found = self.places.target(held.as_str()?, self.root);
                (!matches!(found, Target::Nothing)).then(copy)
            }
            "pattern" if self.role == Role::Output => held.as_str().is_some_and(is_portable).then(copy),
            _ => match takes(keyword) {
                None | Some(Takes::Anything) => Some(copy()),
                Some(Takes::Schema) => is_schema(held).then(|| self.schema(held)),
                Some(Takes::Rest) if held.is_boolean() => Some(copy()),
                Some(Takes::Rest) => is_schema(held).then(|| self.schema(held)),
                Some(Takes::SchemaOrList) if is_schema(held) => Some(self.schema(held)),
                Some(Takes::List | Takes::SchemaOrList) => {
                    let items = held.as_array().filter(|items| !items.is_empty())?;
                    Some(items.iter().map(|item| self.schema(item)).collect())
                }
                Some(Takes::Schemas) => {
                    let schemas =
                        held.as_object()?.iter().map(|(name, schema)| (name.clone(), self.schema(schema)));
                    Some(Value::Object(schemas.collect()))
                }
                Some(Takes::Dependents) => {
                    let dependents = held.as_object()?.iter().filter_map(|(name, dependent)| {
                        let dependent =
                            names(dependent).or_else(|| is_schema(dependent).then(|| self.schema(dependent)));
                        Some((name.clone(), dependent?))
                    });
                    Some(Value::Object(dependents.collect()))
                }
                Some(Takes::Types) => types(held),
                Some(Takes::Number | Takes::Exclusive) => is_number(keyword, held).then(copy),
                Some(Takes::Count) => is_count(held).then(copy),
                Some(Takes::Flag) => held.is_boolean().then(copy),
                Some(Takes::Text) => held.is_string().then(copy),
                Some(Takes::Names) => names(held),
                Some(Takes::Values) => values(held),
            },
        };
        let keyword = limit_keyword(keyword, |other| beside.get(other) == Some(&Value::Bool(true)));
        Some((keyword, shown?))
    }
}

/// The dialect that older ones are shown as: every validator has it, and their limits were written in its way.
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

/// Whether a place of a list has a schema of its own in `items`, which 2020-12 does not take.
fn has_tuple(schema: &Value) -> bool {
    any_part(
        schema,
        |keyword| !holds_values(keyword),
        |fields| {
            fields.get("items").and_then(Value::as_array).is_some_and(|items| items.iter().any(is_schema))
        },
    )
}

/// Whether every reference begins at the top.
fn refers_by_place(schema: &Value) -> bool {
    !any_part(
        schema,
        |_| true,
        |fields| {
            fields.get("$ref").and_then(Value::as_str).is_some_and(|reference| !reference.starts_with('#'))
        },
    )
}

/// Whether something is so of any object in a schema. Keywords that are not `followed` are not looked into.
fn any_part(
    schema: &Value,
    followed: impl Fn(&str) -> bool,
    is_so: impl Fn(&Map<String, Value>) -> bool,
) -> bool {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) if is_so(fields) => return true,
            Value::Object(fields) => {
                rest.extend(fields.iter().filter(|(keyword, _)| followed(keyword)).map(|(_, held)| held));
            }
            _ => {}
        }
    }
    false
}

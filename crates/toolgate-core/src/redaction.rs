//! Redaction by allowlist: what is not named is stripped.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::contract::Redaction;

/// A redaction list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRedaction {
    /// Nothing is allowed: say so on purpose by declaring a field, or allow `*`.
    #[error("`allow` is empty: name the output fields that may be shown, or `*`")]
    Empty,
    /// A path with empty or too many parts.
    #[error("`{0}` is not a field path such as `total` or `rows.*.name`")]
    Path(String),
    /// The output schema has no such field.
    #[error("`{0}` is not a property of the output schema")]
    Unknown(String),
}

/// A value that can't be redacted by field: it is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the result is not an object, so its fields can't be told apart")]
pub struct NotRedactable;

/// A compiled allowlist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redactor {
    /// Everything may be shown, by an explicit `*`.
    ShowAll,
    /// Only these fields.
    Fields(Fields),
}

/// The fields allowed at one level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    whole: bool,
    named: HashMap<String, Fields>,
    each: Option<Box<Fields>>,
}

impl Redactor {
    /// Compiles an allowlist against the output schema it is for.
    ///
    /// # Errors
    /// When a path is malformed or names a field that the schema does not declare.
    pub fn compile(redaction: &Redaction, output_schema: &Value) -> Result<Self, BadRedaction> {
        if redaction.allow.is_empty() {
            return Err(BadRedaction::Empty);
        }
        if redaction.allow.iter().any(|path| path == "*") {
            return Ok(Self::ShowAll);
        }
        let declared = output_schema.get("properties").and_then(Value::as_object);
        let mut root = Fields::default();
        for path in &redaction.allow {
            let parts: Vec<&str> = path.split('.').collect();
            if parts.len() > 16 || parts.iter().any(|part| part.is_empty()) {
                return Err(BadRedaction::Path(path.clone()));
            }
            if declared.is_some_and(|fields| parts[0] != "*" && !fields.contains_key(parts[0])) {
                return Err(BadRedaction::Unknown(path.clone()));
            }
            root.allow(&parts);
        }
        Ok(Self::Fields(root))
    }

    /// The part of a value that may be shown.
    ///
    /// # Errors
    /// When the value has no fields to choose from.
    pub fn redact(&self, value: Value) -> Result<Value, NotRedactable> {
        match (self, value) {
            (Self::ShowAll, value) => Ok(value),
            (Self::Fields(fields), Value::Object(object)) => Ok(Value::Object(fields.keep_object(object))),
            (Self::Fields(_), _) => Err(NotRedactable),
        }
    }
}

impl Fields {
    fn allow(&mut self, path: &[&str]) {
        match path {
            [] => self.whole = true,
            ["*", rest @ ..] => self.each.get_or_insert_default().allow(rest),
            [name, rest @ ..] => self.named.entry((*name).to_owned()).or_default().allow(rest),
        }
    }

    fn keep(&self, value: Value) -> Option<Value> {
        if self.whole {
            return Some(value);
        }
        match value {
            Value::Object(object) => Some(Value::Object(self.keep_object(object))),
            Value::Array(items) => {
                let each = self.each.as_ref()?;
                Some(Value::Array(items.into_iter().filter_map(|item| each.keep(item)).collect()))
            }
            // The list names something inside; a plain value has no inside, so it is not what was allowed.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn keep_object(&self, object: Map<String, Value>) -> Map<String, Value> {
        object
            .into_iter()
            .filter_map(|(key, value)| {
                let fields = self.named.get(&key).or(self.each.as_deref())?;
                fields.keep(value).map(|kept| (key, kept))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(allow: &[&str], value: Value, expected: Value) {
        let redaction = Redaction { allow: allow.iter().map(|&s| s.to_owned()).collect() };
        let redactor = Redactor::compile(&redaction, &json!({})).unwrap();
        assert_eq!(redactor.redact(value), Ok(expected));
    }

    #[test]
    fn only_named_fields_stay() {
        check(&["a"], json!({"a": {"x": 1}, "b": 2}), json!({"a": {"x": 1}}));
        check(&["a.x"], json!({"a": {"x": 1, "y": 2}, "b": 2}), json!({"a": {"x": 1}}));
        check(
            &["rows.*.n"],
            json!({"rows": [{"n": 1, "s": 2}, {"s": 3}, 4]}),
            json!({"rows": [{"n": 1}, {}]}),
        );
        check(&["a.x"], json!({"a": "plain"}), json!({}));
        check(&["*"], json!("anything"), json!("anything"));
        check(&["*.x"], json!({"a": {"x": 1, "y": 2}}), json!({"a": {"x": 1}}));
    }

    #[test]
    fn what_has_no_fields_is_withheld() {
        let redactor = Redactor::compile(&Redaction { allow: vec!["a".into()] }, &json!({})).unwrap();
        assert_eq!(redactor.redact(json!(["a"])), Err(NotRedactable));
    }

    #[test]
    fn lists_are_checked_against_the_schema() {
        let schema = json!({"properties": {"a": {}}});
        let compile = |allow: &[&str]| {
            Redactor::compile(&Redaction { allow: allow.iter().map(|&s| s.to_owned()).collect() }, &schema)
        };
        assert!(compile(&["a.b"]).is_ok());
        assert_eq!(compile(&[]), Err(BadRedaction::Empty));
        assert_eq!(compile(&["b"]), Err(BadRedaction::Unknown("b".into())));
        assert_eq!(compile(&["a..b"]), Err(BadRedaction::Path("a..b".into())));
    }
}

//! What the two sides can do.

use serde_json::{Map, Value, json};

/// The extension whose clients can be handed a task instead of a result.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The largest declaration that is kept whole in a session.
const MAX_KEPT: usize = 2048;

/// What a client declared.
#[derive(Debug, Clone)]
pub struct ClientCapabilities {
    /// Can show a form.
    pub form: bool,
    /// Can open an address.
    pub url: bool,
    /// Can be handed a task.
    pub tasks: bool,
    declared: Value,
}

impl ClientCapabilities {
    /// A client that declared nothing.
    #[must_use]
    pub fn none() -> Self {
        Self { form: false, url: false, tasks: false, declared: Value::Object(Map::new()) }
    }

    /// What these words declare.
    #[must_use]
    pub fn of(declared: &Value) -> Self {
        let elicitation = declared.get("elicitation").and_then(Value::as_object);
        Self {
            // An empty declaration is one of forms, from the time when there was nothing else.
            form: elicitation.is_some_and(|modes| modes.contains_key("form") || !modes.contains_key("url")),
            url: elicitation.is_some_and(|modes| modes.contains_key("url")),
            tasks: declared.pointer("/extensions").and_then(|e| e.get(TASKS)).is_some_and(Value::is_object),
            declared: declared.clone(),
        }
    }

    /// The declaration, as it came.
    #[must_use]
    pub const fn declared(&self) -> &Value {
        &self.declared
    }

    /// The declaration for a session's id: whole where it is small, else what is known of it.
    #[must_use]
    pub fn to_keep(&self) -> Value {
        if self.declared.to_string().len() <= MAX_KEPT {
            return self.declared.clone();
        }
        let mut kept = Map::new();
        if self.form || self.url {
            let mut modes = Map::new();
            for (name, is) in [("form", self.form), ("url", self.url)] {
                if is {
                    modes.insert(name.to_owned(), json!({}));
                }
            }
            kept.insert("elicitation".to_owned(), Value::Object(modes));
        }
        Value::Object(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_what_may_be_used() {
        let of = |declared: Value| {
            let c = ClientCapabilities::of(&declared);
            (c.form, c.url, c.tasks)
        };
        assert_eq!(of(json!({})), (false, false, false));
        assert_eq!(of(json!({ "elicitation": {} })), (true, false, false));
        assert_eq!(of(json!({ "elicitation": { "url": {} } })), (false, true, false));
        assert_eq!(of(json!({ "elicitation": { "url": {}, "form": {} } })), (true, true, false));
        assert_eq!(of(json!({ "extensions": { TASKS: {} } })), (false, false, true));
        assert_eq!(of(json!({ "extensions": { TASKS: true }, "elicitation": 1 })), (false, false, false));
    }
}

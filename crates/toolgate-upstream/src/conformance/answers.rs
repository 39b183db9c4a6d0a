//! Answers to a server's questions: a form with its own defaults.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::interaction::Interaction;
use crate::question::Refusal;

/// Accepts each form as it is filled in already; what has no default gets a plain value.
pub(super) struct Defaults;

#[async_trait]
impl Interaction for Defaults {
    async fn answer(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        if method != "elicitation/create" {
            return Err(Refusal::NoForm);
        }
        let properties = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
        let required = params.get("requestedSchema").and_then(|schema| schema.get("required"));
        let required = required.and_then(Value::as_array).cloned().unwrap_or_default();
        let mut content = Map::new();
        for (name, property) in properties.and_then(Value::as_object).into_iter().flatten() {
            match property.get("default") {
                Some(default) => drop(content.insert(name.clone(), default.clone())),
                None if required.iter().any(|key| key == name) => {
                    content.insert(name.clone(), plain(property));
                }
                None => {}
            }
        }
        Ok(json!({ "action": "accept", "content": content }))
    }
}

fn plain(property: &Value) -> Value {
    match property.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(true),
        Some("number" | "integer") => json!(1),
        _ => property.get("enum").and_then(|values| values.get(0)).cloned().unwrap_or_else(|| json!("test")),
    }
}

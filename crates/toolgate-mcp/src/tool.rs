//! Tools as clients see them: the contract, schemas in a form that every client can read, and hints derived from effect
//! and egress.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_core::contract::{Binding, Effect, Egress, ToolContract};
use toolgate_core::upstream::is_undeclared;
use toolgate_core::{BoundTool, JsonText};
use toolgate_schema::{Role, for_clients};

use crate::header::{ParamHeader, param_headers};

/// The hints that MCP has for what a call does and what leaves the house. Hints for people and models: nothing here is
/// decided by them.
#[must_use]
pub fn annotations(effect: Effect, egress: Egress, idempotent: bool, title: &str) -> Value {
    json!({
        "title": title,
        "readOnlyHint": effect == Effect::Read && egress != Egress::Write,
        "destructiveHint": effect == Effect::Destructive,
        "idempotentHint": effect == Effect::Read || idempotent,
        "openWorldHint": egress != Egress::None,
    })
}

/// A tool as clients see it.
#[derive(Debug)]
pub(crate) struct ToolEntry {
    /// Its entry in a list, for the modern era.
    pub modern: Arc<str>,
    /// Its entry in a list, for the handshake era.
    pub legacy: Arc<str>,
    /// What of its input travels in headers too.
    pub headers: Vec<ParamHeader>,
}

impl ToolEntry {
    /// The entry of a tool under this name.
    #[must_use]
    pub(crate) fn of(contract: &ToolContract, name: &str, hidden: Option<&str>) -> Self {
        let input = match hidden {
            Some(key) => without_property(contract.input_schema.to_value(), key).into(),
            None => contract.input_schema.clone(),
        };
        let input = for_clients(&input.to_value(), Role::Input);
        let declared = contract.output_schema.to_value();
        let output = for_clients(&declared, Role::Output);
        // Clients of the handshake era take an output schema for an object's; one that says otherwise is left out.
        let is_object = output.get("type").and_then(Value::as_str) == Some("object");
        let (headers, input, output) =
            (param_headers(&input), JsonText::from_value(&input), JsonText::from_value(&output));
        let mut entry = Entry {
            name,
            title: &contract.title,
            description: &contract.description,
            input: &input,
            annotations: annotations(contract.effect, contract.egress, contract.idempotent, &contract.title),
            icons: icon(&contract.icon).map(|icon| json!([{ "src": icon }])),
            meta: meta(contract),
            output: None,
        };
        let without = entry.text();
        if hidden.is_some() || is_undeclared(&declared) {
            // A tool that speaks in content blocks promises no structure to clients.
            return Self { modern: without.clone(), legacy: without, headers };
        }
        entry.output = Some(&output);
        let with = entry.text();
        Self { legacy: if is_object { with.clone() } else { without }, modern: with, headers }
    }
}

/// What a list says of a tool.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    #[serde(rename = "inputSchema")]
    input: &'a JsonText,
    annotations: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Value,
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    output: Option<&'a JsonText>,
}

impl Entry<'_> {
    fn text(&self) -> Arc<str> {
        Arc::from(serde_json::to_string(self).unwrap_or_default())
    }
}

fn meta(contract: &ToolContract) -> Value {
    let mut meta = json!({ "toolgate/effect": contract.effect, "toolgate/egress": contract.egress });
    if matches!(contract.execution, Binding::Mcp { .. }) {
        meta["toolgate/untrusted"] = true.into();
    }
    meta
}

/// An icon that a client could show: an address or a picture in full. Names of our own drawings mean nothing to others.
fn icon(icon: &str) -> Option<&str> {
    (icon.starts_with("https://") || icon.starts_with("data:image/")).then_some(icon)
}

fn without_property(mut schema: Value, key: &str) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove(key);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != key);
        if required.is_empty()
            && let Some(fields) = schema.as_object_mut()
        {
            fields.shift_remove("required");
        }
    }
    schema
}

/// The most entries that are remembered.
const MOST: usize = 20_000;

/// Entries made before: a contract of the same version has the same entry.
#[derive(Debug, Default)]
pub(crate) struct ToolEntries(RwLock<HashMap<(String, String), Arc<ToolEntry>>>);

impl ToolEntries {
    /// The entry of a tool under this name.
    #[must_use]
    pub(crate) fn get(&self, tool: &BoundTool, name: &str, hidden: Option<&str>) -> Arc<ToolEntry> {
        let key = (tool.version.0.clone(), name.to_owned());
        if let Some(entry) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(ToolEntry::of(&tool.contract, name, hidden));
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Arc::clone(&entry));
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_follow_effect_and_egress() {
        let hints = |effect, egress, idempotent| {
            let a = annotations(effect, egress, idempotent, "t");
            ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(|k| a[k] == true)
        };
        assert_eq!(hints(Effect::Read, Egress::None, false), [true, false, true, false]);
        assert_eq!(hints(Effect::Read, Egress::ReadOnly, false), [true, false, true, true]);
        assert_eq!(hints(Effect::Mutate, Egress::None, true), [false, false, true, false]);
        assert_eq!(hints(Effect::Mutate, Egress::Write, false), [false, false, false, true]);
        assert_eq!(hints(Effect::Destructive, Egress::None, false), [false, true, false, false]);
    }

    #[test]
    fn only_pictures_are_icons() {
        assert_eq!(icon("wrench"), None);
        assert_eq!(icon("javascript:alert(1)"), None);
        assert_eq!(icon("http://plain.example/x.png"), None);
        assert!(icon("https://example.com/x.png").is_some());
        assert!(icon("data:image/png;base64,AA==").is_some());
    }
}

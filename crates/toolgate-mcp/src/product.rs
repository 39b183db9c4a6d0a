//! What the gate itself offers beside tools: its tools and calls as resources, a prompt with a tool's instructions, and
//! completion of tool ids. Nothing is shown that the caller may not see anyway.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate_core::Invocation;
use toolgate_core::output::Kept;

use crate::gate::McpGate;
use crate::offering::{Asker, OfferError, Offered, Offerings};
use crate::plane::{PlaneError, Selection};

const TOOLS: &str = "toolgate://tools/";
const CALLS: &str = "toolgate://calls/";
const USE_TOOL: &str = "use_tool";
/// The most completions the protocol takes.
const MAX_VALUES: usize = 100;

/// The gate's own offerings at one endpoint.
pub(crate) struct ProductOfferings<'a> {
    gate: &'a McpGate,
    selection: &'a Selection,
}

impl<'a> ProductOfferings<'a> {
    pub(crate) const fn new(gate: &'a McpGate, selection: &'a Selection) -> Self {
        Self { gate, selection }
    }

    fn tool_text(&self, asker: &Asker<'_>, id: &str) -> Option<String> {
        let id = self.selection.id_of(id)?;
        let tool = self.gate.plane.tool(asker.actor, self.selection, &id)?;
        Some(self.gate.entry(self.selection, &tool).modern.to_string())
    }
}

fn unknown(what: &'static str, field: &'static str, value: &str) -> OfferError {
    OfferError::Unknown { what, field, value: value.chars().take(512).collect() }
}

#[async_trait]
impl Offerings for ProductOfferings<'_> {
    async fn prompts(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        Ok(vec![json!({
            "name": USE_TOOL,
            "title": "Use a tool",
            "description": "The operating instructions of one tool: when to use it, what it takes, what it does.",
            "arguments": [{ "name": "tool", "description": "the id of the tool", "required": true }],
        })])
    }

    async fn prompt(
        &self,
        asker: &Asker<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Offered, OfferError> {
        if name != USE_TOOL {
            return Err(unknown("prompt", "name", name));
        }
        let id = arguments.get("tool").and_then(Value::as_str).unwrap_or_default();
        let tool =
            self.selection.id_of(id).and_then(|id| self.gate.plane.tool(asker.actor, self.selection, &id));
        let Some(tool) = tool else { return Err(unknown("tool", "tool", id)) };
        let contract = &tool.contract;
        let text = format!(
            "Use the tool `{}` ({}).\n\n{}\n\nEffect: {}. What leaves the house: {}.\n\nIts input schema:\n{}",
            contract.id,
            contract.title,
            contract.description,
            contract.effect.as_str(),
            contract.egress.as_str(),
            contract.input_schema.as_str(),
        );
        Ok(Offered::Complete(json!({
            "description": format!("how to use {}", contract.id),
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
        })))
    }

    async fn resources(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        // Tools have a list of their own, and calls are many: both are found by template.
        Ok(Vec::new())
    }

    async fn templates(&self, _: &Asker<'_>) -> Result<Vec<Value>, OfferError> {
        let template = |start: &str, name: &str, title: &str, description: &str| {
            json!({
                "uriTemplate": format!("{start}{{id}}"), "name": name, "title": title,
                "description": description, "mimeType": "application/json",
            })
        };
        Ok(vec![
            template(CALLS, "call", "A call", "how a call stands: its status, result or error, by call id"),
            template(
                TOOLS,
                "tool",
                "A tool",
                "a tool in full: description, schemas, effect and egress, by id",
            ),
        ])
    }

    async fn read(&self, asker: &Asker<'_>, uri: &str) -> Result<Offered, OfferError> {
        let missing = || unknown("resource", "uri", uri);
        let text = if let Some(id) = uri.strip_prefix(TOOLS) {
            self.tool_text(asker, id).ok_or_else(missing)?
        } else if let Some(id) = uri.strip_prefix(CALLS) {
            let id = id.parse().map_err(|_| missing())?;
            match self.gate.plane.read(asker.actor, id).await {
                Ok(invocation) if !self.gate.within(asker.actor, self.selection, &invocation) => {
                    return Err(missing());
                }
                Ok(invocation) => call_text(&invocation),
                Err(PlaneError::NotFound) => return Err(missing()),
                Err(other) => {
                    let error = crate::rpc_error::RpcError::from(other);
                    return Err(OfferError::Rpc {
                        code: error.code,
                        message: error.message,
                        data: error.data,
                    });
                }
            }
        } else {
            return Err(missing());
        };
        let contents = json!([{ "uri": uri, "mimeType": "application/json", "text": text }]);
        Ok(Offered::Complete(json!({ "contents": contents })))
    }

    async fn complete(
        &self,
        asker: &Asker<'_>,
        reference: &Value,
        argument: &str,
        value: &str,
    ) -> Result<Value, OfferError> {
        let field = |key: &str| reference.get(key).and_then(Value::as_str);
        let completes_tools = match field("type") {
            Some("ref/prompt") => match field("name") {
                Some(USE_TOOL) => argument == "tool",
                other => return Err(unknown("prompt", "name", other.unwrap_or_default())),
            },
            Some("ref/resource") => match field("uri") {
                Some(uri) if uri.starts_with(TOOLS) => argument == "id",
                Some(uri) if uri.starts_with(CALLS) => false,
                other => return Err(unknown("resource", "uri", other.unwrap_or_default())),
            },
            other => return Err(unknown("reference", "type", other.unwrap_or_default())),
        };
        if !completes_tools {
            return Ok(json!({ "values": [], "total": 0, "hasMore": false }));
        }
        let tools = self.gate.plane.tools(asker.actor, self.selection, "", usize::MAX);
        let ids: Vec<&str> =
            tools.iter().map(|tool| tool.contract.id.as_str()).filter(|id| id.starts_with(value)).collect();
        let shown = &ids[..ids.len().min(MAX_VALUES)];
        Ok(json!({ "values": shown, "total": ids.len(), "hasMore": ids.len() > shown.len() }))
    }
}

fn call_text(invocation: &Invocation) -> String {
    let opened = &invocation.opened;
    let kept = invocation.output.as_ref().map(Kept::of);
    let (result, content) = kept.map_or((None, None), |kept| (Some(kept.value), kept.content));
    let mut told = json!({
        "call_id": opened.id,
        "tool": opened.tool,
        "status": invocation.status,
        "approval": invocation.approval,
        "result": result,
        "error": invocation.error,
        "reason": invocation.reason,
    });
    if let Some(content) = content {
        told["content"] = json!(content);
    }
    told.to_string()
}

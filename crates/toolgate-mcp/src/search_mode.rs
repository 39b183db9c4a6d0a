//! An endpoint with three tools for a catalog of thousands: find, look, call. What is called runs as itself, under its
//! own policy and in its own record.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::BoundTool;
use toolgate_core::contract::{Effect, Egress};
use toolgate_core::id::ToolName;

use crate::call::unknown_tool;
use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::result::ResultText;
use crate::rpc_error::RpcError;
use crate::search::Query;
use crate::tool::annotations;

const MAX_FOUND: usize = 50;
const USUAL_FOUND: usize = 10;
const MAX_LINE: usize = 200;

/// What one of the three led to.
pub(crate) enum Found {
    /// A result.
    Result(String),
    /// A call of the tool itself.
    Call { tool: Arc<BoundTool>, arguments: Value },
    /// A call of a tool that this caller may not have, and what they are told.
    Refused { tool: ToolName, arguments: Value, said: String },
}

/// Whether a name is that of one of the three.
pub(crate) fn has(name: &str) -> bool {
    matches!(name, "search_tools" | "describe_tool" | "call_tool")
}

/// The entries of the three tools.
pub(crate) fn entries() -> String {
    let look = |title: &str| annotations(Effect::Read, Egress::None, true, title);
    json!([
        {
            "name": "search_tools",
            "title": "Search tools",
            "description": "Finds tools by words. Start here: say what you want to do. Then look at one with \
                            `describe_tool` and call it with `call_tool`.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "what you want to do, in a few words" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MAX_FOUND, "default": USUAL_FOUND }
                },
                "required": ["query"],
                "additionalProperties": false
            },
            "annotations": look("Search tools")
        },
        {
            "name": "describe_tool",
            "title": "Describe a tool",
            "description": "Shows one tool in full: when to use it, what it takes and what it gives.",
            "inputSchema": {
                "type": "object",
                "properties": { "tool": { "type": "string", "description": "the id, as `search_tools` shows it" } },
                "required": ["tool"],
                "additionalProperties": false
            },
            "annotations": look("Describe a tool")
        },
        {
            "name": "call_tool",
            "title": "Call a tool",
            "description": "Calls a tool that you have looked at with `describe_tool`. It is checked and recorded as \
                            that tool; some calls wait for a person.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tool": { "type": "string", "description": "the id" },
                    "arguments": { "type": "object", "description": "what its input schema asks for" }
                },
                "required": ["tool"],
                "additionalProperties": false
            },
            "annotations": annotations(Effect::Destructive, Egress::Write, false, "Call a tool")
        }
    ])
    .to_string()
}

/// Runs one of the three.
pub(crate) fn run(
    gate: &McpGate,
    x: &Exchange<'_>,
    name: &str,
    mut arguments: Value,
) -> Result<Found, RpcError> {
    match name {
        "search_tools" => Ok(Found::Result(search(gate, x, &arguments))),
        "describe_tool" => {
            let (tool, id) = match named(gate, x, &arguments) {
                Ok(found) => found,
                Err((said, _)) => return Ok(Found::Result(said)),
            };
            let entry = gate.entry(x.selection, &tool);
            let shown = if x.client.is_modern() { &entry.modern } else { &entry.legacy };
            tracing::debug!(tool = %id, "a tool was looked at");
            Ok(Found::Result(structured(x, shown)))
        }
        "call_tool" => {
            let named = named(gate, x, &arguments);
            let inner = arguments.get_mut("arguments").map(Value::take).unwrap_or_else(|| json!({}));
            Ok(match named {
                Ok((tool, _)) => Found::Call { tool, arguments: inner },
                Err((said, Some(tool))) => Found::Refused { tool, arguments: inner, said },
                Err((said, None)) => Found::Result(said),
            })
        }
        other => Err(unknown_tool(other)),
    }
}

fn search(gate: &McpGate, x: &Exchange<'_>, arguments: &Value) -> String {
    let Some(text) = arguments.get("query").and_then(Value::as_str) else {
        return failed(x, "`query` must be a text", "say what you want to do, in a few words");
    };
    let limit = arguments.get("limit").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let limit = limit.unwrap_or(USUAL_FOUND).clamp(1, MAX_FOUND);
    let query = Query::of(&text.chars().take(500).collect::<String>());
    let tools = gate.plane.tools(x.actor, x.selection, "", usize::MAX);
    let mut found: Vec<(u32, &Arc<BoundTool>)> = tools
        .iter()
        .map(|tool| (query.score(&tool.contract), tool))
        .filter(|(score, _)| *score > 0)
        .collect();
    // The order of ids breaks ties, so that the same question has the same answer.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let shown: Vec<Value> = found
        .iter()
        .take(limit)
        .map(|(_, tool)| {
            let contract = &tool.contract;
            let line: String =
                contract.description.lines().next().unwrap_or_default().chars().take(MAX_LINE).collect();
            json!({
                "tool": contract.id, "title": contract.title, "description": line,
                "effect": contract.effect, "egress": contract.egress,
            })
        })
        .collect();
    structured(x, &json!({ "tools": shown, "found": found.len() }).to_string())
}

/// The tool that is meant; else what is told, and the id that was asked for where it could be a tool's.
fn named(
    gate: &McpGate,
    x: &Exchange<'_>,
    arguments: &Value,
) -> Result<(Arc<BoundTool>, String), (String, Option<ToolName>)> {
    let hint = "find one with `search_tools`";
    let Some(name) = arguments.get("tool").and_then(Value::as_str) else {
        return Err((failed(x, "`tool` must be the id of a tool", hint), None));
    };
    let id = x.selection.id_of(name);
    match id.as_ref().and_then(|id| gate.plane.tool(x.actor, x.selection, id)) {
        Some(tool) => Ok((tool, name.to_owned())),
        None => Err((failed(x, "there is no such tool that you may call", hint), id)),
    }
}

fn structured(x: &Exchange<'_>, value: &str) -> String {
    let mut result = ResultText::complete(x.client);
    result.field("content", &json!([{ "type": "text", "text": value }]));
    result.raw("structuredContent", value);
    result.finish()
}

fn failed(x: &Exchange<'_>, message: &str, hint: &str) -> String {
    let error = toolgate_core::CallError::new(toolgate_core::ErrorCode::Validation, message).hint(hint);
    crate::content::error_text(x.client, &error).finish()
}

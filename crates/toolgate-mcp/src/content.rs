//! A call's outcome as a tool result: content blocks, structure, and failures that a model can read.

use serde_json::{Map, Value, json};
use toolgate_core::{CallError, CallResult, ErrorCode, Status};

use crate::era::Client;
use crate::result::ResultText;

/// The key of the call id in `_meta`.
pub(crate) const CALL_ID: &str = "toolgate/call_id";

/// The result of a call that is settled.
#[must_use]
pub(crate) fn settled(client: &Client, result: &CallResult) -> String {
    match (&result.value, &result.error) {
        (Some(value), None) => succeeded(client, result, value.as_str()),
        (_, error) => failed(client, result, error.as_ref()),
    }
}

fn succeeded(client: &Client, result: &CallResult, value: &str) -> String {
    let mut text = ResultText::complete(client);
    text.raw("content", &content(value));
    // Clients of the handshake era take structure for an object.
    if client.is_modern() || value.starts_with('{') {
        text.raw("structuredContent", value);
    }
    text.meta(CALL_ID, &result.call_id);
    if let Some(input) = &result.edited_input {
        text.meta("toolgate/edited_input", input);
    }
    text.finish()
}

/// A value whose `content` is made of content blocks is shown as these; any other as its own text.
fn content(value: &str) -> String {
    // Only a value with such a key needs a closer look.
    if value.starts_with('{')
        && value.contains("\"content\"")
        && let Ok(fields) = serde_json::from_str::<Map<String, Value>>(value)
        && let Some(Value::Array(blocks)) = fields.get("content")
        && !blocks.is_empty()
        && blocks.iter().all(is_block)
    {
        return Value::Array(blocks.clone()).to_string();
    }
    let mut text = String::with_capacity(value.len() + 40);
    text.push_str("[{\"type\":\"text\",\"text\":");
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
    text.push_str("}]");
    text
}

/// Whether a value is a content block as the specification has them.
#[must_use]
pub(crate) fn is_block(block: &Value) -> bool {
    let text = |key: &str| block.get(key).is_some_and(Value::is_string);
    match block.get("type").and_then(Value::as_str) {
        Some("text") => text("text"),
        Some("image" | "audio") => text("data") && text("mimeType"),
        Some("resource_link") => text("uri") && text("name"),
        Some("resource") => block.get("resource").is_some_and(|resource| {
            let text = |key: &str| resource.get(key).is_some_and(Value::is_string);
            text("uri") && (text("text") || text("blob"))
        }),
        _ => false,
    }
}

fn failed(client: &Client, result: &CallResult, error: Option<&CallError>) -> String {
    let doubt;
    let error = match (error, result.status) {
        (Some(error), _) => error,
        (None, Status::InDoubt) => {
            doubt = CallError::new(ErrorCode::InDoubt, "whether it happened is not known")
                .hint("do not call it again; a person settles it");
            &doubt
        }
        (None, status) => {
            let code = match status {
                Status::Rejected => ErrorCode::Rejected,
                Status::Expired => ErrorCode::Expired,
                _ => ErrorCode::Cancelled,
            };
            doubt = CallError::new(code, format!("the call is {}", status.as_str()));
            &doubt
        }
    };
    let mut text = error_text(client, error);
    text.meta(CALL_ID, &result.call_id);
    text.finish()
}

/// A failure as a result that a model can read and act on.
#[must_use]
pub(crate) fn error_text(client: &Client, error: &CallError) -> ResultText {
    let mut said = format!("{} [{}]", error.message, error.code);
    if let Some(hint) = &error.hint {
        said.push_str("\nhint: ");
        said.push_str(hint);
    }
    if let Some(violations) = error.details.as_ref().and_then(|details| details.get("violations")) {
        said.push_str("\nviolations: ");
        said.push_str(&violations.to_string());
    }
    let mut text = ResultText::complete(client);
    text.field("content", &json!([{ "type": "text", "text": said }]));
    text.field("isError", &true);
    text.meta("toolgate/error", error);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shown_as_blocks_and_anything_else_as_text() {
        let shown = |value: Value| serde_json::from_str::<Value>(&content(&value.to_string())).unwrap();
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        assert_eq!(shown(json!({ "content": [image] })), json!([image]));
        for plain in [
            json!({ "content": "a text" }),
            json!({ "content": [] }),
            json!({ "content": [{ "type": "video" }] }),
            json!({ "content": [{ "type": "text", "text": 7 }] }),
            json!([1, 2]),
            json!(7),
            json!({ "a": { "content": [image] } }),
        ] {
            assert_eq!(shown(plain.clone()), json!([{ "type": "text", "text": plain.to_string() }]));
        }
    }
}

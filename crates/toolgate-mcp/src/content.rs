//! A call's outcome as a tool result: content blocks, structure, and failures that a model can read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolgate_core::{CallError, CallResult, ErrorCode, Status, upstream};

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
    let told = match &result.content {
        Some(content) => Told { content: content.as_str().into(), structured: Some(value) },
        None if upstream::is_tool_id(&result.tool) => undeclared(value).unwrap_or_else(|| copied(value)),
        None => copied(value),
    };
    let mut text = ResultText::complete(client);
    text.raw("content", &told.content);
    // Clients of the handshake era take structure for an object.
    if let Some(structured) = told.structured.filter(|text| client.is_modern() || text.starts_with('{')) {
        text.raw("structuredContent", structured);
    }
    if let Some(meta) = &result.meta {
        text.their_meta(meta.as_str());
    }
    text.meta(CALL_ID, &result.call_id);
    if let Some(input) = &result.edited_input {
        text.meta("toolgate/edited_input", input);
    }
    text.finish()
}

/// A value in the two forms that clients read.
struct Told<'a> {
    content: Cow<'a, str>,
    structured: Option<&'a str>,
}

/// What the tool of a server returned that names no output schema: its content and, if any came, its structure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undeclared<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    structured: Option<&'a RawValue>,
}

/// Takes apart what such a tool returned; none where a value is something else.
fn undeclared(value: &str) -> Option<Told<'_>> {
    let parts: Undeclared<'_> = serde_json::from_str(value).ok()?;
    let structured = parts.structured.map(RawValue::get);
    let content = match (parts.content.map(RawValue::get), structured) {
        (Some(content), _) if content.starts_with('[') => content.into(),
        (Some(_), _) => return None,
        // Redaction left only the structure, or nothing.
        (None, Some(structured)) => as_text(structured).into(),
        (None, None) => "[]".into(),
    };
    Some(Told { content, structured })
}

/// A value with a copy of it in words, or in the content blocks that it holds itself.
fn copied(value: &str) -> Told<'_> {
    Told { content: content(value).into(), structured: Some(value) }
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
    as_text(value)
}

fn as_text(value: &str) -> String {
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

/// A failure as a result that a model can read and act on: in the words of the server it came from, where it has any.
#[must_use]
pub(crate) fn error_text(client: &Client, error: &CallError) -> ResultText {
    let mut text = ResultText::complete(client);
    let said = |key: &str| error.details.as_ref().and_then(|details| details.get(key));
    match said(CallError::CONTENT).and_then(Value::as_array).filter(|blocks| blocks.iter().all(is_block)) {
        Some(blocks) => text.field("content", blocks),
        None => text.field("content", &json!([{ "type": "text", "text": sentence(error) }])),
    }
    if let Some(structured) = said(CallError::STRUCTURED).filter(|one| client.is_modern() || one.is_object())
    {
        text.field("structuredContent", structured);
    }
    text.field("isError", &true);
    if let Some(meta) = said(CallError::META).filter(|meta| meta.is_object()) {
        text.their_meta(&meta.to_string());
    }
    // What the server said is there already.
    text.meta("toolgate/error", &error.clone().without_said());
    text
}

fn sentence(error: &CallError) -> String {
    let mut said = format!("{} [{}]", error.message, error.code);
    if let Some(hint) = &error.hint {
        said.push_str("\nhint: ");
        said.push_str(hint);
    }
    if let Some(violations) = error.details.as_ref().and_then(|details| details.get("violations")) {
        said.push_str("\nviolations: ");
        said.push_str(&violations.to_string());
    }
    said
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

    #[test]
    fn a_servers_content_and_structure_are_told_apart() {
        let told = |value: &str| {
            undeclared(value).map(|told| (told.content.into_owned(), told.structured.map(str::to_owned)))
        };
        let both = r#"{"content":[{"type":"text","text":"a\r\n"}],"structured":{"a":[1]}}"#;
        let (content, structured) = told(both).unwrap();
        assert_eq!(content, r#"[{"type":"text","text":"a\r\n"}]"#);
        assert_eq!(structured.as_deref(), Some(r#"{"a":[1]}"#));
        assert_eq!(told(r#"{"content":[]}"#), Some(("[]".to_owned(), None)));
        assert_eq!(told("{}"), Some(("[]".to_owned(), None)));
        let left = r#"[{"type":"text","text":"{\"a\":1}"}]"#.to_owned();
        assert_eq!(told(r#"{"structured":{"a":1}}"#), Some((left, Some(r#"{"a":1}"#.to_owned()))));
        for other in [r#"{"content":"hi"}"#, r#"{"content":[],"more":1}"#, "[]", "3"] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}

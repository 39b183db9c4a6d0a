//! What a server returned, as a result the gate can check, redact and record.

use serde_json::{Map, Value, json};
use toolgate_core::ToolOutput;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::json::Bounds;
use toolgate_core::port::executor::ToolFailure;

use crate::block::{blocks, meta, withheld};
use crate::clean::{quoted, shortened};
use crate::question::Refusal;

/// How much of a server's own words the sentence of an error repeats.
const LONGEST_WORDS: usize = 2 * 1024;
/// How large what a server says of a failure may be: its content, and its structure, each.
const LARGEST_FAILURE: usize = 64 * 1024;

/// How large the notes on a result may be, and how long the name of one.
const LARGEST_NOTES: usize = 16 * 1024;
const LONGEST_NAME: usize = 200;

/// Whether a tool names an output schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Declared,
    Undeclared,
}

/// Reads the result of `tools/call`.
pub(crate) fn outcome(server: &str, result: Value, output: Output) -> Result<ToolOutput, ToolFailure> {
    let failed = |message: String| Err(coded(CallError::new(ErrorCode::UpstreamFailed, message)));
    let Value::Object(mut result) = result else {
        return failed(format!("`{server}` answered with something that is no result"));
    };
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some("input_required") => return Err(asks_back(server, &result)),
        Some("task") => {
            return Err(coded(
                CallError::new(ErrorCode::UpstreamFailed, format!("`{server}` made a task of the call"))
                    .hint("tasks of other servers are not followed here")
                    .details(json!({ "result_type": "task" })),
            ));
        }
        Some(other) => {
            return failed(format!(
                "`{server}` answered with a result of the unknown kind `{}`",
                quoted(other, 80)
            ));
        }
    }
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let content = match result.remove("content") {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return failed(format!("`{server}` answered with content that is no list")),
    };
    let structured = result.remove("structuredContent");
    if let Some(Err(broken)) = structured.as_ref().map(|structured| Bounds::OUTPUT.check(structured)) {
        let message = format!("what `{server}` returned is too large: {broken}");
        return Err(coded(CallError::new(ErrorCode::ResultTooLarge, message)));
    }
    let content = blocks(server, content);
    let meta = result.remove("_meta").and_then(notes);
    if is_error {
        return Err(says(server, content, structured.filter(|structured| !structured.is_null()), meta));
    }
    match (output, structured) {
        (Output::Declared, Some(value)) => Ok(ToolOutput { value, content: Some(content), meta }),
        (Output::Declared, None) => Err(coded(
            CallError::new(
                ErrorCode::OutputInvalid,
                format!(
                    "`{server}` names an output schema for this tool and returned nothing that could fit it"
                ),
            )
            .hint("this is a fault of the server; the tool's effect, if any, has happened"),
        )),
        (Output::Undeclared, structured) => {
            let mut value = Map::new();
            value.insert("content".to_owned(), Value::Array(content));
            // Some write nothing as `null`.
            if let Some(structured) = structured.filter(|structured| !structured.is_null()) {
                value.insert("structured".to_owned(), structured);
            }
            Ok(ToolOutput { value: Value::Object(value), content: None, meta })
        }
    }
}

/// The notes on a result as a whole, under names that are a server's to give; none where they are too many to keep.
fn notes(mut said: Value) -> Option<Map<String, Value>> {
    if !meta(&mut said) || Bounds::OUTPUT.check(&said).is_err() {
        return None;
    }
    let Value::Object(mut notes) = said else { return None };
    let named = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    notes.retain(|name, _| (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(named));
    let written = serde_json::to_string(&notes).ok()?;
    (!notes.is_empty() && written.len() <= LARGEST_NOTES).then_some(notes)
}

/// An error that a server answered with instead of a result.
pub(crate) fn rpc_error(server: &str, code: i64, message: &str) -> CallError {
    let words = shortened(quoted(message, LONGEST_WORDS), LONGEST_WORDS);
    let (kind, sentence, hint) = match code {
        -32602 => (
            ErrorCode::Execution,
            "refused the call",
            "what it says is its own; look at the arguments, or refresh its tools",
        ),
        -32601 => (
            ErrorCode::UpstreamFailed,
            "does not know the call",
            "refresh its tools: it may no longer have this one",
        ),
        _ => (ErrorCode::UpstreamFailed, "failed", "what it says is its own; try again later"),
    };
    CallError::new(kind, format!("`{server}` {sentence}; it says: {words}"))
        .hint(hint)
        .details(json!({ "rpc_code": code }))
}

/// A failure that a tool reports of itself, in the server's own words: the beginning in a sentence, all of it beside.
fn says(
    server: &str,
    content: Vec<Value>,
    structured: Option<Value>,
    meta: Option<Map<String, Value>>,
) -> ToolFailure {
    let mut words = String::new();
    for block in &content {
        if let Some(text) = block.get("text").and_then(Value::as_str) {
            words.push_str(shortest(text, LONGEST_WORDS * 2));
            words.push(' ');
        }
        if words.len() > LONGEST_WORDS * 2 {
            break;
        }
    }
    if words.trim().is_empty()
        && let Some(structured) = &structured
    {
        words = shortened(structured.to_string(), LONGEST_WORDS * 2);
    }
    let words = quoted(&words, LONGEST_WORDS);
    let message = match words.as_str() {
        "" => format!("the tool failed at `{server}`, which says nothing about it"),
        _ => format!("the tool failed at `{server}`, which says: {words}"),
    };
    let mut details = Map::new();
    if !content.is_empty() {
        details.insert(CallError::CONTENT.to_owned(), Value::Array(within(content)));
    }
    if let Some(structured) = structured.filter(|structured| size(structured) <= LARGEST_FAILURE) {
        details.insert(CallError::STRUCTURED.to_owned(), structured);
    }
    if let Some(meta) = meta {
        details.insert(CallError::META.to_owned(), Value::Object(meta));
    }
    let error = CallError::new(ErrorCode::Execution, message);
    coded(if details.is_empty() { error } else { error.details(Value::Object(details)) })
}

/// As much of a failure's content as is kept of one: a text is cut, anything else is there or not.
fn within(content: Vec<Value>) -> Vec<Value> {
    let mut room = LARGEST_FAILURE;
    let mut kept = Vec::new();
    for mut block in content {
        let size = size(&block);
        if size <= room {
            room -= size;
            kept.push(block);
            continue;
        }
        match block.get_mut("text") {
            Some(Value::String(text)) => {
                *text = shortened(std::mem::take(text), room);
                kept.push(block);
                room = 0;
            }
            _ => kept.push(withheld(&format!("a part of {size} bytes, too large for an error"))),
        }
        if room == 0 {
            break;
        }
    }
    kept
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// At most so many bytes of a text, up to the last whole character.
fn shortest(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn asks_back(server: &str, result: &Map<String, Value>) -> ToolFailure {
    let asks: Vec<String> = match result.get("inputRequests") {
        Some(Value::Object(asks)) => asks
            .values()
            .take(10)
            .filter_map(|ask| ask.get("method").and_then(Value::as_str))
            .map(|method| quoted(method, 80))
            .collect(),
        _ => Vec::new(),
    };
    coded(
        CallError::new(ErrorCode::UpstreamFailed, format!("`{server}` asks a question before it goes on"))
            .hint("nobody is asked in this server's name; `questions: ask` of the server lets it ask people")
            .details(json!({ "result_type": "input_required", "asks": asks })),
    )
}

/// A call that can't go on without an answer that nobody gives.
pub(crate) fn not_asked(server: &str, refusal: Refusal) -> ToolFailure {
    let message = format!("`{server}` asks {}, so nobody was asked", refusal.words());
    let hint = match refusal {
        Refusal::Secret => "no server may ask for secrets in a form; connect it with a connection instead",
        Refusal::NotAllowed => "the caller needs `core__request_input` for questions to reach a person",
        Refusal::Crowded => "try again when others have answered, or raise `concurrency` of the server",
        _ => "the server has to ask otherwise",
    };
    let details = json!({ "result_type": "input_required", "refused": true });
    coded(CallError::new(ErrorCode::UpstreamFailed, message).hint(hint).details(details))
}

fn coded(error: CallError) -> ToolFailure {
    ToolFailure::Coded(Box::new(error))
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;

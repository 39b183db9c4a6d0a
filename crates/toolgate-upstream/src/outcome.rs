//! What a server returned, as a value the gate can check, redact and record.

use serde_json::{Map, Value, json};
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::json::Bounds;
use toolgate_core::port::executor::ToolFailure;
use url::{Host, Url};

use crate::clean::{quoted, returned, shortened};
use crate::question::Refusal;

/// How much of a server's own words an error repeats.
const LONGEST_WORDS: usize = 2 * 1024;
const MOST_BLOCKS: usize = 1_000;
const LONGEST_ADDRESS: usize = 2 * 1024;

/// Whether a tool names an output schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Declared,
    Undeclared,
}

/// Reads the result of `tools/call`.
pub(crate) fn outcome(server: &str, result: Value, output: Output) -> Result<Value, ToolFailure> {
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
    if is_error {
        return Err(says(server, &content, result.get("structuredContent")));
    }
    let structured = match result.remove("structuredContent") {
        Some(value) => {
            if let Err(broken) = Bounds::OUTPUT.check(&value) {
                let message = format!("what `{server}` returned is too large: {broken}");
                return Err(coded(CallError::new(ErrorCode::ResultTooLarge, message)));
            }
            Some(without_controls(value))
        }
        None => None,
    };
    match (output, structured) {
        (Output::Declared, Some(value)) => Ok(value),
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
            value.insert("content".to_owned(), Value::Array(blocks(content)));
            if let Some(structured) = structured {
                value.insert("structured".to_owned(), structured);
            }
            Ok(Value::Object(value))
        }
    }
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

/// A failure that a tool reports of itself, in the server's own words.
fn says(server: &str, content: &[Value], structured: Option<&Value>) -> ToolFailure {
    let mut words = String::new();
    for block in content.iter().take(MOST_BLOCKS) {
        if let Some(text) = block.get("text").and_then(Value::as_str) {
            words.push_str(text);
            words.push(' ');
        }
        if words.len() > LONGEST_WORDS * 2 {
            break;
        }
    }
    if words.trim().is_empty()
        && let Some(structured) = structured
    {
        words = shortened(structured.to_string(), LONGEST_WORDS * 2);
    }
    let words = quoted(&words, LONGEST_WORDS);
    let message = match words.as_str() {
        "" => format!("the tool failed at `{server}`, which says nothing about it"),
        _ => format!("the tool failed at `{server}`, which says: {words}"),
    };
    coded(CallError::new(ErrorCode::Execution, message))
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

fn blocks(content: Vec<Value>) -> Vec<Value> {
    let more = content.len().saturating_sub(MOST_BLOCKS);
    let mut kept: Vec<Value> = content.into_iter().take(MOST_BLOCKS).map(block).collect();
    if more > 0 {
        kept.push(withheld(&format!("{more} further parts")));
    }
    kept
}

/// A part of the content in a shape we know, with nothing else in it.
fn block(block: Value) -> Value {
    let Value::Object(fields) = block else { return withheld("a part that is no content") };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text") => match text("text") {
            Some(words) => json!({ "type": "text", "text": returned(words) }),
            None => withheld("a text without text"),
        },
        Some(kind @ ("image" | "audio")) => match (text("data"), text("mimeType")) {
            (Some(data), Some(mime)) if is_mime(mime, kind) && is_base64(data) => {
                json!({ "type": kind, "data": data, "mimeType": mime })
            }
            _ => withheld(&format!("an {kind} that is none")),
        },
        Some("resource") => resource(fields.get("resource")),
        Some("resource_link") => match text("uri") {
            Some(uri) if is_public(uri) => {
                let mut link = json!({ "type": "resource_link", "uri": uri, "name": "" });
                for key in ["name", "title", "description", "mimeType"] {
                    if let Some(words) = text(key) {
                        link[key] = Value::String(quoted(words, LONGEST_WORDS));
                    }
                }
                link
            }
            Some(uri) => withheld(&format!("a link to `{}`", quoted(uri, 200))),
            None => withheld("a link to nowhere"),
        },
        Some(other) => withheld(&format!("a part of the unknown kind `{}`", quoted(other, 80))),
        None => withheld("a part of no kind"),
    }
}

/// A resource that came along. Its address is kept only if anyone could go there; its text is data like any other,
/// unless it is a page that wants to be shown.
fn resource(resource: Option<&Value>) -> Value {
    let field = |key: &str| resource.and_then(|resource| resource.get(key)).and_then(Value::as_str);
    let Some(uri) = field("uri") else { return withheld("a resource without an address") };
    let shown = quoted(uri, 200);
    let mime = field("mimeType").filter(|mime| is_token(mime));
    let page = uri.starts_with("ui:") || mime.is_some_and(|mime| mime.contains("html"));
    match (field("text"), field("blob")) {
        _ if page => withheld(&format!("the page `{shown}`")),
        (Some(text), _) if is_public(uri) => {
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime.unwrap_or("text/plain"), "text": returned(text) } })
        }
        (Some(text), _) => {
            json!({ "type": "text", "text": format!("[address withheld: `{shown}`]\n{}", returned(text)) })
        }
        (None, Some(blob)) if is_public(uri) && is_base64(blob) => {
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime.unwrap_or("application/octet-stream"), "blob": blob } })
        }
        (None, _) => withheld(&format!("the resource `{shown}`")),
    }
}

fn withheld(what: &str) -> Value {
    json!({ "type": "text", "text": format!("[withheld: {what}]") })
}

/// Whether an address is one that anyone on the internet could open; names are judged by how they are written.
fn is_public(uri: &str) -> bool {
    if uri.len() > LONGEST_ADDRESS || crate::clean::described(uri) != uri {
        return false;
    }
    let Ok(url) = Url::parse(uri) else { return false };
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    match url.host() {
        Some(Host::Ipv4(address)) => toolgate_egress::is_public(address.into()),
        Some(Host::Ipv6(address)) => toolgate_egress::is_public(address.into()),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let inner =
                [".local", ".internal", ".localhost", ".lan", ".home", ".corp", ".intranet", ".home.arpa"];
            name.contains('.') && !inner.iter().any(|end| name.ends_with(end))
        }
        None => false,
    }
}

fn is_mime(mime: &str, kind: &str) -> bool {
    is_token(mime) && mime.strip_prefix(kind).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}

fn is_token(mime: &str) -> bool {
    mime.len() <= 200 && mime.chars().all(|c| c.is_ascii_alphanumeric() || "/+-.;=_ ".contains(c))
}

fn is_base64(data: &str) -> bool {
    data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte))
}

fn without_controls(value: Value) -> Value {
    match value {
        Value::String(text) => match returned(&text) {
            std::borrow::Cow::Borrowed(_) => Value::String(text),
            std::borrow::Cow::Owned(clean) => Value::String(clean),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(without_controls).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, field)| (key, without_controls(field))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;

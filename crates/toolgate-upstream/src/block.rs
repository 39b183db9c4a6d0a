//! The content blocks of a result, as they came: words, pictures, sounds, files and links are data and stay whole. What
//! would have a client go somewhere, or show a page, is made to do neither.

use serde_json::{Map, Value, json};
use url::{Host, Url};

use crate::clean::{quoted, shortened};

const MOST_BLOCKS: usize = 1_000;
const LONGEST_ADDRESS: usize = 2 * 1024;

/// The blocks of a result, each in a shape we know.
pub(crate) fn blocks(server: &str, content: Vec<Value>) -> Vec<Value> {
    let more = content.len().saturating_sub(MOST_BLOCKS);
    let mut kept: Vec<Value> =
        content.into_iter().take(MOST_BLOCKS).map(|block| self::block(server, block)).collect();
    if more > 0 {
        kept.push(withheld(&format!("{more} further parts")));
    }
    kept
}

/// A note in the place of what is not passed on.
pub(crate) fn withheld(what: &str) -> Value {
    json!({ "type": "text", "text": format!("[withheld: {what}]") })
}

fn block(server: &str, block: Value) -> Value {
    let Value::Object(mut fields) = block else { return withheld("a part that is no content") };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text") => match text("text") {
            Some(_) => kept(fields, &["text"]),
            None => withheld("a text without text"),
        },
        Some(kind @ ("image" | "audio")) => match (text("data"), text("mimeType")) {
            (Some(data), Some(mime)) if is_mime(mime, kind) && is_base64(data) => {
                kept(fields, &["data", "mimeType"])
            }
            _ => withheld(&format!("an {kind} that is none")),
        },
        Some("resource") => match fields.get_mut("resource").and_then(Value::as_object_mut) {
            Some(resource) => match embed(server, resource) {
                Ok(()) => kept(fields, &["resource"]),
                Err(what) => withheld(&what),
            },
            None => withheld("a resource without an address"),
        },
        Some("resource_link") => match text("uri") {
            Some(uri) if is_public(uri) => link(fields),
            Some(uri) => withheld(&format!("a link to `{}`", quoted(uri, 200))),
            None => withheld("a link to nowhere"),
        },
        Some(other) => withheld(&format!("a part of the unknown kind `{}`", quoted(other, 80))),
        None => withheld("a part of no kind"),
    }
}

/// A block with the fields that blocks of its kind have, in the order they came.
fn kept(mut fields: Map<String, Value>, names: &[&str]) -> Value {
    fields.retain(|key, value| match (key.as_str(), value) {
        ("type", _) => true,
        ("annotations", Value::Object(hints)) => {
            hints.retain(|key, hint| is_hint(key, hint));
            true
        }
        ("_meta", value) => meta(value),
        (key, _) => names.contains(&key),
    });
    Value::Object(fields)
}

fn link(mut fields: Map<String, Value>) -> Value {
    fields.retain(|key, value| match key.as_str() {
        "name" | "title" | "description" | "mimeType" => value.is_string(),
        "size" => value.is_u64(),
        _ => true,
    });
    if !fields.contains_key("name") {
        fields.insert("name".to_owned(), Value::String(String::new()));
    }
    kept(fields, &["uri", "name", "title", "description", "mimeType", "size"])
}

/// Makes a resource that came along safe to hold: its bytes are data like any other, unless it is a page that wants to
/// be shown. An address that not everyone could open is written so that nobody opens it, and can still be read.
fn embed(server: &str, resource: &mut Map<String, Value>) -> Result<(), String> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let Some(uri) = text("uri") else { return Err("a resource without an address".to_owned()) };
    let shown = quoted(uri, 200);
    let mime = text("mimeType").filter(|mime| is_token(mime)).map(str::to_ascii_lowercase);
    if is_page(uri, mime.as_deref().unwrap_or_default()) {
        return Err(format!("the page `{shown}`"));
    }
    let body = match (text("text"), text("blob")) {
        (Some(_), _) => "text",
        (None, Some(blob)) if is_base64(blob) => "blob",
        (None, _) => return Err(format!("the resource `{shown}`")),
    };
    let inert = (!is_public(uri)).then(|| inert(server, uri));
    resource.retain(|key, value| match key.as_str() {
        "uri" => true,
        "mimeType" => mime.is_some(),
        "_meta" => meta(value),
        key => key == body,
    });
    if let Some(inert) = inert {
        resource.insert("uri".to_owned(), inert.into());
    }
    // As a page it might be drawn; its source is text.
    if mime.is_some_and(|mime| mime.contains("html")) {
        resource.insert("mimeType".to_owned(), "text/plain".into());
    }
    Ok(())
}

/// Pages of apps, as their extensions to MCP name them.
fn is_page(uri: &str, mime: &str) -> bool {
    let app = mime.contains("html") && (mime.contains("profile=") || mime.contains('+'));
    app && !mime.contains("xhtml+xml")
        || uri.get(..3).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ui:"))
}

/// An address under our own name that leads nowhere: `toolgate://servers/<server>/<address>`.
fn inert(server: &str, uri: &str) -> String {
    let mut address = format!("toolgate://servers/{server}/");
    for byte in uri.bytes().take(LONGEST_ADDRESS) {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' => address.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => address.push(byte.into()),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    shortened(address, LONGEST_ADDRESS)
}

/// Whether a hint is one that clients know, in the shape they take it.
fn is_hint(key: &str, hint: &Value) -> bool {
    match (key, hint) {
        ("audience", Value::Array(readers)) => {
            readers.iter().all(|reader| matches!(reader.as_str(), Some("user" | "assistant")))
        }
        ("priority", hint) => hint.as_f64().is_some_and(|weight| (0.0..=1.0).contains(&weight)),
        ("lastModified", hint) => hint.is_string(),
        _ => false,
    }
}

/// Keeps a server's own notes, and none under names that are ours, the protocol's, or a page's.
pub(crate) fn meta(value: &mut Value) -> bool {
    let Value::Object(notes) = value else { return false };
    notes.retain(|key, _| !is_reserved(key));
    true
}

/// Whether a note's name says whose it is, and that is not the server.
fn is_reserved(key: &str) -> bool {
    const NOT_THEIRS: [&str; 5] = ["toolgate", "modelcontextprotocol", "mcp", "ui", "openai"];
    let key = key.to_ascii_lowercase();
    let prefix = key.split('/').next().unwrap_or_default();
    key == "progresstoken" || prefix.split('.').any(|label| NOT_THEIRS.contains(&label))
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
        Some(Host::Domain(name)) => !toolgate_egress::sounds_inside(name),
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

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;

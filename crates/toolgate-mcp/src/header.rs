//! What headers of the modern era say, and that it is what the body says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::jsonrpc::Request;
use crate::rpc_error::RpcError;

/// The header that names the version.
pub(crate) const VERSION: &str = "mcp-protocol-version";
/// The header that names the method.
pub(crate) const METHOD: &str = "mcp-method";
/// The header that names the tool, prompt, resource or task.
pub(crate) const NAME: &str = "mcp-name";
/// What headers of a tool's own parameters begin with.
pub(crate) const PARAM: &str = "mcp-param-";
/// By which a schema says that a property travels in a header too.
pub(crate) const IN_HEADER: &str = "x-mcp-header";

/// The headers of a request, by name in small letters.
pub trait Headers: Send + Sync {
    /// The value, as it came, without the space around it.
    fn get(&self, name: &str) -> Option<&[u8]>;
}

/// A header's text.
#[must_use]
pub(crate) fn text<'a>(headers: &'a dyn Headers, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| std::str::from_utf8(value).ok()).map(str::trim)
}

/// A property of a tool's input that travels in a header too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// Where in the input it stands.
    pub path: Vec<String>,
    /// The header's name, in small letters.
    pub header: String,
}

fn mismatch(message: impl Into<String>) -> RpcError {
    let hint = "headers must say what the body says; list the tools again if one has changed";
    RpcError::coded(RpcError::HEADER_MISMATCH, "bad_request", message, hint)
}

/// Checks the version's header against the version in the body.
pub(crate) fn check_version(headers: &dyn Headers, version: &str) -> Result<(), RpcError> {
    match text(headers, VERSION) {
        None => Err(mismatch("the header `MCP-Protocol-Version` is missing")),
        Some(named) if named == version => Ok(()),
        Some(_) => Err(mismatch("`MCP-Protocol-Version` names another version than the body")),
    }
}

/// Checks the headers that every request has against its body.
pub(crate) fn check_standard(headers: &dyn Headers, request: &Request) -> Result<(), RpcError> {
    match text(headers, METHOD) {
        None => return Err(mismatch("the header `Mcp-Method` is missing")),
        Some(named) if named != request.method => {
            return Err(mismatch("`Mcp-Method` names another method than the body"));
        }
        Some(_) => {}
    }
    let field = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    // A body without the field is told so by the method itself.
    let Some(said) = request.params.get(field).and_then(Value::as_str) else { return Ok(()) };
    let Some(named) = headers.get(NAME) else { return Err(mismatch("the header `Mcp-Name` is missing")) };
    if decoded(named).is_some_and(|named| named == said) {
        return Ok(());
    }
    Err(mismatch(format!("`Mcp-Name` says something else than `{field}` in the body")))
}

/// Checks the headers of a tool's own parameters against the arguments.
pub(crate) fn check_params(
    headers: &dyn Headers,
    params: &[ParamHeader],
    arguments: &Value,
) -> Result<(), RpcError> {
    for param in params {
        let said =
            param.path.iter().try_fold(arguments, |value, key| value.get(key)).filter(|v| !v.is_null());
        let named = headers.get(&param.header);
        let shown = &param.header;
        let matches = match (said, named) {
            (None, None) => true,
            (Some(_), None) => return Err(mismatch(format!("the header `{shown}` is missing"))),
            (None, Some(_)) => {
                return Err(mismatch(format!("`{shown}` has no counterpart in the arguments")));
            }
            (Some(said), Some(named)) => decoded(named).is_some_and(|named| same(said, &named)),
        };
        if !matches {
            return Err(mismatch(format!("`{shown}` says something else than the arguments")));
        }
    }
    Ok(())
}

fn same(said: &Value, named: &str) -> bool {
    match said {
        Value::String(said) => said == named,
        Value::Bool(said) => named == if *said { "true" } else { "false" },
        // `42` and `42.0` are the same number.
        Value::Number(said) => {
            said.to_string() == named || named.parse::<f64>().is_ok_and(|named| said.as_f64() == Some(named))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// A header's value as it was meant: plain, or in base64 where it could not be written plainly.
fn decoded(value: &[u8]) -> Option<String> {
    let text = value.trim_ascii();
    if let Some(encoded) = text.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?=")) {
        return String::from_utf8(STANDARD.decode(encoded).ok()?).ok();
    }
    let plain = text.iter().all(|b| (0x20..0x7f).contains(b) || *b == b'\t');
    plain.then(|| String::from_utf8_lossy(text).into_owned())
}

/// The properties of an input schema that travel in headers too: only those on a plain path of `properties`, with a
/// name that can be a header's.
#[must_use]
pub fn param_headers(schema: &Value) -> Vec<ParamHeader> {
    let mut found = Vec::new();
    let mut rest = vec![(schema, Vec::<String>::new())];
    while let Some((schema, path)) = rest.pop() {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { continue };
        if path.len() >= 16 {
            continue;
        }
        for (key, property) in properties {
            let mut path = path.clone();
            path.push(key.clone());
            if let Some(name) = property.get(IN_HEADER).and_then(Value::as_str)
                && !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
            {
                found.push(ParamHeader {
                    path: path.clone(),
                    header: format!("{PARAM}{}", name.to_ascii_lowercase()),
                });
            }
            rest.push((property, path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashMap;

    struct Given(HashMap<String, Vec<u8>>);
    impl Headers for Given {
        fn get(&self, name: &str) -> Option<&[u8]> {
            self.0.get(name).map(Vec::as_slice)
        }
    }
    fn given(headers: &[(&str, &str)]) -> Given {
        Given(headers.iter().map(|(n, v)| ((*n).to_owned(), v.as_bytes().to_vec())).collect())
    }

    #[test]
    fn a_parameter_in_a_header_is_the_one_in_the_body() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "bad": { "x-mcp-header": "no good" },
        } });
        let params = param_headers(&schema);
        assert_eq!(params.len(), 2);
        let check = |headers: &[(&str, &str)], arguments: Value| {
            check_params(&given(headers), &params, &arguments).is_ok()
        };
        assert!(check(&[("mcp-param-region", "west")], json!({ "region": "west" })));
        assert!(check(
            &[("mcp-param-region", "=?base64?SGVsbG8sIOS4lueVjA==?=")],
            json!({ "region": "Hello, 世界" })
        ));
        assert!(check(&[("mcp-param-n", "42.0")], json!({ "deep": { "n": 42 } })));
        assert!(check(&[], json!({ "region": null })));
        assert!(!check(&[], json!({ "region": "west" })));
        assert!(!check(&[("mcp-param-region", "east")], json!({ "region": "west" })));
        assert!(!check(&[("mcp-param-region", "west")], json!({})));
        assert!(!check(&[("mcp-param-region", "=?base64?%%%?=")], json!({ "region": "west" })));
        assert!(!check(&[("mcp-param-region", "w\u{e9}st")], json!({ "region": "w\u{e9}st" })));
    }
}

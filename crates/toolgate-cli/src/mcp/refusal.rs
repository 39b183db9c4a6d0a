//! Refusals, as the messages that a client reads.

use serde_json::{Value, json};

/// A refusal that is no message, as one.
pub(super) fn refused(id: &Value, status: u16, body: &Value) -> Value {
    let field = |name: &str| body["error"][name].as_str();
    let message = field("message").map_or_else(|| format!("the gate answered {status}"), str::to_owned);
    let hint = match status {
        401 => "set TOOLGATE_KEY to your key",
        _ => field("hint").unwrap_or("check that TOOLGATE_URL names a gate"),
    };
    error(id, -32603, field("code").unwrap_or("unavailable"), &message, hint)
}

/// The same under this id.
pub(super) fn with_id(mut message: Value, id: &Value) -> Value {
    message["id"] = id.clone();
    message
}

/// An error of the bridge itself.
pub(super) fn error(id: &Value, code: i64, ours: &str, message: &str, hint: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id,
        "error": { "code": code, "message": message, "data": { "code": ours, "hint": hint } },
    })
}

//! JSON-RPC 2.0 as MCP uses it: one message at a time, ids that are texts or whole numbers.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use toolgate_core::number::{TOO_WIDE, has_wide_integer};
use toolgate_core::once::{repeated_key, some_once};

use crate::batch::is_batch;
use crate::rpc_error::RpcError;

/// The longest text that can be an id.
const MAX_ID: usize = 1024;

/// What an answer is matched to its request by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

/// A message from a client.
#[derive(Debug, Clone)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers a request of ours.
    Response(Response),
}

/// A message that wants an answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the answer is matched by.
    pub id: Id,
    /// What is asked for.
    pub method: String,
    /// With what.
    pub params: Map<String, Value>,
}

/// A message that wants no answer.
#[derive(Debug, Clone)]
pub struct Notification {
    /// What happened.
    pub method: String,
    /// More about it.
    pub params: Map<String, Value>,
}

/// A client's answer to a request of ours.
#[derive(Debug, Clone)]
pub struct Response {
    /// The request it answers.
    pub id: Id,
    /// The answer; none when the client could not.
    pub result: Option<Value>,
}

/// A text that is no message.
#[derive(Debug, Clone)]
pub struct Malformed {
    /// Its id, as far as it could be read.
    pub id: Option<Id>,
    /// What is wrong.
    pub error: RpcError,
}

/// A result as a whole message; `result` is JSON.
#[must_use]
pub fn result_message(id: &Id, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + 64);
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    text.push_str(&id.to_json());
    text.push_str(",\"result\":");
    text.push_str(result);
    text.push('}');
    text
}

/// A notification as a whole message.
#[must_use]
pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// A request of ours as a whole message.
#[must_use]
pub(crate) fn request(id: &str, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

impl Id {
    /// The id as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => Value::from(text.as_str()).to_string(),
        }
    }

    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) if text.len() <= MAX_ID => Some(Self::Text(text.clone())),
            Value::Number(number) => number.as_i64().map(Self::Number),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<Value>,
    #[serde(default, deserialize_with = "some_once")]
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Value>,
}

/// The id of a message whose rest can't be used.
fn id_in(bytes: &[u8]) -> Option<Id> {
    #[derive(Deserialize)]
    struct Named {
        id: Option<Value>,
    }
    serde_json::from_slice::<Named>(bytes).ok()?.id.as_ref().and_then(Id::of)
}

/// `null` is something else than nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// What is wrong with it, with its id where that can be told.
    pub fn parse(bytes: &[u8]) -> Result<Self, Box<Malformed>> {
        let malformed = |id: Option<Id>, message: &str| {
            let hint = "send one JSON-RPC 2.0 request, notification or response";
            let error = RpcError::coded(RpcError::INVALID_REQUEST, "bad_request", message, hint);
            Box::new(Malformed { id, error })
        };
        if is_batch(bytes) {
            return Err(malformed(None, "batches are not taken"));
        }
        let envelope: Envelope = serde_json::from_slice(bytes).map_err(|cause| {
            if let Some(key) = repeated_key(&cause.to_string()) {
                let hint = "say each field of an object once";
                let message = format!("the message says `{key}` twice");
                let error = RpcError::coded(RpcError::INVALID_PARAMS, "validation", message, hint);
                return Box::new(Malformed { id: id_in(bytes), error });
            }
            if cause.is_data() {
                return malformed(None, "the body is not a JSON-RPC message");
            }
            let error = RpcError::coded(
                RpcError::PARSE,
                "invalid_json",
                format!("the body is not JSON, at line {} column {}", cause.line(), cause.column()),
                "send one JSON object",
            );
            Box::new(Malformed { id: None, error })
        })?;
        let id = envelope.id.as_ref().map(Id::of);
        if envelope.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(malformed(id.flatten(), "`jsonrpc` must be `2.0`"));
        }
        if id == Some(None) {
            return Err(malformed(None, "`id` must be a text or a whole number"));
        }
        let id = id.flatten();
        if has_wide_integer(bytes) {
            let hint = "write it as a text, if the tool takes one";
            let error = RpcError::coded(
                RpcError::INVALID_PARAMS,
                "validation",
                format!("the message {TOO_WIDE}"),
                hint,
            );
            return Err(Box::new(Malformed { id, error }));
        }
        let method = match envelope.method {
            None => None,
            Some(Value::String(method)) => Some(method),
            Some(_) => return Err(malformed(id, "`method` must be a text")),
        };
        let Some(method) = method else {
            let Some(answered) = id else {
                return Err(malformed(None, "a message has a `method` or an `id`"));
            };
            if envelope.result.is_none() && envelope.error.is_none() {
                return Err(malformed(Some(answered), "a message has a `method`, a `result` or an `error`"));
            }
            return Ok(Self::Response(Response { id: answered, result: envelope.result }));
        };
        let params = match envelope.params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            // Some clients write it where they have nothing to say.
            Some(Value::Null) => Map::new(),
            Some(_) => return Err(malformed(id, "`params` must be an object")),
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (i64, Option<Id>) {
        let malformed = Message::parse(text.as_bytes()).unwrap_err();
        (malformed.error.code, malformed.id)
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let parse = |text: &str| Message::parse(text.as_bytes()).unwrap();
        assert!(
            matches!(parse(r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#), Message::Request(r) if r.id == Id::Text("a".into()))
        );
        assert!(
            matches!(parse(r#"{"jsonrpc":"2.0","id":0,"method":"m","params":{"a":1}}"#), Message::Request(r) if r.params["a"] == 1)
        );
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","method":"m"}"#), Message::Notification(_)));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Message::Response(_)));
        assert!(
            matches!(parse(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#), Message::Response(r) if r.result.is_none())
        );
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_id_where_there_is_one() {
        assert_eq!(refused("{"), (-32700, None));
        assert_eq!(refused("[]"), (-32600, None));
        assert_eq!(refused("7"), (-32600, None));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), (-32600, None));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#), (-32600, None));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#), (-32600, None));
        assert_eq!(refused(r#"{"jsonrpc":"1.0","id":4,"method":"m"}"#), (-32600, Some(Id::Number(4))));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":4,"method":7}"#), (-32600, Some(Id::Number(4))));
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":4,"method":"m","params":[]}"#),
            (-32600, Some(Id::Number(4)))
        );
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"m"}"#).0, -32600);
        let twice = r#"{"jsonrpc":"2.0","method":"m","params":{"arguments":{"to":1,"to":2}},"id":4}"#;
        assert_eq!(refused(twice), (-32602, Some(Id::Number(4))));
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{}1{}}}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert_eq!(refused(&deep).0, -32700);
    }

    #[test]
    fn ids_come_back_as_they_were() {
        assert_eq!(
            result_message(&Id::Text("a\"b".into()), "{}"),
            r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#
        );
        assert_eq!(result_message(&Id::Number(-3), "{}"), r#"{"jsonrpc":"2.0","id":-3,"result":{}}"#);
    }
}

//! Several messages at once, in an array. Only protocol 2025-03-26 has them, and whoever speaks it must take them.

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::era::{Client, LEGACY};
use crate::jsonrpc::{Malformed, Message};
use crate::rpc_error::RpcError;

/// The most messages at once.
const MOST: usize = 50;
/// The only version that has batches.
const VERSION: &str = LEGACY[2];

/// Whether a body is meant as several messages.
#[must_use]
pub fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

impl Client {
    /// Whether it speaks the version in which messages may come several at once.
    #[must_use]
    pub fn sends_batches(&self) -> bool {
        self.version == VERSION
    }
}

/// Reads several messages. One that can't be read is told of in its own place and leaves the others as they are.
///
/// # Errors
/// When it is no array of messages, or not of as many as are taken.
pub fn parse_batch(bytes: &[u8]) -> Result<Vec<Result<Message, Box<Malformed>>>, Box<Malformed>> {
    let refused = |message: String| {
        let hint = "send an array of 1 to 50 JSON-RPC 2.0 messages";
        let error = RpcError::coded(RpcError::INVALID_REQUEST, "bad_request", message, hint);
        Box::new(Malformed { id: None, error })
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let parts = reader.deserialize_seq(Parts).and_then(|parts| reader.end().map(|()| parts));
    let parts = parts.map_err(|cause| {
        if cause.is_data() {
            return refused(format!("a batch has at most {MOST} messages"));
        }
        let place = format!("the body is not JSON, at line {} column {}", cause.line(), cause.column());
        let error = RpcError::coded(RpcError::PARSE, "invalid_json", place, "send an array of messages");
        Box::new(Malformed { id: None, error })
    })?;
    if parts.is_empty() {
        return Err(refused("a batch has at least one message".to_owned()));
    }
    let mut ids = HashSet::new();
    Ok(parts
        .into_iter()
        .map(|part| {
            let message = Message::parse(part.get().as_bytes())?;
            if let Message::Request(request) = &message {
                let unfit = match request.method.as_str() {
                    // The version that allows batches is agreed on before the first of them.
                    "initialize" => Some("`initialize` comes alone"),
                    _ if !ids.insert(request.id.clone()) => Some("this id names two requests of the batch"),
                    _ => None,
                };
                if let Some(message) = unfit {
                    let hint = "send it on its own, with an id of its own";
                    let error = RpcError::coded(RpcError::INVALID_REQUEST, "bad_request", message, hint);
                    return Err(Box::new(Malformed { id: Some(request.id.clone()), error }));
                }
            }
            Ok(message)
        })
        .collect())
}

/// The elements as they are written, and no more of them than are taken.
struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = elements.next_element()? {
            if parts.len() == MOST {
                return Err(serde::de::Error::custom("too many messages"));
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Id;

    fn refused(text: &str) -> (i64, String) {
        let error = parse_batch(text.as_bytes()).unwrap_err().error;
        (error.code, error.message)
    }

    #[test]
    fn a_batch_is_bounded() {
        let of = |count: usize| {
            let one = r#"{"jsonrpc":"2.0","method":"m"}"#;
            format!("[{}]", vec![one; count].join(","))
        };
        assert_eq!(parse_batch(of(50).as_bytes()).unwrap().len(), 50);
        assert_eq!(refused(&of(51)), (-32600, "a batch has at most 50 messages".to_owned()));
        assert_eq!(refused("[]"), (-32600, "a batch has at least one message".to_owned()));
        assert_eq!(refused("[1,").0, -32700);
        assert_eq!(refused("[1] 2").0, -32700);
        assert_eq!(refused(&"[".repeat(100_000)).0, -32700);
    }

    #[test]
    fn each_message_is_read_on_its_own() {
        let text = r#" [{"jsonrpc":"2.0","id":1,"method":"a"}, 7, {"jsonrpc":"2.0","id":2,"method":"initialize"},
            {"jsonrpc":"2.0","id":1,"method":"b"}, [], {"jsonrpc":"2.0","method":"c"}]"#;
        assert!(is_batch(text.as_bytes()));
        let read = parse_batch(text.as_bytes()).unwrap();
        assert!(matches!(&read[0], Ok(Message::Request(request)) if request.method == "a"));
        let wrong: Vec<_> = read.iter().filter_map(|one| one.as_ref().err()).map(|m| m.id.clone()).collect();
        assert_eq!(wrong, [None, Some(Id::Number(2)), Some(Id::Number(1)), None]);
        assert!(matches!(&read[5], Ok(Message::Notification(_))));
    }
}

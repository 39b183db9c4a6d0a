//! JSON as text that was valid when it was taken in, and the bounds every value must keep.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// JSON text, kept exactly as it was written, so that hashes over it stay true.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Arc<str>);

impl JsonText {
    /// The text of a value.
    #[must_use]
    pub fn from_value(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// The text of anything that can be JSON.
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map with keys that are not strings.
    pub fn from_serialize<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Takes text in after parsing it.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|_| Self(text.into()))
    }

    /// Takes text in that our own store wrote, unparsed.
    #[must_use]
    pub fn from_store(text: String) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value it spells; `null` should the text be damaged.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self::from_value(&value)
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.get().into()))
    }
}

/// How large a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Levels of nesting.
    pub depth: usize,
    /// Values, keys and items in all.
    pub nodes: usize,
}

impl Bounds {
    /// What a call's input may be.
    pub const INPUT: Self = Self { depth: 64, nodes: 100_000 };
    /// What a tool's result may be; its bytes have their own limit.
    pub const OUTPUT: Self = Self { depth: 96, nodes: 1_000_000 };

    /// Says which bound a value breaks, walking without recursion: values from memory can be deeper than the stack.
    ///
    /// # Errors
    /// The first bound found broken.
    pub fn check(self, value: &Value) -> Result<(), OutOfBounds> {
        let mut nodes = 0usize;
        let mut rest = vec![(value, 1usize)];
        while let Some((value, depth)) = rest.pop() {
            nodes += 1;
            if depth > self.depth {
                return Err(OutOfBounds::Depth(self.depth));
            }
            match value {
                Value::Array(items) => {
                    if nodes + rest.len() + items.len() > self.nodes {
                        return Err(OutOfBounds::Nodes(self.nodes));
                    }
                    rest.extend(items.iter().map(|item| (item, depth + 1)));
                }
                Value::Object(fields) => {
                    if nodes + rest.len() + fields.len() > self.nodes {
                        return Err(OutOfBounds::Nodes(self.nodes));
                    }
                    rest.extend(fields.values().map(|field| (field, depth + 1)));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        Ok(())
    }
}

/// A value beyond its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfBounds {
    /// Nested too deep.
    #[error("it is nested deeper than {0} levels")]
    Depth(usize),
    /// Too many parts.
    #[error("it has more than {0} values")]
    Nodes(usize),
}

/// SHA-256 over the value with object keys in order: equal values have equal digests however they were written.
#[must_use]
pub fn canonical_digest(value: &Value) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let mut text = String::with_capacity(256);
    write_canonical(value, &mut text);
    hasher.update(text.as_bytes());
    hasher.finalize().into()
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, field)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_canonical(field, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
    }
}

/// SHA-256 of bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Lower-case hexadecimal.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)] as char, DIGITS[usize::from(b & 15)] as char])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_change_the_digest() {
        assert_eq!(
            canonical_digest(&json!({"a": 1, "b": [{"x": 1, "y": 2}]})),
            canonical_digest(&json!({"b": [{"y": 2, "x": 1}], "a": 1}))
        );
        assert_ne!(canonical_digest(&json!({"a": 1})), canonical_digest(&json!({"a": "1"})));
    }

    #[test]
    fn deep_values_are_refused_without_recursion() {
        let mut deep = json!(1);
        for _ in 0..500 {
            deep = Value::Array(vec![deep]);
        }
        assert_eq!(Bounds::INPUT.check(&deep), Err(OutOfBounds::Depth(64)));
    }

    #[test]
    fn wide_values_are_refused() {
        let wide = Value::Array(vec![Value::Null; 100_001]);
        assert_eq!(Bounds::INPUT.check(&wide), Err(OutOfBounds::Nodes(100_000)));
        assert_eq!(Bounds::INPUT.check(&Value::Array(vec![Value::Null; 10_000])), Ok(()));
    }

    #[test]
    fn json_text_is_embedded_as_it_stands() {
        let text = JsonText::parse(r#"{"b":1.0,"a":[ 2 ]}"#).unwrap();
        assert_eq!(serde_json::to_string(&vec![&text]).unwrap(), r#"[{"b":1.0,"a":[ 2 ]}]"#);
        assert!(JsonText::parse("{").is_err());
    }
}

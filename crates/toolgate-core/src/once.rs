//! JSON in which no object says the same key twice. Of two values for one key everyone who reads believes one, and not
//! everyone the same: what a person approved, or a proxy let by, could be another call than the one that runs.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// How the message of a repeated key begins; the key follows, in backticks.
pub const REPEATED: &str = "repeated key `";
/// How much of a key is told back.
const LONGEST_KEY: usize = 100;

/// A value whose objects say each key once.
#[derive(Debug, Clone, PartialEq)]
pub struct Once(pub Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Each.deserialize(deserializer).map(Self)
    }
}

/// For `deserialize_with`: the value itself.
///
/// # Errors
/// For what is not JSON, and for a key that stands twice in one object.
pub fn once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Each.deserialize(deserializer)
}

/// The same for what may be left out.
///
/// # Errors
/// As [`once`].
pub fn some_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Each.deserialize(deserializer).map(Some)
}

/// The key that a parser's message says is repeated; none where something else is wrong.
#[must_use]
pub fn repeated_key(message: &str) -> Option<&str> {
    let rest = message.strip_prefix(REPEATED)?;
    rest.rsplit_once('`').map(|(key, _)| key)
}

struct Each;

impl<'de> DeserializeSeed<'de> for Each {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Each {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Each)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Each)?;
            match fields.entry(key) {
                serde_json::map::Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                serde_json::map::Entry::Occupied(entry) => {
                    let shown: String = entry.key().chars().take(LONGEST_KEY).map(shown).collect();
                    return Err(A::Error::custom(format!("{REPEATED}{shown}`")));
                }
            }
        }
        Ok(Value::Object(fields))
    }
}

/// A character as a message can hold it.
fn shown(c: char) -> char {
    if c.is_control() || c == '`' { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Result<Value, String> {
        serde_json::from_str::<Once>(text).map(|once| once.0).map_err(|cause| cause.to_string())
    }

    #[test]
    fn what_says_each_key_once_is_read_as_ever() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,true,null,"x\u00e9\n"],"b":{"a":1},"c":{}}"#,
            "18446744073709551615",
            "-9223372036854775808",
            "0.1",
            r#""""#,
            "[]",
        ] {
            assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_named() {
        let named = |text: &str| repeated_key(&read(text).unwrap_err()).map(str::to_owned);
        assert_eq!(named(r#"{"to":"a","to":"b"}"#).as_deref(), Some("to"));
        assert_eq!(named(r#"{"x":[{"y":{"to":1,"n":2,"t\u006f":1}}]}"#).as_deref(), Some("to"));
        assert_eq!(named("{\"a`\\n\":1,\"a`\\n\":1}").as_deref(), Some("a\u{fffd}\u{fffd}"));
        assert_eq!(named(&format!(r#"{{"{0}":1,"{0}":1}}"#, "k".repeat(500))).unwrap().len(), 100);
        assert_eq!(named("{"), None);
        assert_eq!(read(r#"{"a":{"a":{"a":1}}}"#).unwrap(), json!({ "a": { "a": { "a": 1 } } }));
    }
}

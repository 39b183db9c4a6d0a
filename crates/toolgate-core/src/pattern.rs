//! Patterns over ids: a whole id, or the start of one and `*`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::BadId;

/// `core__get_current_time`, `core__*` or `*`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// Whether this text fits.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => self.0 == text,
        }
    }

    /// Whether everything that fits this one also fits `outer`.
    #[must_use]
    pub fn within(&self, outer: &Self) -> bool {
        match (outer.0.strip_suffix('*'), self.0.strip_suffix('*')) {
            (Some(outer), Some(inner)) => inner.starts_with(outer),
            (None, Some(_)) => false,
            (_, None) => outer.matches(&self.0),
        }
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let body = text.strip_suffix('*').unwrap_or(text);
        let fits = !text.is_empty()
            && text.len() <= 140
            && body.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@+/:".contains(&b));
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(BadId { expected: "pattern: an id, or the start of one and `*`" })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_stands_for_any_rest_and_only_at_the_end() {
        assert!(pattern("core__*").matches("core__x"));
        assert!(pattern("*").matches("anything"));
        assert!(pattern("core__x").matches("core__x"));
        assert!(!pattern("core__x").matches("core__xy"));
        for bad in ["", "a*b", "**", "a b", "ä"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn within_is_never_wider() {
        for (inner, outer, fits) in [
            ("core__x", "core__*", true),
            ("core__*", "*", true),
            ("core__*", "core__x", false),
            ("*", "core__*", false),
            ("core__x", "core__x", true),
            ("core__*", "core__*", true),
        ] {
            assert_eq!(pattern(inner).within(&pattern(outer)), fits, "{inner} within {outer}");
        }
    }
}

//! Checking values against a schema that was compiled once.

use serde::Serialize;
use serde_json::Value;

/// One thing wrong with a value: where, and what, without the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// A JSON pointer to the place, `""` for the whole.
    pub path: String,
    /// What the schema wants there.
    pub message: String,
}

/// A compiled schema.
pub trait Validator: Send + Sync {
    /// Says what is wrong with a value; at most a few things, never with the value's own text.
    ///
    /// # Errors
    /// What is wrong, at least one thing.
    fn validate(&self, value: &Value) -> Result<(), Vec<Violation>>;
}

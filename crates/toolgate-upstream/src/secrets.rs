//! What a server was shown of ours must not come back through it: results, errors and offers are looked through for the
//! secrets that were presented to it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolgate_core::ToolOutput;
use toolgate_core::error::CallError;
use toolgate_core::port::connection::{Opened, Presented};
use toolgate_core::port::executor::ToolFailure;

/// The most secrets remembered of one server: the latest of the people who use it.
const MOST: usize = 64;
/// Shorter ones would hide half of every text, and are no secrets.
const SHORTEST: usize = 6;

/// The secrets that were presented to one server lately. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<Opened>>>);

impl Secrets {
    /// Remembers what is presented.
    pub(crate) fn note(&self, presented: &[Presented]) {
        for one in presented {
            let (Presented::Bearer(secret) | Presented::Header(_, secret) | Presented::Env(_, secret)) = one;
            let secret = secret.reveal();
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if secret.len() < SHORTEST || known.iter().any(|known| known.reveal() == secret) {
                continue;
            }
            if known.len() >= MOST {
                known.remove(0);
            }
            known.push(Opened::new(secret.to_owned()));
        }
    }

    /// Whether a text holds one of them.
    pub(crate) fn within(&self, text: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|secret| text.contains(secret.reveal()))
    }

    /// A result with stars in the place of them.
    pub(crate) fn hidden(&self, mut value: Value) -> Value {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return value;
        }
        let mut rest = vec![&mut value];
        while let Some(value) = rest.pop() {
            match value {
                Value::String(text) => *text = starred(&known, std::mem::take(text)),
                Value::Array(items) => rest.extend(items),
                Value::Object(fields) => {
                    if fields.keys().any(|name| known.iter().any(|secret| name.contains(secret.reveal()))) {
                        *fields = std::mem::take(fields)
                            .into_iter()
                            .map(|(name, value)| (starred(&known, name), value))
                            .collect();
                    }
                    rest.extend(fields.values_mut());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        value
    }

    /// A result and its content with stars in the place of them.
    pub(crate) fn hidden_in_output(&self, output: ToolOutput) -> ToolOutput {
        let ToolOutput { value, content, meta } = output;
        let content = content.map(|blocks| blocks.into_iter().map(|block| self.hidden(block)).collect());
        let meta = meta.and_then(|notes| match self.hidden(Value::Object(notes)) {
            Value::Object(notes) => Some(notes),
            _ => None,
        });
        ToolOutput { value: self.hidden(value), content, meta }
    }

    /// A failure with stars in the place of them.
    pub(crate) fn hidden_in(&self, failure: ToolFailure) -> ToolFailure {
        match failure {
            ToolFailure::Coded(error) => ToolFailure::Coded(Box::new(self.hidden_in_error(*error))),
            ToolFailure::Lost(error) => ToolFailure::Lost(Box::new(self.hidden_in_error(*error))),
            ToolFailure::Failed { message, hint } => {
                ToolFailure::Failed { message: self.text(message), hint: hint.map(|hint| self.text(hint)) }
            }
            other @ (ToolFailure::Cancelled | ToolFailure::HandedOn { .. }) => other,
        }
    }

    fn hidden_in_error(&self, error: CallError) -> CallError {
        CallError {
            code: error.code,
            message: self.text(error.message),
            hint: error.hint.map(|hint| self.text(hint)),
            details: error.details.map(|details| self.hidden(details)),
        }
    }

    fn text(&self, text: String) -> String {
        starred(&self.0.lock().unwrap_or_else(PoisonError::into_inner), text)
    }
}

fn starred(known: &[Opened], mut text: String) -> String {
    for secret in known {
        if text.contains(secret.reveal()) {
            text = text.replace(secret.reveal(), "***");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_presented_does_not_come_back() {
        let secrets = Secrets::default();
        secrets.note(&[Presented::Bearer(Opened::new("s3cr3t-token".to_owned()))]);
        let value = json!({ "content": [{ "text": "Bearer s3cr3t-token!" }], "s3cr3t-token": 1, "n": 3 });
        let hidden = secrets.hidden(value);
        assert_eq!(hidden, json!({ "content": [{ "text": "Bearer ***!" }], "***": 1, "n": 3 }));
        let failure = secrets.hidden_in(ToolFailure::failed("says: s3cr3t-token"));
        assert_eq!(failure, ToolFailure::failed("says: ***"));
        assert!(secrets.within("a s3cr3t-token b") && !secrets.within("nothing"));
    }

    #[test]
    fn short_words_and_repeats_are_not_kept() {
        let secrets = Secrets::default();
        for _ in 0..200 {
            secrets.note(&[Presented::Env("A".to_owned(), Opened::new("the".to_owned()))]);
            secrets.note(&[Presented::Env("A".to_owned(), Opened::new("long-enough".to_owned()))]);
        }
        assert_eq!(secrets.hidden(json!("the long-enough")), json!("the ***"));
        assert_eq!(secrets.0.lock().unwrap().len(), 1);
    }
}

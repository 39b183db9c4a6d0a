//! Results on their way out. Text that is JSON already is put in as it stands.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Value, json};

use crate::era::{Client, Era};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How long a list may be kept: short, since what is visible can change at any moment.
const LIST_TTL_MS: u64 = 5_000;

/// Who we are.
#[must_use]
pub(crate) fn server_info() -> Value {
    json!({ "name": "toolgate", "title": "Toolgate", "version": env!("CARGO_PKG_VERSION") })
}

static SERVER_INFO_TEXT: LazyLock<String> = LazyLock::new(|| server_info().to_string());

/// A result being written.
#[derive(Debug)]
pub(crate) struct ResultText {
    text: String,
    meta: String,
    era: Era,
}

impl ResultText {
    /// A result that completes the request.
    #[must_use]
    pub(crate) fn complete(client: &Client) -> Self {
        Self::of_type(client, "complete")
    }

    /// A result of another kind.
    #[must_use]
    pub(crate) fn of_type(client: &Client, kind: &str) -> Self {
        let mut text = String::with_capacity(512);
        text.push('{');
        let mut result = Self { text, meta: String::from("{"), era: client.era };
        if client.era == Era::Modern {
            result.field("resultType", kind);
        }
        result
    }

    /// Adds a field.
    pub(crate) fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        // Everything written here has string keys, so it always has a JSON form.
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(key, &value);
    }

    /// Adds a field whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        put(&mut self.text, key, json);
    }

    /// Adds a list of what is JSON already.
    pub(crate) fn list<'a>(&mut self, key: &str, entries: impl Iterator<Item = &'a str> + Clone) {
        // Lists are long, and text that grows is copied.
        self.text.reserve(entries.clone().map(|entry| entry.len() + 1).sum::<usize>() + key.len() + 512);
        put(&mut self.text, key, "[");
        for (n, entry) in entries.enumerate() {
            if n > 0 {
                self.text.push(',');
            }
            self.text.push_str(entry);
        }
        self.text.push(']');
    }

    /// Adds an entry to `_meta`.
    pub(crate) fn meta<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        put(&mut self.meta, key, &value);
    }

    /// Adds entries to `_meta` that someone else wrote, as one JSON object. What the gate itself says there it says under
    /// names that they can't have: whoever reads a server's result takes those out.
    pub(crate) fn their_meta(&mut self, object: &str) {
        let inside = object.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if let Some(inside) = inside.map(str::trim).filter(|inside| !inside.is_empty()) {
            if self.meta.len() > 1 {
                self.meta.push(',');
            }
            self.meta.push_str(inside);
        }
    }

    /// Says how long the result may be kept, and that it is this caller's alone.
    pub(crate) fn cacheable(&mut self) {
        if self.era == Era::Modern {
            self.field("ttlMs", &LIST_TTL_MS);
            self.field("cacheScope", "private");
        }
    }

    /// The result as JSON.
    #[must_use]
    pub(crate) fn finish(mut self) -> String {
        if self.era == Era::Modern {
            put(&mut self.meta, SERVER_INFO, &SERVER_INFO_TEXT);
        }
        if self.meta.len() > 1 {
            self.meta.push('}');
            put(&mut self.text, "_meta", &self.meta);
        }
        self.text.push('}');
        self.text
    }
}

fn put(text: &mut String, key: &str, json: &str) {
    if text.len() > 1 {
        text.push(',');
    }
    text.push('"');
    // Keys are ours and need no escape.
    text.push_str(key);
    text.push_str("\":");
    text.push_str(json);
}

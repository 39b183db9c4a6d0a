//! Regular expressions of a schema, run by the engine whose time is linear in the text.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::{Value, json};

/// The longest regular expression, in bytes of text.
pub(crate) const MAX_PATTERN_BYTES: usize = 1024;
/// The text of all regular expressions of a schema, in bytes. Translating one takes time that grows with the square of
/// its length.
pub(crate) const MAX_ALL_PATTERN_BYTES: usize = 32 * 1024;
/// How large one compiled expression may be. Matching takes time in proportion to it.
const MAX_PROGRAM_BYTES: usize = 128 * 1024;
/// How much memory an expression may use while matching before the engine takes its slower, smaller way.
const MAX_CACHE_BYTES: usize = 256 * 1024;

/// How every schema is compiled: nothing is fetched, regular expressions take linear time, and known formats are
/// checked, in 2020-12 as well, where they are a mere note by default. Formats no dialect knows stay a note.
pub(crate) fn options(draft: Draft) -> ValidationOptions<'static> {
    let engine = PatternOptions::regex().size_limit(MAX_PROGRAM_BYTES).dfa_size_limit(MAX_CACHE_BYTES);
    jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(engine)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
}

/// A regular expression that was refused.
#[derive(Debug)]
pub(crate) struct BadPattern;

/// The regular expressions of one schema, each compiled once.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: HashMap<String, Validator>,
    bytes: usize,
}

impl Patterns {
    /// Compiles an expression unless it is there already.
    ///
    /// The check is a schema of this one keyword, so that it accepts and matches exactly what the whole schema will.
    pub(crate) fn add(&mut self, pattern: &str, draft: Draft) -> Result<(), BadPattern> {
        if self.compiled.contains_key(pattern) {
            return Ok(());
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(BadPattern);
        }
        let validator = options(draft).build(&json!({ "pattern": pattern })).map_err(|_| BadPattern)?;
        self.bytes += pattern.len();
        self.compiled.insert(pattern.to_owned(), validator);
        Ok(())
    }

    /// How many there are and how much text they have.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.compiled.len(), self.bytes)
    }

    /// Whether the text matches; unknown expressions match everything.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        self.compiled.get(pattern).is_none_or(|validator| validator.is_valid(&Value::String(text.to_owned())))
    }
}

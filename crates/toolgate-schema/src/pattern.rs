//! Regular expressions of a schema, run by the engine whose time is linear in the text.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::{Value, json};

/// The longest regular expression, in bytes of text.
const MAX_PATTERN_BYTES: usize = 1024;
/// The most escapes such as `\d` in one. Each is translated by reading the whole expression once more.
const MAX_PATTERN_ESCAPES: usize = 128;
/// The most of both in all regular expressions of a schema.
const MAX_ALL_BYTES: usize = 32 * 1024;
const MAX_ALL_ESCAPES: usize = 1024;
/// The most regular expressions in a schema.
pub const MAX_PATTERNS: usize = 256;
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

/// Why a regular expression was refused.
#[derive(Debug)]
pub(crate) enum BadPattern {
    /// The engine cannot run it, or not within its bounds.
    Unfit,
    /// It is one too many.
    TooMany,
}

/// The regular expressions of one schema, each compiled once.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: HashMap<String, Validator>,
    bytes: usize,
    escapes: usize,
}

impl Patterns {
    /// Compiles an expression unless it is there already.
    ///
    /// The check is a schema of this one keyword, so that it accepts and matches exactly what the whole schema will.
    pub(crate) fn add(&mut self, pattern: &str, draft: Draft) -> Result<(), BadPattern> {
        if self.compiled.contains_key(pattern) {
            return Ok(());
        }
        let escapes = pattern.bytes().filter(|byte| *byte == b'\\').count();
        if pattern.len() > MAX_PATTERN_BYTES || escapes > MAX_PATTERN_ESCAPES {
            return Err(BadPattern::Unfit);
        }
        self.bytes += pattern.len();
        self.escapes += escapes;
        if self.compiled.len() == MAX_PATTERNS || self.bytes > MAX_ALL_BYTES || self.escapes > MAX_ALL_ESCAPES
        {
            return Err(BadPattern::TooMany);
        }
        let validator =
            options(draft).build(&json!({ "pattern": pattern })).map_err(|_| BadPattern::Unfit)?;
        self.compiled.insert(pattern.to_owned(), validator);
        Ok(())
    }

    /// Whether the text matches; unknown expressions match everything.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        self.compiled.get(pattern).is_none_or(|validator| validator.is_valid(&Value::String(text.to_owned())))
    }
}

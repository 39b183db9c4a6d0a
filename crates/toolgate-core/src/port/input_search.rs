//! Finding calls by what they were called with.
//!
//! There is no index over inputs: it would cost on every call, and few of them are ever looked for. The newest calls are
//! looked through instead, so many at a time, and whoever asks is told how far that went.

use async_trait::async_trait;

use crate::id::{InvocationId, TenantId};
use crate::invocation::Invocation;
use crate::port::store::{InvocationFilter, Page, StoreError};
use crate::time::Timestamp;

/// The largest input that is looked into, in bytes; lists leave larger ones out too.
pub const LONGEST_SEARCHED: usize = 8 * 1024;

/// What was found, and how far was looked.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// The calls whose input holds the text, newest first, as lists show them.
    pub invocations: Vec<Invocation>,
    /// How many calls were looked at, up to `end`.
    pub looked_at: u64,
    /// The last call that was looked at and when it was made; none when there was nothing to look at.
    pub end: Option<(InvocationId, Timestamp)>,
    /// Whether there may be more beyond `end`.
    pub more: bool,
}

/// What is looked for, and where.
#[derive(Debug, Clone, Copy)]
pub struct InputSearch<'a> {
    /// The calls that are looked at.
    pub filter: &'a InvocationFilter,
    /// What an input has to hold, whatever its case, as it is written in JSON.
    pub text: &'a str,
    /// Where to go on, and how many to find.
    pub page: Page,
    /// How many calls to look at.
    pub most: u32,
}

/// Calls by their inputs.
#[async_trait]
pub trait InputSearchStore: Send + Sync {
    /// Calls whose input holds the text. Of those that fit the filter and come after the page's position, no more than
    /// `most` are looked at, newest first, and no more once the page is full.
    async fn search_inputs(&self, tenant: &TenantId, search: InputSearch<'_>)
    -> Result<Searched, StoreError>;
}

/// Whether a text holds another, whatever the case. `wanted` is in small letters.
#[must_use]
pub fn holds(text: &str, wanted: &str) -> bool {
    if !wanted.is_ascii() {
        return text.to_lowercase().contains(wanted);
    }
    // Without a copy of every text: most are looked at in vain.
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let Some(first) = wanted.first() else { return true };
    text.windows(wanted.len())
        .any(|part| part[0].eq_ignore_ascii_case(first) && part.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_anywhere() {
        let check =
            |text: &str, wanted: &str, expected| assert_eq!(holds(text, wanted), expected, "{text} {wanted}");
        check(r#"{"to":"Northwind"}"#, "northwind", true);
        check(r#"{"to":"Northwind"}"#, "\"to\":\"n", true);
        check(r#"{"to":"Northwind"}"#, "northwinds", false);
        check(r#"{"to":"MÜNCHEN"}"#, "münchen", true);
        check(r#"{"to":"MÜNCHEN"}"#, "nchen", true);
        check("short", "longer than that", false);
        check("anything", "", true);
    }
}

//! The codes a call can stop with. Each has a page in `docs/errors/`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $retry:ident;)+) => {
        /// Why a call stopped. The text form is a promise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $text)] $name,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the pipeline.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The text form.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// When trying again makes sense.
            #[must_use]
            pub const fn retry(self) -> Retry {
                match self { $(Self::$name => Retry::$retry),+ }
            }
        }
    };
}

error_codes! {
    /// No such tool here.
    Unavailable = "unavailable", AfterChange;
    /// A policy rule, or the lack of one, refused it.
    PolicyDenied = "policy_denied", AfterChange;
    /// The caller lacks an access rule, or may not act for the subject.
    AuthzDenied = "authz_denied", AfterChange;
    /// The arguments are not JSON.
    InvalidJson = "invalid_json", AfterChange;
    /// The arguments break the tool's input schema.
    Validation = "validation", AfterChange;
    /// The same idempotency key came with another body.
    IdempotencyConflict = "idempotency_conflict", AfterChange;
    /// Too many calls in a while.
    RateLimited = "rate_limited", Later;
    /// A cost or concurrency budget is used up.
    BudgetExceeded = "budget_exceeded", Later;
    /// The tool could not do it.
    Execution = "execution", AfterChange;
    /// The tool needs an account that nobody has connected yet.
    ConnectionNeeded = "connection_needed", AfterChange;
    /// The server behind the tool is away, or answers what it should not.
    UpstreamFailed = "upstream_failed", Later;
    /// It took longer than its time limit.
    Timeout = "timeout", Later;
    /// The result is larger than its limit.
    ResultTooLarge = "result_too_large", AfterChange;
    /// Someone cancelled it.
    Cancelled = "cancelled", AfterChange;
    /// The tool's result breaks its own output schema.
    OutputInvalid = "output_invalid", AfterChange;
    /// The result could not be redacted, so it was withheld.
    RedactionFailed = "redaction_failed", AfterChange;
    /// A person refused it.
    Rejected = "rejected", AfterChange;
    /// Nobody decided in time.
    Expired = "expired", AfterChange;
    /// The outcome of a write was lost in a crash; a person must settle it.
    InDoubt = "in_doubt", AfterSettlement;
}

/// Advice on trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same call may work later.
    Later,
    /// Something has to change first.
    AfterChange,
    /// A person has to settle this call first.
    AfterSettlement,
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a hint says after a link that has no host.
pub const A_PAGE_HERE: &str = ", a page of this gate";

/// Why a call stopped, safe to show: it never holds raw arguments, secrets or withheld output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence.
    pub message: String,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More, for programs: violated paths, the deciding rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl CallError {
    /// Where in `details` the content blocks stand that a server told its failure in.
    pub const CONTENT: &str = "content";
    /// Where in `details` the structure stands that came with them.
    pub const STRUCTURED: &str = "structured";
    /// Where `details` has the notes that a server put on a failure as a whole.
    pub const META: &str = "meta";

    /// An error with a code and a sentence.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The same without what a server said in full of its failure.
    #[must_use]
    pub fn without_said(mut self) -> Self {
        if let Some(Value::Object(details)) = &mut self.details {
            for key in [Self::CONTENT, Self::STRUCTURED, Self::META] {
                details.shift_remove(key);
            }
            if details.is_empty() {
                self.details = None;
            }
        }
        self
    }

    /// The same for a reader who found this server at `base`: a link to a page of it, in `details.link`, is made whole.
    #[must_use]
    pub fn seen_from(mut self, base: &str) -> Self {
        let base = base.trim_end_matches('/');
        let link = self.details.as_mut().and_then(|details| details.get_mut("link"));
        if let Some(Value::String(link)) = link
            && link.starts_with('/')
            && !base.is_empty()
        {
            let whole = format!("{base}{link}");
            let said = format!("{link}{A_PAGE_HERE}");
            self.hint = self.hint.map(|hint| hint.replace(&said, &whole));
            *link = whole;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_link_to_a_page_here_is_made_whole_where_the_host_is_known() {
        let at = |link: &str, hint: &str| {
            CallError::new(ErrorCode::ConnectionNeeded, "connect first")
                .hint(hint)
                .details(json!({ "link": link, "service": "mcp:a" }))
        };
        let here =
            || at("/connections/mcp:a/connect", "connect at /connections/mcp:a/connect, a page of this gate");
        let whole = "https://gate.example/connections/mcp:a/connect";
        for base in ["https://gate.example", "https://gate.example/"] {
            assert_eq!(here().seen_from(base), at(whole, &format!("connect at {whole}")));
        }
        assert_eq!(here().seen_from(""), here());
        let elsewhere = || at("https://known.example/x", "connect at https://known.example/x");
        assert_eq!(elsewhere().seen_from("https://gate.example"), elsewhere());
        let bare = || CallError::new(ErrorCode::Timeout, "too late");
        assert_eq!(bare().seen_from("https://gate.example"), bare());
    }
}

//! Errors as every door shows them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::CallError;
use utoipa::ToSchema;

/// The body of every error.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorView,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorView {
    /// A stable code; each has a page in the documentation.
    #[schema(example = "validation")]
    pub code: String,
    /// One sentence.
    pub message: String,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}

impl From<CallError> for ErrorView {
    fn from(error: CallError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: error.message,
            hint: error.hint,
            details: error.details,
        }
    }
}

macro_rules! door_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal;)+) => {
        /// What a door itself can refuse with, before or around a call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum DoorCode {
            $($(#[$doc])* $name,)+
        }

        impl DoorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The text form.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// The HTTP status it comes with.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status),+ }
            }
        }
    };
}

door_codes! {
    /// The request has the wrong shape.
    BadRequest = "bad_request", 400;
    /// What came back from an identity provider proves nothing.
    IdentityInvalid = "identity_invalid", 400;
    /// No valid key came with it.
    Unauthenticated = "unauthenticated", 401;
    /// The caller may not do this.
    Forbidden = "forbidden", 403;
    /// The `Host` header names a host this server does not answer for.
    HostNotAllowed = "host_not_allowed", 403;
    /// The `Origin` header names another site.
    OriginNotAllowed = "origin_not_allowed", 403;
    /// A browser's changing request lacks its sign-in's CSRF token, or comes from another site.
    CsrfFailed = "csrf_failed", 403;
    /// An identity provider says who it is, and they are not let in.
    IdentityRefused = "identity_refused", 403;
    /// There is none, or none the caller may see.
    NotFound = "not_found", 404;
    /// A link that does not work: unknown, used, or over.
    TokenInvalid = "token_invalid", 404;
    /// The route has no such method.
    MethodNotAllowed = "method_not_allowed", 405;
    /// The body took too long to arrive.
    RequestTimeout = "request_timeout", 408;
    /// It does not stand where this would be possible.
    Conflict = "conflict", 409;
    /// The tenant's files take up all they may.
    StorageFull = "storage_full", 409;
    /// The body is too large.
    PayloadTooLarge = "payload_too_large", 413;
    /// The body is not JSON by its `Content-Type`.
    UnsupportedMediaType = "unsupported_media_type", 415;
    /// A text of policies that can't be used.
    PolicyInvalid = "policy_invalid", 422;
    /// Tried too often.
    TooManyAttempts = "too_many_attempts", 429;
    /// Too much that was answered waits to be read.
    Unread = "unread", 429;
    /// A fault of ours.
    Internal = "internal", 500;
    /// An identity provider does not answer as it should.
    IdentityUnavailable = "identity_unavailable", 502;
    /// The record can't be written or read now.
    StoreUnavailable = "store_unavailable", 503;
    /// The server is going down.
    ShuttingDown = "shutting_down", 503;
}

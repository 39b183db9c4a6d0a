//! What a use case can end with when there is nothing to show.

use toolgate_core::port::store::StoreError;
use toolgate_core::runner::RunError;

/// Why a use case could not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// There is none, or none the caller may see.
    #[error("there is no {what} with this id")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// The caller may see it but not do this.
    #[error("{message}")]
    Forbidden {
        /// Why.
        message: String,
        /// The policy rule that decided, where one did.
        rule: Option<String>,
        /// What would change it.
        hint: Option<String>,
    },
    /// What was asked for can't be, as it was said.
    #[error("{message}")]
    Invalid {
        /// Why, safe to show.
        message: String,
        /// What would help.
        hint: Option<String>,
        /// More, for programs.
        details: Option<serde_json::Value>,
    },
    /// A policy text that can't be saved.
    #[error("the policy can't be used: {0}")]
    Policy(toolgate_policy::cedar::PolicyProblems),
    /// Nobody can be let in with this.
    #[error("{message}")]
    Unauthenticated {
        /// Why, without a word on which part was wrong.
        message: &'static str,
    },
    /// Tried too often.
    #[error("too many attempts")]
    TooMany {
        /// When to come back.
        retry_after_seconds: u64,
    },
    /// A file that is too large.
    #[error("the file is larger than {most} bytes")]
    TooLarge {
        /// What it may have.
        most: u64,
    },
    /// A file of another kind than was asked for.
    #[error("the file is not of the kind {accept}")]
    WrongKind {
        /// The kinds that are taken.
        accept: toolgate_core::accept::Accept,
    },
    /// The tenant's files take up all they may.
    #[error("there is no room for this file")]
    StorageFull,
    /// A link that does not work: unknown, used, or over.
    #[error("this link does not work, or does not work any more")]
    TokenInvalid,
    /// An identity provider did not bring anyone in.
    #[error("{message}")]
    Identity {
        /// What kind of fault.
        fault: crate::identity::IdentityFault,
        /// Why, safe to show.
        message: &'static str,
    },
    /// It does not stand where this would be possible.
    #[error("{message}")]
    Conflict {
        /// Why.
        message: String,
    },
    /// Something outside could not do it; the error is a call's.
    #[error("{}", .0.message)]
    Call(toolgate_core::CallError),
    /// The runner could not take the call.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The store could not do it.
    #[error("the store could not do it")]
    Store(#[source] StoreError),
}

impl AppError {
    /// The caller may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Forbidden { message: message.into(), rule: None, hint: None }
    }

    /// What was asked for can't be.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), hint: None, details: None }
    }

    /// The same with what would help.
    #[must_use]
    pub fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Invalid { message, details, .. } => {
                Self::Invalid { message, hint: Some(text.into()), details }
            }
            Self::Forbidden { message, rule, .. } => {
                Self::Forbidden { message, rule, hint: Some(text.into()) }
            }
            other => other,
        }
    }
}

impl From<StoreError> for AppError {
    fn from(cause: StoreError) -> Self {
        match cause {
            StoreError::NotFound => Self::NotFound { what: "record" },
            StoreError::Conflict => {
                Self::Conflict { message: "it changed in the meantime; look again".to_owned() }
            }
            other => Self::Store(other),
        }
    }
}

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
        message: &'static str,
    },
    /// It does not stand where this would be possible.
    #[error("{message}")]
    Conflict {
        /// Why.
        message: String,
    },
    /// The runner could not take the call.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The store could not do it.
    #[error("the store could not do it")]
    Store(#[source] StoreError),
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

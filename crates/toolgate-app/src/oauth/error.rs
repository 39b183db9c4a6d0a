//! What an application is told when it asks wrongly: a code of the standards and a sentence.

use toolgate_core::port::store::StoreError;

use crate::AppError;

/// The codes of RFC 6749, 7009, 7591 and 8707 that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OauthCode {
    /// Something is missing or malformed.
    InvalidRequest,
    /// The application is unknown or did not prove who it is.
    InvalidClient,
    /// The code or refresh token does not work, or is someone else's.
    InvalidGrant,
    /// The application may not do this.
    UnauthorizedClient,
    /// No such way to a token.
    UnsupportedGrantType,
    /// Only codes are given.
    UnsupportedResponseType,
    /// No such scope, or more than was granted.
    InvalidScope,
    /// Not a place of ours that tokens are for.
    InvalidTarget,
    /// The person said no.
    AccessDenied,
    /// An address people can't be sent back to.
    InvalidRedirectUri,
    /// What an application says of itself can't be used.
    InvalidClientMetadata,
}

impl OauthCode {
    /// The text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
        }
    }
}

/// Why an application does not get what it asks for.
#[derive(Debug, thiserror::Error)]
pub enum OauthError {
    /// It asked wrongly.
    #[error("{description}")]
    Refused {
        /// In the standards' words.
        code: OauthCode,
        /// In ours, safe to show.
        description: String,
    },
    /// It could not be done.
    #[error(transparent)]
    App(#[from] AppError),
}

impl OauthError {
    pub(crate) fn new(code: OauthCode, description: impl Into<String>) -> Self {
        Self::Refused { code, description: description.into() }
    }
}

impl From<StoreError> for OauthError {
    fn from(cause: StoreError) -> Self {
        Self::App(cause.into())
    }
}

//! What applications are told: tokens, or a code of the standards and a sentence.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolgate_app::{AppError, OauthCode, OauthError};

use crate::error::ApiError;

/// Why an application does not get what it asks for, on its way out.
pub(super) struct Refusal(pub(super) OauthError);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.0 {
            OauthError::Refused { code, description } => refused(code, &description),
            OauthError::App(AppError::TooMany { retry_after_seconds }) => {
                let body = error("temporarily_unavailable", "this was tried too often");
                let wait = HeaderValue::from(retry_after_seconds);
                (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, wait)], body).into_response()
            }
            OauthError::App(other) => failed(&other.into()),
        }
    }
}

/// A wrong request.
pub(super) fn refused(code: OauthCode, description: &str) -> Response {
    let body = error(code.as_str(), description);
    match code {
        OauthCode::InvalidClient => {
            let challenge = HeaderValue::from_static("Basic realm=\"toolgate\"");
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)], body).into_response()
        }
        _ => (StatusCode::BAD_REQUEST, body).into_response(),
    }
}

/// A fault that is not the application's, or one of the door's own.
pub(super) fn failed(cause: &ApiError) -> Response {
    let status = cause.status();
    let code = match status.as_u16() {
        503 => "temporarily_unavailable",
        500.. => "server_error",
        _ => "invalid_request",
    };
    (status, error(code, &cause.view().message)).into_response()
}

fn error(code: &str, description: &str) -> Json<Value> {
    // RFC 6749 keeps descriptions to plain characters, without quotes and backslashes.
    let plain = |c: char| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '?' };
    let description: String = description.chars().map(plain).collect();
    Json(json!({ "error": code, "error_description": description }))
}

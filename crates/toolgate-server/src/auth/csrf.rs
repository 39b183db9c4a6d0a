//! What a browser changes must come from our own pages: cookies go along with whatever another site sends, the token
//! does not.

use axum::http::{HeaderMap, Method};
use subtle::ConstantTimeEq;
use toolgate_api::DoorCode;
use toolgate_app::Secret;

use crate::error::ApiError;

pub(super) const HEADER: &str = "x-toolgate-csrf";

/// The token that belongs to a cookie.
pub(super) fn token(cookie: &Secret) -> String {
    cookie.derive("csrf")
}

/// Checks a request that came with a cookie.
pub(super) fn check(method: &Method, headers: &HeaderMap, cookie: &Secret) -> Result<(), ApiError> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    from_our_pages(headers)?;
    let shown = headers.get(HEADER).map_or(&b""[..], |value| value.as_bytes());
    check_token(shown, cookie)
}

/// Checks the token itself.
pub(super) fn check_token(shown: &[u8], cookie: &Secret) -> Result<(), ApiError> {
    if bool::from(shown.ct_eq(token(cookie).as_bytes())) {
        return Ok(());
    }
    Err(ApiError::door(DoorCode::CsrfFailed, "the request does not carry this sign-in's CSRF token")
        .hint("send `csrf_token` of `GET /api/v1/auth/session` as `X-Toolgate-CSRF`"))
}

/// Checks what browsers say of where a request comes from. Those that say nothing are judged by the rest.
pub(super) fn from_our_pages(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get("sec-fetch-site").map(|value| value.as_bytes()) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(ApiError::door(DoorCode::CsrfFailed, "the request comes from another site's page")
            .hint("open Toolgate itself and try there")),
    }
}

//! What handlers take in: who calls, and a body that is small, in time, and JSON.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use toolgate_api::DoorCode;
use toolgate_app::Address;
use toolgate_core::number::{TOO_WIDE, has_wide_integer};
use toolgate_core::once::repeated_key;
use toolgate_core::{Actor, ErrorCode};

use crate::ServerState;
use crate::auth::{Peer, SignedInCaller, base_url};
use crate::error::ApiError;

/// How tokens of applications begin.
const TOKEN: &str = "tgo_";

/// The authenticated caller: by key, or without one by cookie.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) Actor);

impl FromRequestParts<ServerState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        let missing = || {
            ApiError::door(DoorCode::Unauthenticated, "no valid key came with the request")
                .hint("send `Authorization: Bearer <key>`")
        };
        let Some(value) = one_credential(&parts.headers)? else {
            if !SignedInCaller::comes_with(parts) {
                return Err(missing());
            }
            let caller = SignedInCaller::from_request_parts(parts, state).await?;
            return Ok(Self(caller.actor));
        };
        let text = value.to_str().map_err(|_| missing())?;
        let (scheme, key) = text.split_once(' ').ok_or_else(missing)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(missing());
        }
        let peer = Peer::of(&parts.extensions, &parts.headers, &state.settings.trusted_proxies);
        // A token works only where it is for.
        let base = base_url(&state.settings, &parts.headers);
        let address = Address { base: &base, path: parts.uri.path() };
        state.app.authenticate_at(key.trim(), peer.0, address).await?.map(Self).ok_or_else(|| {
            let elsewhere = key.trim().starts_with(TOKEN);
            let refused = missing().invalid_token();
            match elsewhere {
                true => {
                    refused.hint("a token works at the address it is for; get one for this, or send a key")
                }
                false => refused,
            }
        })
    }
}

/// The header with the credential. Of two, which one is meant depends on who reads them, so neither is believed.
pub(crate) fn one_credential(headers: &header::HeaderMap) -> Result<Option<&header::HeaderValue>, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(ApiError::door(DoorCode::BadRequest, "the request has two `Authorization` headers")
            .hint("send one")),
    }
}

/// What a request came with, for answers that go on: who it is can be asked again.
#[derive(Debug)]
pub(crate) struct Standing(Parts);

impl FromRequestParts<ServerState> for Standing {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &ServerState) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.clone()))
    }
}

impl Standing {
    /// The caller as they stand now.
    pub(crate) async fn caller(&mut self, state: &ServerState) -> Result<Caller, ApiError> {
        Caller::from_request_parts(&mut self.0, state).await
    }
}

/// The `{id}` of an address, as text.
#[derive(Debug)]
pub(crate) struct PathId(pub(crate) String);

impl FromRequestParts<ServerState> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        // What is not even text names nothing there is.
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiError::door(DoorCode::NotFound, "there is nothing with this id")),
        }
    }
}

/// A JSON body.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<ServerState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, ApiError> {
        check_json(request.headers().get(header::CONTENT_TYPE))?;
        parse(&read(request, state).await?).map(Self)
    }
}

/// A JSON body that may be left out.
#[derive(Debug)]
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<ServerState> for OptionalJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, ApiError> {
        let json = check_json(request.headers().get(header::CONTENT_TYPE));
        let bytes = read(request, state).await?;
        if bytes.is_empty() || (json.is_ok() && bytes.trim_ascii() == b"null") {
            return Ok(Self(T::default()));
        }
        json?;
        parse(&bytes).map(Self)
    }
}

/// That a body is announced as JSON, in the one encoding that JSON is sent in.
pub(crate) fn check_json(content_type: Option<&header::HeaderValue>) -> Result<(), ApiError> {
    let refused = |message: &str| {
        Err(ApiError::door(DoorCode::UnsupportedMediaType, message)
            .hint("send `Content-Type: application/json`"))
    };
    let text = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let json = essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 17
            && essence.to_ascii_lowercase().starts_with("application/")
            && essence.ends_with("+json"));
    if !json {
        return refused("the body must be JSON");
    }
    let mut charsets = parts
        .filter_map(|part| part.split_once('='))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"'));
    let utf8 =
        |charset: &str| ["utf-8", "utf8", "us-ascii"].iter().any(|one| charset.eq_ignore_ascii_case(one));
    if charsets.all(utf8) { Ok(()) } else { refused("JSON is sent as UTF-8, and in no other charset") }
}

pub(crate) async fn read(request: Request, state: &ServerState) -> Result<Bytes, ApiError> {
    let (parts, body) = request.into_parts();
    read_body(&parts.headers, body, state).await
}

/// Reads a body that is small and in time.
pub(crate) async fn read_body(
    headers: &header::HeaderMap,
    body: axum::body::Body,
    state: &ServerState,
) -> Result<Bytes, ApiError> {
    let most = state.settings.max_body_bytes;
    let plain = |value: &header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(header::CONTENT_ENCODING).iter().all(plain) {
        return Err(ApiError::door(DoorCode::UnsupportedMediaType, "a compressed body is not taken")
            .hint("send it as it is, without `Content-Encoding`"));
    }
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > most as u64) {
        return Err(ApiError::door(
            DoorCode::PayloadTooLarge,
            format!("the body is larger than {most} bytes"),
        ));
    }
    let body = Limited::new(body, most).collect();
    match tokio::time::timeout(state.settings.body_timeout, body).await {
        Err(_) => Err(ApiError::door(DoorCode::RequestTimeout, "the body took too long to arrive")),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(cause)) if cause.downcast_ref::<LengthLimitError>().is_some() => {
            Err(ApiError::door(DoorCode::PayloadTooLarge, format!("the body is larger than {most} bytes")))
        }
        Ok(Err(_)) => Err(ApiError::door(DoorCode::BadRequest, "the body broke off")),
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if has_wide_integer(bytes) {
        return Err(ApiError::call(ErrorCode::Validation, format!("the body {TOO_WIDE}"))
            .hint("write it as a text, if the tool takes one"));
    }
    // Serde would take an array for a struct, field by field; a body is an object or nothing.
    let object = bytes.trim_ascii_start().starts_with(b"{");
    let parsed = if object {
        serde_json::from_slice(bytes)
    } else {
        serde_json::from_slice(bytes)
            .and_then(|_: serde::de::IgnoredAny| Err(serde::de::Error::custom("the body is not an object")))
    };
    parsed.map_err(|cause| {
        let place = format!("line {} column {}", cause.line(), cause.column());
        if cause.is_data() {
            // Serde's text repeats values; only the names of fields may go back.
            let text = cause.to_string();
            if let Some(key) = repeated_key(&text) {
                return ApiError::call(ErrorCode::Validation, format!("the input says `{key}` twice"))
                    .hint("say each field of an object once");
            }
            let named = text.starts_with("unknown field") || text.starts_with("missing field");
            let what =
                if named && text.len() < 200 { text } else { format!("it has the wrong shape at {place}") };
            return ApiError::door(DoorCode::BadRequest, format!("the body can't be used: {what}"))
                .hint("see /api/v1/openapi.json for its shape");
        }
        let what = if cause.to_string().starts_with("recursion limit") {
            "is nested too deep".to_owned()
        } else {
            format!("is not JSON, at {place}")
        };
        ApiError::call(ErrorCode::InvalidJson, format!("the body {what}")).hint("send one JSON object")
    })
}

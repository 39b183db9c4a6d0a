//! The web UI: files from the binary, under a policy that lets nothing else run.

use std::borrow::Cow;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use toolgate_ui::File;

use crate::ServerState;
use crate::error;

/// Only our own scripts, and nothing from any other host. Styles may stand in the page: dialogs and toasts bring some.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data: blob:; media-src data:; font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// A build names these files by their content: what has one name never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// To be asked for again each time, so that a new build is seen.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Addresses that belong to programs: what is unknown there is an error in JSON, never a page.
const NOT_PAGES: &[&str] = &["api", "mcp", "auth", "oauth", "embed", "share", ".well-known", "assets"];

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/", get(front)).route("/assets/{*path}", get(asset))
}

async fn front(headers: HeaderMap) -> Response {
    page(&headers)
}

async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let path = format!("assets/{path}");
    match is_file(&path) {
        true => file(&path, &headers, FOREVER),
        false => error::unknown_route().await.into_response(),
    }
}

/// Whatever no route knows: a file of the UI, one of its pages, or nothing.
pub(crate) async fn fallback(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let of_programs = path.split('/').next().is_some_and(|first| NOT_PAGES.contains(&first));
    if of_programs || !matches!(method, Method::GET | Method::HEAD) {
        return error::unknown_route().await.into_response();
    }
    if path != "index.html" && is_file(path) {
        return file(path, &headers, ASK_AGAIN);
    }
    // Programs that lost their way are told so; browsers get the page, which knows its own addresses.
    match headers.get(header::ACCEPT).is_some_and(|value| contains(value, "text/html")) {
        true => page(&headers),
        false => error::unknown_route().await.into_response(),
    }
}

fn page(headers: &HeaderMap) -> Response {
    let mut response = file("index.html", headers, ASK_AGAIN);
    if !toolgate_ui::BUILT {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Packed copies are handed out in place of what they are copies of, never by themselves.
fn is_file(path: &str) -> bool {
    !path.ends_with(".gz") && toolgate_ui::file(path).is_some()
}

fn file(path: &str, asked: &HeaderMap, cache: HeaderValue) -> Response {
    let Some(File { bytes, kind }) = toolgate_ui::file(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // The build leaves a packed copy beside what is worth packing.
    let accepts = asked.get(header::ACCEPT_ENCODING).is_some_and(|value| contains(value, "gzip"));
    let packed = if accepts { toolgate_ui::file(&format!("{path}.gz")) } else { None };
    let (bytes, encoding) = match packed {
        Some(packed) => (packed.bytes, Some(HeaderValue::from_static("gzip"))),
        None => (bytes, None),
    };
    let body = match bytes {
        Cow::Borrowed(bytes) => axum::body::Body::from(bytes),
        Cow::Owned(bytes) => axum::body::Body::from(bytes),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, cache);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, encoding);
    }
    response
}

fn contains(value: &HeaderValue, word: &str) -> bool {
    value.to_str().is_ok_and(|text| text.contains(word))
}

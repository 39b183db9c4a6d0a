//! What a caller without a valid token is told: where to learn how to get one (RFC 9728), and what it must allow.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::DoorCode;
use toolgate_core::id::Slug;
use toolgate_core::{Actor, Credential};

use super::base_url;
use crate::ServerState;
use crate::error::ApiError;

/// What an application asks for when nobody told it more.
pub(crate) const USUAL_SCOPE: &str = "tools";

/// The answer to a request that nobody vouches for: 401, with the address of the metadata that says who hands out
/// tokens. When a token came along, it is also called invalid, so that clients get a new one instead of trying again.
pub(crate) fn unauthenticated(state: &ServerState, headers: &HeaderMap, path: &str) -> Response {
    let came = headers.contains_key(header::AUTHORIZATION);
    let (message, error) = match came {
        true => ("no valid token came with the request", "error=\"invalid_token\", "),
        false => ("the request needs a token or a key", ""),
    };
    let metadata = metadata_url(state, headers, path);
    let refused = ApiError::door(DoorCode::Unauthenticated, message)
        .hint(format!("sign in as {metadata} says, or send a key as `Authorization: Bearer <key>`"));
    challenged(refused, &format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"{USUAL_SCOPE}\""))
}

/// The answer to a token that allows too little: 403, with the scope that would do.
pub(crate) fn insufficient_scope(
    state: &ServerState,
    headers: &HeaderMap,
    path: &str,
    scope: &str,
) -> Response {
    let metadata = metadata_url(state, headers, path);
    let refused = ApiError::door(DoorCode::Forbidden, "the token does not allow this")
        .hint(format!("get a token with the scope `{scope}`"));
    challenged(
        refused,
        &format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\""),
    )
}

/// Whether a caller comes with a token that is for something else than tools: it would see an empty list and not know
/// why.
pub(crate) fn lacks_tools(actor: &Actor) -> bool {
    matches!(actor.credential, Credential::Token(_)) && !actor.scopes.narrow_tools()
}

/// The path of the protected resource that a request's path belongs to: empty, `/mcp` or `/mcp/{toolset}`.
pub(crate) fn resource_path(path: &str) -> &str {
    match path.strip_prefix("/mcp") {
        Some("" | "/") => "/mcp",
        Some(rest) if rest.strip_prefix('/').is_some_and(|name| name.parse::<Slug>().is_ok()) => path,
        // What could not be written into a header, or is no resource of its own, belongs to the server as a whole.
        _ => "",
    }
}

fn metadata_url(state: &ServerState, headers: &HeaderMap, path: &str) -> String {
    let base = base_url(&state.settings, headers);
    format!("{base}/.well-known/oauth-protected-resource{}", resource_path(path))
}

fn challenged(refused: ApiError, challenge: &str) -> Response {
    let mut response = refused.into_response();
    // A host with letters no header can carry never got past the door.
    let value = HeaderValue::from_str(challenge).unwrap_or(HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    response
}

#[cfg(test)]
mod tests {
    use super::resource_path;

    #[test]
    fn a_path_belongs_to_one_resource() {
        let check = |path: &str, resource: &str| assert_eq!(resource_path(path), resource, "{path}");
        check("/mcp", "/mcp");
        check("/mcp/", "/mcp");
        check("/mcp/sales", "/mcp/sales");
        check("/mcp/sales/more", "");
        check("/mcp/\"x", "");
        check("/mcpx", "");
        check("/api/v1/tools", "");
        check("/", "");
    }
}

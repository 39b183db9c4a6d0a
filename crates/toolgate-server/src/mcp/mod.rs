//! The MCP door: `/mcp` for all tools a caller may use, `/mcp/{toolset}` for some. The protocol itself is in
//! `toolgate-mcp`; here it meets HTTP.

mod accept;
mod caller;
mod get;
mod job;
mod places;
mod plane;
mod post;
mod refuse;
mod session;
mod sse;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use toolgate_app::App;
use toolgate_mcp::{McpGate, Sealer};

use crate::{ServerSettings, ServerState};
use places::Places;
use plane::AppPlane;
use session::EndedSessions;

/// What the MCP door works with.
#[derive(Debug)]
pub(crate) struct McpDoor {
    gate: McpGate,
    plane: Arc<AppPlane>,
    places: Places,
    ended: EndedSessions,
}

impl McpDoor {
    /// The door to this product.
    pub(crate) fn new(app: &App, settings: &ServerSettings) -> Self {
        let plane = Arc::new(AppPlane::new(app.clone()));
        // Without a key that other nodes share, what is sealed here opens here only.
        let sealer = settings.sealer.clone().or_else(|| Sealer::of_this_process().ok());
        let sealer = sealer.unwrap_or_else(|| Sealer::new([]));
        let gate = McpGate::new(Arc::clone(&plane) as _, sealer, settings.fixtures.clone());
        Self { gate, plane, places: Places::default(), ended: EndedSessions::default() }
    }
}

/// Both endpoints.
pub(crate) fn routes(state: &ServerState) -> Router<ServerState> {
    let endpoint = || post(post::post).get(get::get).delete(session::delete).options(preflight);
    Router::new()
        .route("/mcp", endpoint())
        .route("/mcp/{toolset}", endpoint())
        .layer(axum::middleware::from_fn_with_state(state.clone(), share))
}

/// What a browser asks before it sends a page's request here. The door lets only the operator's origins come so far.
async fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, GET, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, \
             last-event-id, idempotency-key",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets pages of the operator's origins read answers: by name, never all.
async fn share(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let named = |origin: &HeaderValue| {
        state.settings.origins.iter().any(|known| origin.as_bytes().eq_ignore_ascii_case(known.as_bytes()))
    };
    let shared = origin.filter(named);
    let plain = shared.is_none() && request.method() == Method::OPTIONS;
    if plain {
        return refuse::method_not_allowed();
    }
    let mut response = next.run(request).await;
    if let Some(origin) = shared {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        let exposed = HeaderValue::from_static("mcp-session-id, www-authenticate");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

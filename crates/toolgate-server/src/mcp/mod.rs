//! The MCP door: `/mcp` for all tools a caller may use, `/mcp/{toolset}` for some. The protocol itself is in
//! `toolgate-mcp`; here it meets HTTP.

mod accept;
mod batch;
mod caller;
mod get;
mod job;
mod keep;
mod places;
mod plane;
mod post;
mod refuse;
mod session;
mod sse;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use toolgate_app::App;
use toolgate_mcp::{McpGate, Sealer, Unread};

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
    unread: Arc<Unread>,
}

impl McpDoor {
    /// The door to this product.
    pub(crate) fn new(app: &App, settings: &ServerSettings) -> Self {
        let plane = Arc::new(AppPlane::new(app.clone()));
        // Without a key that other nodes share, what is sealed here opens here only.
        let sealer = settings.sealer.clone().or_else(|| Sealer::of_this_process().ok());
        let sealer = sealer.unwrap_or_else(|| Sealer::new([]));
        let gate = McpGate::new(Arc::clone(&plane) as _, sealer, settings.fixtures.clone());
        let unread = Unread::within(settings.unread);
        Self { gate, plane, places: Places::default(), ended: EndedSessions::default(), unread }
    }

    /// What seals what callers bring back.
    pub(crate) const fn sealer(&self) -> &Sealer {
        self.gate.sealer()
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
async fn preflight(asked: HeaderMap) -> Response {
    let mut allowed =
        "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, \
                       mcp-name, last-event-id, idempotency-key"
            .to_owned();
    // Each tool may have headers of its own, so these are let through as they are asked for.
    let asked = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    for name in asked.unwrap_or_default().split(',').filter_map(param_header).take(MOST_PARAMS) {
        allowed.push_str(", ");
        allowed.push_str(name.as_str());
    }
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, GET, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, allowed.as_str()),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// The most headers of a tool's own parameters that a page may ask for at once.
const MOST_PARAMS: usize = 64;

fn param_header(name: &str) -> Option<HeaderName> {
    let name: HeaderName = name.trim().parse().ok()?;
    name.as_str().starts_with("mcp-param-").then_some(name)
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

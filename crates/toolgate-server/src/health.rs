//! Is it alive, is it ready, how is it doing.

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use toolgate_api::DoorCode;

use crate::ServerState;
use crate::auth::PeerAddress;
use crate::error::ApiError;
use crate::extract::Caller;

pub(crate) fn routes() -> Router<ServerState> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(show_metrics))
}

/// Ready when the store answers.
async fn ready(State(state): State<ServerState>) -> Response {
    let ping = state.app.store().ping();
    match tokio::time::timeout(std::time::Duration::from_secs(2), ping).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n").into_response(),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n").into_response(),
    }
}

/// Who may read `/metrics` at the door that everyone knocks at. It names tools of all tenants, and tenants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Metrics {
    /// Whoever asks from this machine, where nothing stands before the server, and who runs the server, by their key.
    #[default]
    Operators,
    /// Everyone.
    Public,
    /// Nobody: it is served elsewhere.
    Elsewhere,
}

/// A router for a listener of its own that serves `/metrics` and nothing else, to whoever can reach it.
pub fn metrics_alone(metrics: PrometheusHandle) -> Router {
    Router::new().route("/metrics", get(show_alone)).with_state(metrics)
}

async fn show_alone(State(metrics): State<PrometheusHandle>, headers: HeaderMap) -> Response {
    // A page that was led here by a renamed host reads as one of this place; who types the address in does not.
    if headers.get("sec-fetch-site").is_some_and(|site| site != "none") {
        return StatusCode::FORBIDDEN.into_response();
    }
    rendered(&metrics)
}

async fn show_metrics(State(state): State<ServerState>, mut parts: Parts) -> Result<Response, ApiError> {
    let Some(metrics) = &state.metrics else { return Err(nothing_here()) };
    match state.settings.metrics {
        Metrics::Elsewhere => return Err(nothing_here()),
        Metrics::Public => {}
        Metrics::Operators if from_this_machine(&state, &parts) => {}
        Metrics::Operators => {
            let Caller(actor) = Caller::from_request_parts(&mut parts, &state).await.map_err(|refused| {
                refused.hint("send the key of someone who runs this server, or see `[metrics]` of its file")
            })?;
            if !state.app.runs_this_server(&actor) {
                let refused = "only who runs this server may read its metrics";
                return Err(ApiError::door(DoorCode::Forbidden, refused).hint(
                    "use the key of someone who manages tenants, or see `[metrics]` of the server's file",
                ));
            }
        }
    }
    Ok(rendered(metrics))
}

/// Whether a request comes from this very machine. Behind a proxy everything seems to, so where one is spoken of nothing
/// counts as that.
fn from_this_machine(state: &ServerState, parts: &Parts) -> bool {
    const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
    let direct = parts.extensions.get::<PeerAddress>().is_some_and(|peer| peer.0.is_loopback());
    direct
        && state.settings.public_url.is_none()
        && state.settings.trusted_proxies.is_empty()
        && !FORWARDED.iter().any(|name| parts.headers.contains_key(*name))
}

fn nothing_here() -> ApiError {
    ApiError::door(DoorCode::NotFound, "there are no metrics here")
        .hint("`[metrics]` of the server's file says where they are")
}

fn rendered(metrics: &PrometheusHandle) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (headers, metrics.render()).into_response()
}

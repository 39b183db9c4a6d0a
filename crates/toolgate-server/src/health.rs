//! Is it alive, is it ready, how is it doing.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::ServerState;

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

async fn show_metrics(State(state): State<ServerState>) -> Response {
    match &state.metrics {
        Some(metrics) => {
            let headers = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
            (headers, metrics.render()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

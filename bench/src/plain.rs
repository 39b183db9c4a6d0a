//! The same handler with no pipeline: parse the body, look at the clock, answer. No key, no policy, no schema, no record.

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) async fn serve(address: String) -> anyhow::Result<()> {
    let router = Router::new().route("/api/v1/tools/{id}/invoke", post(handle));
    Ok(axum::serve(TcpListener::bind(address).await?, router).await?)
}

async fn handle(Json(body): Json<Value>) -> Json<Value> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let zone = body["input"]["timezone"].as_str().unwrap_or("UTC");
    Json(json!({ "ok": true, "value": { "unix_ms": now.as_millis() as u64, "timezone": zone } }))
}

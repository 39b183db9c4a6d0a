//! A fast MCP server to stand behind a gateway: one tool that echoes, no sessions, plain JSON answers.

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Its one tool.
pub(crate) const TOOL: &str = "echo";

pub(crate) async fn serve(address: String) -> anyhow::Result<()> {
    let router = Router::new().route("/mcp", post(answer));
    Ok(axum::serve(TcpListener::bind(address).await?, router).await?)
}

async fn answer(body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(id) = request.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let info = json!({ "name": "bench-upstream", "version": "1" });
    let mut result = match request["method"].as_str() {
        Some("tools/call") => {
            let text = &request["params"]["arguments"]["text"];
            json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "text": text } })
        }
        Some("tools/list") => json!({ "tools": [tool()], "ttlMs": 60_000, "cacheScope": "public" }),
        Some("server/discover") => {
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "ttlMs": 60_000,
                "cacheScope": "public" })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            return (StatusCode::NOT_FOUND, Json(body)).into_response();
        }
    };
    result["resultType"] = "complete".into();
    result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    ([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn tool() -> Value {
    let text = json!({ "type": "object", "required": ["text"], "properties": {
        "text": { "type": "string", "description": "What to say." } } });
    json!({
        "name": TOOL,
        "description": "Says it again.",
        "inputSchema": text,
        "outputSchema": text,
        "annotations": { "readOnlyHint": true },
    })
}

//! The yardstick: the least a recording MCP gateway can do. It parses the call, checks an allow list, forwards the call
//! and answers once a line about it is on disk. No keys, no policy, no schema, no redaction, no chain.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

struct Gateway {
    upstream: String,
    client: reqwest::Client,
    allowed: HashSet<&'static str>,
    record: SyncSender<(Vec<u8>, oneshot::Sender<()>)>,
}

/// Forwards calls to `upstream` and writes a line for each to the file `record`.
pub(crate) async fn serve(address: String, upstream: String, record: String) -> anyhow::Result<()> {
    let (queue, lines) = sync_channel(1024);
    let file = File::create(&record).with_context(|| record.clone())?;
    std::thread::spawn(move || write_down(file, &lines));
    let client = crate::process::http_client()?;
    let gateway =
        Gateway { upstream, client, allowed: HashSet::from([crate::upstream::TOOL]), record: queue };
    let router = Router::new().route("/mcp", post(forward)).with_state(Arc::new(gateway));
    Ok(axum::serve(TcpListener::bind(address).await?, router).await?)
}

async fn forward(State(gateway): State<Arc<Gateway>>, headers: HeaderMap, body: Bytes) -> Response {
    match pass(&gateway, headers, body).await {
        Ok(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        Err(cause) => (StatusCode::BAD_GATEWAY, cause.to_string()).into_response(),
    }
}

async fn pass(gateway: &Gateway, mut headers: HeaderMap, body: Bytes) -> anyhow::Result<Bytes> {
    let call: Value = serde_json::from_slice(&body)?;
    let tool = call["params"]["name"].as_str().context("a name")?;
    anyhow::ensure!(gateway.allowed.contains(tool), "not allowed");
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::AUTHORIZATION);
    let line = format!("{tool} {}\n", call["params"]["arguments"]);
    let answer = gateway.client.post(&gateway.upstream).headers(headers).body(body).send().await?;
    let answer = answer.error_for_status()?.bytes().await?;
    let (done, written) = oneshot::channel();
    gateway.record.send((line.into_bytes(), done)).context("the record")?;
    written.await?;
    Ok(answer)
}

/// Writes what is queued, flushes once, then tells all who wait.
fn write_down(mut file: File, lines: &Receiver<(Vec<u8>, oneshot::Sender<()>)>) {
    while let Ok(first) = lines.recv() {
        let (mut text, mut waiting) = (first.0, vec![first.1]);
        while let Ok((line, done)) = lines.try_recv() {
            text.extend(line);
            waiting.push(done);
        }
        if file.write_all(&text).and_then(|()| file.sync_data()).is_err() {
            return;
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

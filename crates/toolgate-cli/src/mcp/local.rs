//! The way to a gate in this process, over local data: no address, no key, one caller.

use std::time::Duration;

use anyhow::bail;
use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;
use toolgate_app::Background;
use toolgate_server::ServerState;

use super::{McpArgs, Post, Reply, Way, bridge};
use crate::config::Config;
use crate::serve::{ServeArgs, StoreArgs, wire};
use crate::telemetry::{self, LogFormat};

struct Local {
    router: axum::Router,
    path: String,
}

/// Serves local data until standard input ends.
pub(super) async fn run(args: &McpArgs) -> anyhow::Result<()> {
    let telemetry = telemetry::start(LogFormat::Text)?;
    let store = StoreArgs {
        data: args.data.clone().unwrap_or_else(|| "data".into()),
        database_url: args.database_url.clone(),
    };
    let config = Config::read(args.config.as_deref())?;
    let nowhere = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let mut wired = wire(&ServeArgs::within(store, args.config.clone())?, config, nowhere).await?;
    if wired.app.local_caller(&args.caller).await?.is_none() {
        bail!("there is no `{}` in this data; name someone with --as", args.caller);
    }
    wired.settings.mcp_caller = Some(args.caller.clone());
    let stop = CancellationToken::new();
    let state = ServerState::new(wired.app.clone(), wired.settings, None, stop.clone());
    let way = Local { router: toolgate_server::router(state), path: args.path() };
    let served = bridge::run(way).await;
    stop.cancel();
    wired.runner.drain(Duration::from_secs(25)).await;
    wired.background.abort();
    if let Err(cause) = Background::anchor(&wired.runner).await {
        tracing::warn!(error = %cause, "the record was not anchored on the way out");
    }
    let _ = tokio::task::spawn_blocking(move || telemetry.finish()).await;
    served
}

#[async_trait]
impl Way for Local {
    async fn send(&self, post: Post) -> anyhow::Result<Reply> {
        let mut request = Request::builder()
            .method(post.method)
            .uri(&self.path)
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &post.headers {
            request = request.header(name, value);
        }
        let body = match &post.body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let response = toolgate_server::answer(&self.router, request.body(body)?).await;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        Ok(Reply {
            status: response.status().as_u16(),
            streams: header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")),
            session: header("mcp-session-id").map(str::to_owned),
            body: response
                .into_body()
                .into_data_stream()
                .map(|part| part.map(|bytes| bytes.to_vec()).map_err(anyhow::Error::from))
                .boxed(),
        })
    }
}

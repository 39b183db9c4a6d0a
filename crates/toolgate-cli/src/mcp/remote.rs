//! The way to a gate elsewhere.

use anyhow::{Context, anyhow};
use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{Client, Method, Url};

use super::{Post, Reply, Way};
use crate::client::{Global, RawGate};

/// A gate elsewhere.
#[derive(Debug)]
pub(super) struct Remote {
    client: Client,
    url: Url,
    key: Option<reqwest::header::HeaderValue>,
}

impl Remote {
    pub(super) fn new(global: &Global, path: &str) -> anyhow::Result<Self> {
        let RawGate { client, url, key } = RawGate::of(global, path).map_err(|why| anyhow!(why))?;
        Ok(Self { client, url, key })
    }
}

#[async_trait]
impl Way for Remote {
    async fn send(&self, post: Post) -> anyhow::Result<Reply> {
        let method = Method::from_bytes(post.method.as_bytes())?;
        let mut request = self
            .client
            .request(method, self.url.clone())
            .header("accept", "application/json, text/event-stream");
        if let Some(key) = &self.key {
            request = request.header("authorization", key.clone());
        }
        for (name, value) in &post.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &post.body {
            request = request.json(body);
        }
        // The cause would name the address with all there is in it; the host and its port are enough.
        let host = self.url.host_str().unwrap_or_default();
        let host = self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let response = request.send().await.map_err(|cause| cause.without_url());
        let response = response.with_context(|| format!("the gate at {host} can't be reached"))?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        Ok(Reply {
            status: response.status().as_u16(),
            streams: header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")),
            session: header("mcp-session-id").map(str::to_owned),
            body: response
                .bytes_stream()
                .map(|part| part.map(|bytes| bytes.to_vec()).map_err(|cause| cause.without_url().into()))
                .boxed(),
        })
    }
}

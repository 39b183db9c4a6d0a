//! A receiver that counts effects: what a tool did out there, as the outside saw it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// An HTTP/1.1 server on a free loopback port that counts POSTs by the `effect_id` in their JSON body. An effect
/// counts once its body has arrived, before the answer goes out. Stops on drop.
#[derive(Debug)]
pub struct CountingReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    counts: Mutex<HashMap<String, u64>>,
    held: watch::Sender<bool>,
    seen: watch::Sender<u64>,
}

impl CountingReceiver {
    /// Starts a receiver.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port");
        let address = listener.local_addr().expect("the port just bound");
        let shared = Arc::new(Shared {
            counts: Mutex::default(),
            held: watch::Sender::new(false),
            seen: watch::Sender::new(0),
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { address, shared, server }
    }

    /// Where to POST.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How often each effect arrived.
    #[must_use]
    pub fn counts(&self) -> HashMap<String, u64> {
        self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Holds all answers back from now on, or lets them go.
    pub fn hold(&self, held: bool) {
        self.shared.held.send_replace(held);
    }

    /// Waits until at least `total` effects have arrived since the start.
    pub async fn arrived(&self, total: u64) {
        let mut seen = self.shared.seen.subscribe();
        seen.wait_for(|seen| *seen >= total).await.expect("the receiver runs");
    }
}

impl Drop for CountingReceiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Connections end with the server's task, so that a held answer does not outlive the receiver.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
        connections.spawn(async move {
            // A client that goes away in the middle is part of what tests do.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        return Ok(plain(StatusCode::METHOD_NOT_ALLOWED, "{}"));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(plain(StatusCode::BAD_REQUEST, r#"{"error":"the body broke off"}"#));
    };
    let body: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    let Some(effect) = body.get("effect_id").and_then(serde_json::Value::as_str) else {
        return Ok(plain(StatusCode::BAD_REQUEST, r#"{"error":"there is no `effect_id`"}"#));
    };
    *shared.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(effect.to_owned()).or_default() += 1;
    shared.seen.send_modify(|seen| *seen += 1);
    let mut held = shared.held.subscribe();
    let _ = held.wait_for(|held| !held).await;
    Ok(plain(StatusCode::OK, r#"{"received":true}"#))
}

fn plain(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn post(receiver: &CountingReceiver, body: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(receiver.address).await.unwrap();
        let request = format!(
            "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn effects_are_counted_even_while_answers_are_held() {
        let receiver = Arc::new(CountingReceiver::start().await);
        assert!(post(&receiver, r#"{"effect_id":"a"}"#).await.starts_with("HTTP/1.1 200"));
        assert!(post(&receiver, "{}").await.starts_with("HTTP/1.1 400"));
        receiver.hold(true);
        let held = tokio::spawn({
            let receiver = Arc::clone(&receiver);
            async move { post(&receiver, r#"{"effect_id":"a"}"#).await }
        });
        receiver.arrived(2).await;
        assert_eq!(receiver.counts(), HashMap::from([("a".to_owned(), 2)]));
        assert!(!held.is_finished());
        receiver.hold(false);
        assert!(held.await.unwrap().starts_with("HTTP/1.1 200"));
    }
}

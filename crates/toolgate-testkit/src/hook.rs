//! A receiver of webhooks: keeps what came, and answers as a test says.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Hooked {
    /// Its headers, by lower-case name.
    pub headers: HashMap<String, String>,
    /// Its body, byte for byte.
    pub body: String,
    /// What it was answered.
    pub status: u16,
}

impl Hooked {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }

    /// One header; empty when it did not come.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// An HTTP/1.1 server on a free loopback port. Answers 200 unless told otherwise. Stops on drop.
#[derive(Debug)]
pub struct HookReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// A status and headers.
type Answer = (u16, Vec<(String, String)>);

#[derive(Debug)]
struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    held: watch::Sender<bool>,
    came: watch::Sender<Vec<Hooked>>,
}

impl HookReceiver {
    /// Starts a receiver.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port");
        let address = listener.local_addr().expect("the port just bound");
        let shared = Arc::new(Shared {
            answers: Mutex::default(),
            held: watch::Sender::new(false),
            came: watch::Sender::new(Vec::new()),
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { address, shared, server }
    }

    /// Where to POST.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Answers the next request so.
    pub fn answer_next(&self, status: u16, headers: &[(&str, &str)]) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner).push_back((status, headers));
    }

    /// Holds all answers back from now on, or lets them go.
    pub fn hold(&self, held: bool) {
        self.shared.held.send_replace(held);
    }

    /// Everything that came.
    #[must_use]
    pub fn came(&self) -> Vec<Hooked> {
        self.shared.came.borrow().clone()
    }

    /// Waits until something that fits came, or so many of it, and returns all that fits.
    pub async fn until(&self, count: usize, fits: impl Fn(&Hooked) -> bool) -> Vec<Hooked> {
        let mut came = self.shared.came.subscribe();
        let all = came.wait_for(|came| came.iter().filter(|one| fits(one)).count() >= count).await;
        all.expect("the receiver runs").iter().filter(|one| fits(one)).cloned().collect()
    }
}

impl Drop for HookReceiver {
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
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return Ok(Response::new(Full::default())) };
    let next = shared.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (status, headers) = next.unwrap_or((200, Vec::new()));
    let hooked = Hooked {
        headers: parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
            .collect(),
        body: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        status,
    };
    shared.came.send_modify(|came| came.push(hooked));
    let mut held = shared.held.subscribe();
    let _ = held.wait_for(|held| !held).await;
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::default()).expect("a response"))
}

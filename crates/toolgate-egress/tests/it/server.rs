//! A server that answers with what it is told, byte by byte, and keeps what it was asked.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolgate_egress::{EgressClient, EgressPolicy, Lookup};

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request with `answer`, then closes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut stream| {
            let answer = answer.clone();
            async move {
                let _ = stream.write_all(&answer).await;
            }
        })
        .await
    }

    /// Answers every request with whatever `handle` does to the stream.
    pub(crate) async fn start<F, Fut>(handle: F) -> Self
    where
        F: Fn(TcpStream) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 16 << 10];
                let read = stream.read(&mut request).await.unwrap_or(0);
                kept.lock().unwrap().push(String::from_utf8_lossy(&request[..read]).into_owned());
                tokio::spawn(handle(stream));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

pub(crate) fn sent_on(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} On\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

pub(crate) fn client(allow: &[&str]) -> EgressClient {
    EgressClient::new(policy(allow)).unwrap()
}

pub(crate) fn policy(allow: &[&str]) -> EgressPolicy {
    EgressPolicy {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        ..EgressPolicy::default()
    }
}

/// Every name leads here.
pub(crate) struct Leads(pub(crate) Vec<IpAddr>);

#[async_trait]
impl Lookup for Leads {
    async fn lookup(&self, _name: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

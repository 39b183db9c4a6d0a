//! Answers that are too large, too slow or broken.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use toolgate_egress::Method;

use crate::server::{Server, client, ok};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

/// What a request with little room ends with, and plenty of time.
async fn code(server: &Server) -> &'static str {
    code_within(server, Duration::from_secs(30), Duration::from_secs(30)).await
}

async fn code_within(server: &Server, idle: Duration, total: Duration) -> &'static str {
    let request = client(&["127.0.0.1"]).request(Method::GET, server.url("/")).max_bytes(1000);
    request.idle(idle).timeout(total).send().await.unwrap_err().code()
}

#[tokio::test]
async fn a_body_said_to_be_too_large_is_not_read() {
    let server = Server::answering(ok(&"x".repeat(1001))).await;
    assert_eq!(code(&server).await, "egress.too_large");
}

#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let server = Server::start(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await;
        while stream.write_all(&[b'x'; 512]).await.is_ok() {}
    })
    .await;
    assert_eq!(code(&server).await, "egress.too_large");
}

#[tokio::test]
async fn headers_without_end_are_cut_off() {
    let server = Server::start(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").await.is_ok() {}
    })
    .await;
    assert_eq!(code(&server).await, "egress.failed");
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\ncontent-length: 0\r\n\r\n", "a".repeat(70_000));
    assert_eq!(code(&Server::answering(long).await).await, "egress.too_large");
}

#[tokio::test]
async fn silence_and_trickles_end() {
    let silent = Server::start(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    assert_eq!(code_within(&silent, LONG, SHORT).await, "egress.timeout");

    let stalls = Server::start(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(code_within(&stalls, SHORT, LONG).await, "egress.timeout");

    let trickles = Server::start(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n").await;
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(code_within(&trickles, LONG, SHORT).await, "egress.timeout");
}

#[tokio::test]
async fn a_broken_answer_is_a_fault() {
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
    assert_eq!(code(&server).await, "egress.failed");
    assert_eq!(code(&Server::answering("nonsense").await).await, "egress.failed");
}

//! Requests that leave through a proxy.

use toolgate_egress::{EgressClient, EgressPolicy, Method};

use crate::server::{Server, ok, policy};

fn through(proxy: &Server, allow: &[&str]) -> EgressClient {
    let address = format!("http://ada:hunter2@{}", proxy.address).parse().unwrap();
    EgressClient::new(EgressPolicy { proxy: Some(address), plain_http: true, ..policy(allow) }).unwrap()
}

#[tokio::test]
async fn requests_go_through_the_proxy_under_its_name() {
    let proxy = Server::answering(ok("by proxy")).await;
    let client = through(&proxy, &[]);
    // The name leads nowhere here; the proxy knows where.
    let answer = client.request(Method::GET, "http://mcp.example.test/a").send().await.unwrap();
    assert_eq!(answer.bytes, "by proxy");
    let asked = proxy.asked().remove(0).to_ascii_lowercase();
    assert!(asked.starts_with("get http://mcp.example.test/a http/1.1"), "{asked}");
    assert!(asked.contains("proxy-authorization: basic ywrhomh1bnrlcji="), "{asked}");
}

#[tokio::test]
async fn what_is_encrypted_is_asked_for_by_connect() {
    let proxy = Server::answering("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    let client = through(&proxy, &[]);
    let refused = client.request(Method::GET, "https://mcp.example.test/a").send().await;
    assert!(refused.is_err());
    assert!(proxy.asked()[0].starts_with("CONNECT mcp.example.test:443 HTTP/1.1"), "{:?}", proxy.asked());
    assert!(client.lean_to(&"https://mcp.example.test/".parse().unwrap()).is_none());
}

#[tokio::test]
async fn what_is_inside_is_not_asked_of_the_proxy() {
    let (proxy, inside) = (Server::answering(ok("by proxy")).await, Server::answering(ok("inside")).await);
    let client = through(&proxy, &[&inside.address.to_string()]);
    // What the operator names is reached as it always is.
    let answer = client.request(Method::GET, inside.url("/")).send().await.unwrap();
    assert_eq!(answer.bytes, "inside");
    for address in [
        "http://127.0.0.1:9/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://localhost/",
        "http://metadata.google.internal/",
        "https://printer/",
    ] {
        let error = client.request(Method::GET, address).send().await.unwrap_err();
        assert_eq!(error.code(), "egress.refused", "{address}");
    }
    assert!(proxy.asked().is_empty(), "{:?}", proxy.asked());
}

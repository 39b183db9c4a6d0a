//! Places inside, by address and by name.

use std::sync::Arc;

use toolgate_egress::{EgressClient, Method};

use crate::server::{Leads, Server, client, ok, policy};

#[tokio::test]
async fn loopback_is_refused_until_it_is_allowed() {
    let server = Server::answering(ok("hello")).await;
    let error = client(&[]).request(Method::GET, server.url("/")).send().await.unwrap_err();
    assert_eq!(error.code(), "egress.refused");
    assert!(server.asked().is_empty());

    let port = server.address.to_string();
    let answer = client(&[&port]).request(Method::GET, server.url("/a?b=c")).send().await.unwrap();
    assert_eq!(&answer.bytes[..], b"hello");
    let asked = server.asked().remove(0);
    assert!(asked.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(concat!("user-agent: toolgate/", env!("CARGO_PKG_VERSION"))), "{asked}");
}

#[tokio::test]
async fn an_operator_may_add_one_host() {
    let server = Server::answering(ok("hello")).await;
    let client = client(&[]).allowing(&server.address.to_string()).unwrap();
    assert!(client.request(Method::GET, server.url("/")).send().await.unwrap().status.is_success());
    assert!(client.allowing("not a host").is_err());
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused() {
    let server = Server::answering(ok("hello")).await;
    let port = server.address.port();
    // `localhost` by the system's own lookup; the other by a lookup that lies.
    let system =
        EgressClient::new(toolgate_egress::EgressPolicy { plain_http: true, ..policy(&[]) }).unwrap();
    let url = format!("http://localhost:{port}/");
    assert_eq!(system.request(Method::GET, &url).send().await.unwrap_err().code(), "egress.refused");

    for inside in ["127.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "10.0.0.1"] {
        let lookup = Arc::new(Leads(vec![inside.parse().unwrap()]));
        let client = EgressClient::with_lookup(policy(&[]), lookup).unwrap();
        let url = format!("https://innocent.example:{port}/");
        let error = client.request(Method::GET, &url).send().await.unwrap_err();
        assert_eq!(error.code(), "egress.refused", "{inside}");
        // The client for transports has the same care, and so has the short way.
        assert!(client.http().get(&url).send().await.is_err());
        let plain = format!("http://innocent.example:{port}/").parse().unwrap();
        for address in [url.parse().unwrap(), plain] {
            let mut request = hyper::Request::new(Default::default());
            *request.uri_mut() = address;
            let lean = client.lean_to(&url.parse().unwrap()).unwrap();
            assert!(lean.send(request).await.unwrap_err().is_connect(), "{inside}");
        }
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_name_with_a_good_and_a_bad_address_goes_to_the_good_one_alone() {
    let server = Server::answering(ok("hello")).await;
    let port = server.address.port();
    // 127.0.0.2 is allowed and has nobody listening; 127.0.0.1 is not allowed and has the server.
    let lookup = Arc::new(Leads(vec!["127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap()]));
    let open = toolgate_egress::EgressPolicy { plain_http: true, ..policy(&["127.0.0.2"]) };
    let client = EgressClient::with_lookup(open, lookup).unwrap();
    let url = format!("http://innocent.example:{port}/");
    let error = client.request(Method::GET, &url).send().await.unwrap_err();
    assert_eq!(error.code(), "egress.unreachable");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn an_allowed_name_may_lead_inside() {
    let server = Server::answering(ok("hello")).await;
    let lookup = Arc::new(Leads(vec!["127.0.0.1".parse().unwrap()]));
    let allow = format!("inside.example:{}", server.address.port());
    let client = EgressClient::with_lookup(policy(&[&allow]), lookup).unwrap();
    let url = format!("http://INSIDE.example:{}/", server.address.port());
    assert!(client.request(Method::GET, &url).send().await.unwrap().status.is_success());
}

#[tokio::test]
async fn errors_hold_no_more_than_the_host() {
    let client = client(&["127.0.0.1:1"]);
    for url in [
        "http://127.0.0.1:1/path-s3cret?token=s3cret",
        "https://user:s3cret@example.com/",
        "https://10.0.0.1/?s3cret",
        "s3cret",
    ] {
        let request = client.request(Method::GET, url).bearer("s3cret");
        assert!(!format!("{request:?}").contains("s3cret"));
        let error = request.send().await.unwrap_err();
        let mut said = format!("{error} {error:?} {}", error.hint());
        let mut cause = std::error::Error::source(&error);
        while let Some(one) = cause {
            said.push_str(&format!(" {one} {one:?}"));
            cause = one.source();
        }
        assert!(!said.contains("s3cret"), "{said}");
    }
}

//! Being sent on.

use toolgate_egress::Method;

use crate::server::{Server, client, ok, sent_on};

#[tokio::test]
async fn a_redirect_is_an_answer_unless_it_is_to_be_followed() {
    let server = Server::answering(sent_on(302, "/next")).await;
    let answer = client(&["127.0.0.1"]).request(Method::GET, server.url("/")).send().await.unwrap();
    assert_eq!(answer.status, 302);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_redirect_from_an_allowed_place_to_a_refused_one_is_refused() {
    let inside = Server::answering(ok("private")).await;
    for to in [inside.url("/"), "http://169.254.169.254/latest".to_owned(), "file:///etc/passwd".to_owned()] {
        let outside = Server::answering(sent_on(302, &to)).await;
        let client = client(&[&outside.address.to_string()]);
        let error = client.request(Method::GET, outside.url("/")).redirects(3).send().await.unwrap_err();
        assert!(matches!(error.code(), "egress.refused" | "egress.address"), "{to}: {error}");
    }
    assert!(inside.asked().is_empty());
}

#[tokio::test]
async fn another_origin_gets_no_credentials() {
    let other = Server::answering(ok("other")).await;
    let first = Server::answering(sent_on(307, &other.url("/there"))).await;
    let answer = client(&["127.0.0.1"])
        .request(Method::GET, first.url("/"))
        .bearer("s3cret")
        .header("x-api-key", "s3cret")
        .header("accept", "application/json")
        .redirects(1)
        .send()
        .await
        .unwrap();
    assert_eq!(&answer.bytes[..], b"other");
    assert!(first.asked()[0].contains("Bearer s3cret"));
    let asked = other.asked().remove(0);
    assert!(asked.contains("accept: application/json"), "{asked}");
    assert!(!asked.contains("s3cret"), "{asked}");
}

#[tokio::test]
async fn another_origin_gets_no_body() {
    let other = Server::answering(ok("other")).await;
    let first = Server::answering(sent_on(307, &other.url("/"))).await;
    let request = client(&["127.0.0.1"]).request(Method::POST, first.url("/")).form([("secret", "s3cret")]);
    assert_eq!(request.redirects(1).send().await.unwrap_err().code(), "egress.redirect");
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_post_that_is_sent_on_becomes_a_get() {
    let other = Server::answering(ok("other")).await;
    let first = Server::answering(sent_on(303, &other.url("/"))).await;
    let request = client(&["127.0.0.1"]).request(Method::POST, first.url("/")).json(&["s3cret"]);
    request.redirects(1).send().await.unwrap();
    let asked = other.asked().remove(0);
    assert!(asked.starts_with("GET / ") && !asked.contains("s3cret"), "{asked}");
}

#[tokio::test]
async fn a_loop_ends() {
    let server = Server::answering(sent_on(302, "/")).await;
    let error =
        client(&["127.0.0.1"]).request(Method::GET, server.url("/")).redirects(3).send().await.unwrap_err();
    assert_eq!(error.code(), "egress.redirect");
    assert_eq!(server.asked().len(), 4);
}

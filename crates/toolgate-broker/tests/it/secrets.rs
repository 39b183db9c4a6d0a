//! Secrets that someone gave.

use std::time::Duration;

use serde_json::json;
use toolgate_core::ErrorCode;
use toolgate_core::connection::{ConnectionKind, ConnectionState, Place};
use toolgate_core::port::connection::{Credentials, Presented, Whose};

use crate::given::{Given, SERVICE, ada, tenant};

async fn presented(given: &Given) -> String {
    let presented = given.broker.present(&tenant(), SERVICE, Whose::Person(&ada())).await.unwrap();
    assert!(!format!("{presented:?}").contains("s3cret"));
    match &presented[0] {
        Presented::Bearer(secret) => format!("bearer {}", secret.reveal()),
        Presented::Header(name, secret) => format!("header {name} {}", secret.reveal()),
        Presented::Env(name, secret) => format!("env {name} {}", secret.reveal()),
    }
}

#[tokio::test]
async fn each_kind_is_presented_in_its_way() {
    let given = Given::new().await;
    given.give(ConnectionKind::Token, "s3cret").await;
    assert_eq!(presented(&given).await, "bearer s3cret");
    given.give(ConnectionKind::Header { name: "x-api-key".to_owned() }, "s3cret").await;
    assert_eq!(presented(&given).await, "header x-api-key s3cret");
    given.give(ConnectionKind::Env { name: "TOKEN".to_owned() }, "s3cret").await;
    assert_eq!(presented(&given).await, "env TOKEN s3cret");
    assert!(given.stored().await.0.last_used_at.is_some());
}

#[tokio::test]
async fn what_is_missing_is_named_with_where_to_connect_it() {
    let given = Given::new().await;
    let error = given.token().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionNeeded);
    let link = "https://gate.example/connections/mcp:server/connect";
    assert_eq!(error.details, Some(json!({ "service": SERVICE, "link": link, "whose": "person" })));
    let shared = given.broker.present(&tenant(), SERVICE, Whose::Shared).await.unwrap_err();
    assert_eq!(shared.details.unwrap()["whose"], "shared");
}

#[tokio::test]
async fn a_person_never_gets_another_persons() {
    let given = Given::new().await;
    given.give(ConnectionKind::Token, "s3cret").await;
    let bob = "user:bob".parse().unwrap();
    let other = "other".parse().unwrap();
    for (tenant, whose) in
        [(&tenant(), Whose::Person(&bob)), (&tenant(), Whose::Shared), (&other, Whose::Person(&ada()))]
    {
        let error = given.broker.present(tenant, SERVICE, whose).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::ConnectionNeeded);
    }
}

/// Whoever may change where a service is must not be sent what was meant for where it was.
#[tokio::test]
async fn a_service_that_moved_gets_nothing() {
    let given = Given::new().await;
    given.give(ConnectionKind::Token, "s3cret").await;
    for place in [
        Some(Place::Url("https://evil.example/mcp".to_owned())),
        Some(Place::Program(vec!["evil".to_owned()])),
        None,
    ] {
        given.move_service(place);
        assert_eq!(given.token().await.unwrap_err().code, ErrorCode::ConnectionNeeded);
    }
    given.move_service(Some(Place::Url(given.server.url())));
    assert_eq!(given.token().await.unwrap(), "s3cret");
}

#[tokio::test]
async fn a_refused_secret_has_to_be_given_again() {
    let given = Given::new().await;
    given.give(ConnectionKind::Token, "s3cret").await;
    given.refuse().await;
    assert!(given.token().await.is_ok(), "it may have been the one before that was refused");
    given.pass(Duration::from_secs(60));
    given.refuse().await;
    assert_eq!(given.token().await.unwrap_err().code, ErrorCode::ConnectionNeeded);
    assert_eq!(given.stored().await.0.state, ConnectionState::NeedsLogin);
    given.give(ConnectionKind::Token, "an0ther").await;
    assert_eq!(given.token().await.unwrap(), "an0ther");
}

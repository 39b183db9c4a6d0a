//! Logging in at an authorization server.

use toolgate_broker::{ClientRegistry, KnownClient};
use toolgate_core::ErrorCode;
use toolgate_core::connection::{ClientAuth, ConnectionKind, Place};
use toolgate_core::port::broker::{Broker, Login, Returned};

use crate::given::{Given, REDIRECT, ada, returned, tenant};

#[tokio::test]
async fn a_person_logs_in_and_the_token_works() {
    let given = Given::new().await;
    let connection = given.log_in().await;
    let ConnectionKind::Oauth(account) = &connection.kind else { panic!("a login") };
    assert_eq!(
        (account.issuer.clone(), account.resource.clone()),
        (given.server.issuer(), given.server.url())
    );
    assert_eq!(account.scopes, ["tools"]);
    assert!(given.server.accepts(&given.token().await.unwrap()));
    assert_eq!(given.server.refreshes(), 0);
}

#[tokio::test]
async fn papers_hold_no_secret_in_the_clear() {
    let given = Given::new().await;
    let underway = given.broker.depart(&given.login()).await.unwrap();
    let back = returned(underway.papers.clone(), &given.server.consent(&underway.url));
    let challenge = underway.url.split("code_challenge=").nth(1).unwrap().split('&').next().unwrap();
    assert!(!underway.papers.as_str().contains(challenge) && !underway.papers.as_str().contains("verifier"));
    given.broker.arrive(&tenant(), &ada(), back).await.unwrap();
}

/// What Ada began ends with Ada alone, in her own tenant, and only with an answer of the server she was sent to.
#[tokio::test]
async fn a_login_ends_where_it_began() {
    let given = Given::new().await;
    let begin = async || {
        let underway = given.broker.depart(&given.login()).await.unwrap();
        returned(underway.papers, &given.server.consent(&underway.url))
    };
    let bob = "user:bob".parse().unwrap();
    let other = "other".parse().unwrap();
    assert!(given.broker.arrive(&tenant(), &bob, begin().await).await.is_err());
    assert!(given.broker.arrive(&other, &ada(), begin().await).await.is_err());
    let mix_up = Returned { issuer: Some("https://evil.example".to_owned()), ..begin().await };
    assert!(given.broker.arrive(&tenant(), &ada(), mix_up).await.is_err());
    // This server always says who it is.
    let silent = Returned { issuer: None, ..begin().await };
    assert!(given.broker.arrive(&tenant(), &ada(), silent).await.is_err());
    let no_code = Returned { code: None, ..begin().await };
    assert!(given.broker.arrive(&tenant(), &ada(), no_code).await.is_err());
    let forged = Returned { code: Some("code-9999".to_owned()), ..begin().await };
    let error = given.broker.arrive(&tenant(), &ada(), forged).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionNeeded);
    assert!(!format!("{error:?}").contains("own words"), "{error:?}");
    assert!(given.broker.arrive(&tenant(), &ada(), begin().await).await.is_ok());
}

/// A code from one login is worth nothing with the papers of another: PKCE.
#[tokio::test]
async fn a_stolen_code_is_worth_nothing() {
    let given = Given::new().await;
    let first = given.broker.depart(&given.login()).await.unwrap();
    let second = given.broker.depart(&given.login()).await.unwrap();
    let stolen = returned(second.papers, &given.server.consent(&first.url));
    assert!(given.broker.arrive(&tenant(), &ada(), stolen).await.is_err());
}

#[tokio::test]
async fn servers_that_are_not_what_they_say_are_not_used() {
    let given = Given::new().await;
    let fails = async |message: &str| {
        let error = given.broker.depart(&given.login()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::UpstreamFailed);
        assert!(error.message.contains(message), "{}", error.message);
    };
    given.server.faults(|faults| faults.issuer = Some("https://other.example".to_owned()));
    fails("another's name").await;
    given.server.faults(|faults| (faults.issuer, faults.pkce) = (None, false));
    fails("PKCE").await;
    let inside = "http://169.254.169.254/token".to_owned();
    given.server.faults(|faults| (faults.token_endpoint, faults.pkce) = (Some(inside), true));
    fails("not a public address").await;
    given.server.faults(|faults| (faults.token_endpoint, faults.registers) = (None, false));
    fails("lets nobody register").await;
    let inside = Login { place: Place::Url("http://127.0.0.1:1/mcp".to_owned()), ..given.login() };
    let error = given.broker.depart(&inside).await.unwrap_err();
    assert!(error.message.contains("not a public address"), "{}", error.message);
    let program = Login { place: Place::Program(vec!["x".to_owned()]), ..given.login() };
    assert!(given.broker.depart(&program).await.is_err());
}

#[tokio::test]
async fn the_operators_client_comes_before_our_own_document_and_that_before_registering() {
    let document = "https://gate.example/oauth/client-metadata.json";
    let clients = ClientRegistry { known: Vec::new(), document: Some(document.to_owned()) };
    let given = Given::with_clients(clients).await;
    let url = given.broker.depart(&given.login()).await.unwrap().url;
    assert!(url.contains("client_id=client-"), "{url}");
    given.server.faults(|faults| faults.reads_documents = true);
    let url = given.broker.depart(&given.login()).await.unwrap().url;
    assert!(url.contains("client_id=https%3A%2F%2Fgate.example%2Foauth%2Fclient-metadata.json"), "{url}");
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_and_keeps_it_sealed() {
    let mut given = Given::new().await;
    given.server.add_client("ours", REDIRECT, Some("s3cret-client"));
    let known = KnownClient {
        issuer: given.server.issuer(),
        client_id: "ours".to_owned(),
        client_secret: Some("s3cret-client".to_owned().into()),
    };
    assert!(!format!("{known:?}").contains("s3cret"));
    given.set_clients(ClientRegistry { known: vec![known], document: None });
    let underway = given.broker.depart(&given.login()).await.unwrap();
    assert!(!underway.papers.as_str().contains("s3cret"));
    let connection = given.log_in().await;
    let ConnectionKind::Oauth(account) = connection.kind else { panic!("a login") };
    assert_eq!((account.client_id.as_str(), account.client_auth), ("ours", ClientAuth::Basic));
    given.pass(std::time::Duration::from_secs(3600));
    assert!(given.server.accepts(&given.token().await.unwrap()), "and it refreshes with it");
}

/// Logging in again does not register again.
#[tokio::test]
async fn a_client_registers_once() {
    let given = Given::new().await;
    given.log_in().await;
    given.log_in().await;
    let registered = given.server.requests().iter().filter(|request| *request == "POST /register").count();
    assert_eq!(registered, 1);
}

/// Every table of a database, as text: nothing that was given out or made is in any of them.
#[tokio::test]
async fn no_table_holds_a_secret() {
    let url = toolgate_testkit::shared_postgres().create_database().await;
    let store = std::sync::Arc::new(toolgate_store_postgres::PostgresStore::connect(&url).await.unwrap());
    let given = Given::on(store, ClientRegistry::default()).await;
    given.log_in().await;
    given.pass(std::time::Duration::from_secs(3600));
    given.token().await.unwrap();
    let (client, link) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(link);
    let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
    let mut everything = String::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        for row in client.query(&format!("SELECT t::text FROM \"{table}\" t"), &[]).await.unwrap() {
            everything.push_str(row.get(0));
        }
    }
    assert!(everything.contains("mcp:server"), "the tables were read");
    let secrets = given.server.secrets();
    assert!(secrets.len() >= 4);
    for secret in secrets {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!everything.contains(&secret) && !everything.contains(&hex));
    }
}

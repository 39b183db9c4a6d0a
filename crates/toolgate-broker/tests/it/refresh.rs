//! Tokens that are over.

use std::sync::Arc;
use std::time::Duration;

use toolgate_broker::ClientRegistry;
use toolgate_core::ErrorCode;
use toolgate_core::connection::ConnectionState;
use toolgate_core::port::store::Store;
use toolgate_store_postgres::PostgresStore;

use crate::given::{Given, token_of};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_token_that_is_over_is_made_anew_before_it_is_sent() {
    let given = Given::new().await;
    given.log_in().await;
    let first = given.token().await.unwrap();
    given.pass(HOUR - Duration::from_secs(10));
    let second = given.token().await.unwrap();
    assert_ne!(first, second);
    assert!(given.server.accepts(&second));
    assert_eq!((given.stored().await.1.version, given.server.refreshes()), (2, 1));
}

#[tokio::test]
async fn one_node_asks_once_however_many_wait() {
    let given = Given::new().await;
    given.log_in().await;
    given.pass(HOUR);
    let given = Arc::new(given);
    let asks: Vec<_> = (0..50)
        .map(|_| {
            tokio::spawn({
                let given = Arc::clone(&given);
                async move { given.token().await.unwrap() }
            })
        })
        .collect();
    let mut tokens = Vec::new();
    for ask in asks {
        tokens.push(ask.await.unwrap());
    }
    assert_eq!(given.server.refreshes(), 1);
    assert!(tokens.iter().all(|token| *token == tokens[0]));
}

/// The server ends everything when a refresh token comes twice, as real ones do: nodes must not race with it.
async fn many_nodes(store: Arc<dyn Store>) {
    let given = Given::on(store, ClientRegistry::default()).await;
    given.log_in().await;
    for round in 1..=3 {
        given.pass(HOUR);
        let nodes: Vec<_> = (0..8).map(|_| given.another_node()).collect();
        let asks = nodes.iter().map(|node| token_of(node));
        let tokens: Vec<String> =
            futures::future::join_all(asks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(given.server.refreshes(), round);
        assert!(tokens.iter().all(|token| *token == tokens[0] && given.server.accepts(token)));
    }
    assert!(!given.server.saw_reuse());
}

#[tokio::test]
async fn nodes_on_sqlite_refresh_once() {
    let folder = tempfile::TempDir::new().unwrap();
    many_nodes(Arc::new(toolgate_store_sqlite::SqliteStore::open(folder.path()).unwrap())).await;
}

#[tokio::test]
async fn nodes_on_postgres_refresh_once() {
    let url = toolgate_testkit::shared_postgres().create_database().await;
    many_nodes(Arc::new(PostgresStore::connect(&url).await.unwrap())).await;
}

#[tokio::test]
async fn a_refresh_token_that_was_revoked_means_logging_in_again() {
    let given = Given::new().await;
    given.log_in().await;
    given.server.revoke_all();
    given.pass(HOUR);
    let error = given.token().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionNeeded);
    assert!(error.details.unwrap()["link"].as_str().unwrap().ends_with("/connections/mcp:server/connect"));
    assert_eq!(given.stored().await.0.state, ConnectionState::NeedsLogin);
    // And it is not asked again and again.
    assert_eq!(given.token().await.unwrap_err().code, ErrorCode::ConnectionNeeded);
    assert_eq!(given.server.refreshes(), 1);
    given.log_in().await;
    assert!(given.server.accepts(&given.token().await.unwrap()));
}

#[tokio::test]
async fn a_server_that_is_down_costs_nothing_but_time() {
    let given = Given::new().await;
    given.log_in().await;
    let first = given.token().await.unwrap();
    given.server.faults(|faults| faults.down = true);
    given.pass(HOUR - Duration::from_secs(10));
    assert_eq!(given.token().await.unwrap(), first, "it is good for some seconds yet");
    given.pass(Duration::from_secs(10));
    assert_eq!(given.token().await.unwrap_err().code, ErrorCode::UpstreamFailed);
    given.server.faults(|faults| faults.down = false);
    assert!(given.server.accepts(&given.token().await.unwrap()), "nothing was lost");
}

#[tokio::test]
async fn a_token_that_is_refused_is_made_anew_once() {
    let given = Given::new().await;
    given.log_in().await;
    given.pass(Duration::from_secs(60));
    given.refuse().await;
    assert_eq!(given.stored().await.0.state, ConnectionState::Expired);
    assert!(given.token().await.is_ok());
    assert_eq!((given.server.refreshes(), given.stored().await.0.state), (1, ConnectionState::Ok));
    // Refused again so soon: another refresh would not help.
    given.pass(Duration::from_secs(10));
    given.refuse().await;
    assert_eq!(given.token().await.unwrap_err().code, ErrorCode::ConnectionNeeded);
}

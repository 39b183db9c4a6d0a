//! Many nodes on one database.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::join_all;
use toolgate_core::JsonText;
use toolgate_core::administration::{AdminChange, Write, administration_session};
use toolgate_core::document::{DocumentKind, Expect};
use toolgate_core::id::{SessionId, TenantId};
use toolgate_core::invocation::Invocation;
use toolgate_core::port::gate::SharedMeters;
use toolgate_core::port::store::{
    AdminStore, AuditStore, Begun, InvocationStore, Session, SessionStore, StoreError,
};
use toolgate_store_postgres::PostgresStore;
use toolgate_testkit::shared_postgres;

use crate::given::*;

async fn nodes(count: usize) -> (Vec<Arc<PostgresStore>>, String) {
    let url = shared_postgres().create_database().await;
    let stores = join_all((0..count).map(|_| PostgresStore::connect(&url))).await;
    (stores.into_iter().map(|store| Arc::new(store.unwrap())).collect(), url)
}

async fn session(store: &PostgresStore) -> SessionId {
    let id = SessionId::generate();
    let owner = "user:ada".parse().unwrap();
    let session = Session {
        id,
        tenant: TenantId::default_tenant(),
        owner,
        subject: None,
        labels: Vec::new(),
        created_at: now(),
    };
    store.create_session(session).await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_writing_to_one_session_keep_one_chain() {
    let (nodes, _) = nodes(3).await;
    let session = session(&nodes[0]).await;
    let tasks = (0..24).map(|number| {
        let nodes = nodes.clone();
        tokio::spawn(async move {
            // Each step from another node than the one before.
            let row = begin(&nodes[number % 3], joining(session)).await;
            let row = nodes[(number + 1) % 3].advance(progress(&row)).await.unwrap();
            nodes[(number + 2) % 3].advance(completed(&row)).await.unwrap()
        })
    });
    for row in join_all(tasks).await {
        let row = row.unwrap();
        assert_eq!(nodes[0].invocation_events(&row).await.unwrap().len(), 3);
    }
    assert_eq!(chain(&nodes[0], session).await.len(), 72);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_racing_for_one_key_have_one_winner() {
    let (nodes, _) = nodes(3).await;
    for round in 0..10 {
        let tasks = (0..12).map(|number| {
            let node = Arc::clone(&nodes[number % 3]);
            let mut opened = opened();
            opened.idempotency_key = Some(format!("k{round}").parse().unwrap());
            tokio::spawn(async move { node.begin(running(opened)).await.unwrap() })
        });
        let begun: Vec<Begun> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        let ids: HashSet<_> = begun
            .iter()
            .map(|begun| match begun {
                Begun::Fresh(row) | Begun::Repeat(row) => row.id(),
            })
            .collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(begun.iter().filter(|begun| matches!(begun, Begun::Fresh(_))).count(), 1);
    }
}

fn change(expect: Expect) -> AdminChange {
    let body = JsonText::parse("{}").unwrap();
    let write = Write::PutDocument { kind: DocumentKind::Role, name: "r".into(), body, expect };
    AdminChange::new(TenantId::default_tenant(), "user:root".parse().unwrap(), now(), &"test", vec![write])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_changing_one_tenant_keep_one_chain() {
    let (nodes, _) = nodes(3).await;
    let before = nodes[0].tenant(&TenantId::default_tenant()).await.unwrap().unwrap().generation;
    let tasks = (0..30).map(|number| {
        let node = Arc::clone(&nodes[number % 3]);
        tokio::spawn(async move { node.change(change(Expect::Anything)).await.unwrap() })
    });
    let made: HashSet<u64> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(made, (before + 1..=before + 30).collect());
    let session = administration_session(&TenantId::default_tenant());
    assert_eq!(chain(&nodes[0], session).await.len(), 30);
    anchor_until(&nodes[0], session).await;
    let role = nodes[1].document(&TenantId::default_tenant(), DocumentKind::Role, "r").await.unwrap();
    assert_eq!(role.unwrap().revision, 30);
}

/// Whoever stops waiting for a change leaves no lock behind, and calls go on beside one that waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_waits_holds_up_nobody_else() {
    let (nodes, url) = nodes(1).await;
    let mut other = client(&url).await;
    let held = other.transaction().await.unwrap();
    held.execute("SELECT 1 FROM tenants FOR UPDATE", &[]).await.unwrap();
    let waiting: Vec<_> = (0..40)
        .map(|_| {
            let node = Arc::clone(&nodes[0]);
            tokio::spawn(async move { node.change(change(Expect::Anything)).await })
        })
        .collect();
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        begin(&nodes[0], running(opened())).await;
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    let mut waiting = waiting.into_iter();
    waiting.by_ref().take(20).for_each(|task| task.abort());
    held.rollback().await.unwrap();
    for task in waiting {
        task.await.unwrap().unwrap();
    }
    let made = chain(&nodes[0], administration_session(&TenantId::default_tenant())).await.len() as u64;
    let role =
        nodes[0].document(&TenantId::default_tenant(), DocumentKind::Role, "r").await.unwrap().unwrap();
    assert!(made >= 20 && role.revision == made, "{made} events, revision {}", role.revision);
    assert!(matches!(nodes[0].change(change(Expect::Absent)).await, Err(StoreError::Conflict)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spoiled_batch_spoils_only_what_is_wrong_in_it() {
    let (nodes, _) = nodes(1).await;
    let tasks = (0..64).map(|number| {
        let node = Arc::clone(&nodes[0]);
        let mut opened = opened();
        if number % 8 == 0 {
            opened.rule = Some("a\0b".into());
        }
        tokio::spawn(async move { node.begin(running(opened)).await.is_ok() })
    });
    let written = join_all(tasks).await.into_iter().map(Result::unwrap);
    assert!(written.enumerate().all(|(number, written)| written == (number % 8 != 0)));
}

/// A failover or restore can take back commits that a node remembers. It must go on from what is there.
#[tokio::test]
async fn a_chain_goes_on_from_what_the_database_has() {
    let (nodes, url) = nodes(1).await;
    let store = &nodes[0];
    let session = session(store).await;
    let first = begin(store, joining(session)).await;
    // Written, remembered, and then gone.
    let lose = async |row: Invocation| {
        store.advance(progress(&row)).await.unwrap();
        let sql = format!(
            "ALTER TABLE events DISABLE TRIGGER ALL; DELETE FROM events WHERE invocation_id = '{id}';
             ALTER TABLE events ENABLE TRIGGER ALL; ALTER TABLE invocations DISABLE TRIGGER ALL;
             DELETE FROM invocations WHERE id = '{id}'; ALTER TABLE invocations ENABLE TRIGGER ALL",
            id = row.id()
        );
        client(&url).await.batch_execute(&sql).await.unwrap();
    };
    lose(begin(store, joining(session)).await).await;
    let first = store.advance(progress(&first)).await.unwrap();
    lose(begin(store, joining(session)).await).await;
    begin(store, joining(session)).await;
    store.advance(completed(&first)).await.unwrap();
    assert_eq!(chain(store, session).await.len(), 4);
}

#[tokio::test]
async fn an_anchor_waits_for_transactions_still_open() {
    let (nodes, url) = nodes(1).await;
    let store = &nodes[0];
    let mut slow = client(&url).await;
    let open = slow.transaction().await.unwrap();
    let late = SessionId::generate();
    open.execute(
        "INSERT INTO events (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
         VALUES ($1, 1, 'default', 'inv', 'tool.started', 'user:ada', 0, '{}', $2, $2)",
        &[&late.to_string(), &[0u8; 32].as_slice()],
    )
    .await
    .unwrap();
    let early = begin(store, running(opened())).await.opened.session;
    // Written after the open one began: anchoring it now would pass the open one by.
    assert_eq!(store.write_anchor(now(), 100).await.unwrap(), 0);
    open.commit().await.unwrap();
    anchor_until(store, early).await;
    anchor_until(store, late).await;
}

#[tokio::test]
async fn anchors_go_on_after_a_move_to_another_server() {
    let (nodes, url) = nodes(1).await;
    let store = &nodes[0];
    let before = begin(store, running(opened())).await.opened.session;
    anchor_until(store, before).await;
    client(&url)
        .await
        .batch_execute(
            "ALTER TABLE anchors DISABLE TRIGGER ALL; UPDATE anchors SET watermark = '9000000000';
             ALTER TABLE anchors ENABLE TRIGGER ALL",
        )
        .await
        .unwrap();
    let after = begin(store, running(opened())).await.opened.session;
    anchor_until(store, after).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_measure_a_rate_together() {
    let (nodes, _) = nodes(3).await;
    let five = std::num::NonZeroU32::new(5).unwrap();
    let tasks = (0..30).map(|number| {
        let node = Arc::clone(&nodes[number % 3]);
        tokio::spawn(async move { node.take("tenant limit key", five).await.unwrap() })
    });
    let answers: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5, "five at once, whichever node");
    for wait in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        // One call is let through every twelve seconds.
        assert!(*wait <= std::time::Duration::from_secs(12), "{wait:?}");
    }
    assert!(nodes[0].take("another key", five).await.unwrap().is_ok());
}

/// A node of a newer release may have written kinds that this one has never heard of.
#[tokio::test]
async fn a_document_of_an_unknown_kind_keeps_nobody_from_the_others() {
    let (store, client) = store_and_client().await;
    client
        .batch_execute(
            "INSERT INTO documents (tenant_id, kind, name, body, revision, written_by, written_at)
             VALUES ('default', 'horoscope', 'x', '{}', 1, 'user:a', 1), ('default', 'role', 'x', '{}', 1, 'user:a', 1)",
        )
        .await
        .unwrap();
    let found = store.documents(&TenantId::default_tenant()).await.unwrap();
    assert_eq!(found.iter().map(|document| document.kind).collect::<Vec<_>>(), [DocumentKind::Role]);
}

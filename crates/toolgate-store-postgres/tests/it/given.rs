//! Databases, calls and raw SQL to test with.

use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};
use toolgate_core::JsonText;
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::event::{ChainHead, Event};
use toolgate_core::id::{SessionId, WorkerId};
use toolgate_core::invocation::{Invocation, Opened, Step};
use toolgate_core::port::store::{AuditStore, Begun, InvocationStore, SessionStore};
pub(crate) use toolgate_store_contract::{now, opened};
use toolgate_store_postgres::PostgresStore;
use toolgate_testkit::shared_postgres;

/// A store on a database of its own, and a connection that goes past it.
pub(crate) async fn store_and_client() -> (PostgresStore, Client) {
    let url = shared_postgres().create_database().await;
    (PostgresStore::connect(&url).await.unwrap(), client(&url).await)
}

pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The code with which the database refuses this.
pub(crate) async fn refusal(client: &Client, sql: &str) -> SqlState {
    let error = client.batch_execute(sql).await.expect_err("the database refuses it");
    error.code().expect("the database refuses it").clone()
}

/// A running call in a session of its own.
pub(crate) fn running(opened: Opened) -> NewCall {
    call(opened, &[Step::Started { attempt: 1, worker: WorkerId::generate() }], SessionUse::New)
}

/// A running call in a session that exists.
pub(crate) fn joining(session: SessionId) -> NewCall {
    let opened = Opened { session, ..opened() };
    let started = Step::Started { attempt: 1, worker: WorkerId::generate() };
    call(opened, &[started], SessionUse::Existing { owner: None })
}

pub(crate) fn call(opened: Opened, steps: &[Step], session: SessionUse) -> NewCall {
    let at = opened.created_at;
    NewCall::open(opened, steps, at, session).unwrap()
}

pub(crate) async fn begin(store: &PostgresStore, call: NewCall) -> Invocation {
    match store.begin(call).await.unwrap() {
        Begun::Fresh(row) => row,
        Begun::Repeat(first) => panic!("the call repeats {}", first.id()),
    }
}

pub(crate) fn progress(seen: &Invocation) -> Change {
    let step = Step::OutputAppended { chunk: JsonText::parse("1").unwrap() };
    Change::step(seen, &seen.opened.actor, &step, now()).unwrap()
}

pub(crate) fn completed(seen: &Invocation) -> Change {
    let step = Step::Completed { output: JsonText::parse("{}").unwrap(), cost_micros: None };
    Change::step(seen, &seen.opened.actor, &step, now()).unwrap()
}

/// All events of a session, after checking that they are one chain.
pub(crate) async fn chain(store: &PostgresStore, session: SessionId) -> Vec<Event> {
    let events = store.session_events(session, 0, 100_000).await.unwrap();
    let mut head = ChainHead::EMPTY;
    for event in &events {
        head = event.verify(head).expect("the chain is whole");
    }
    events
}

/// Anchors until this session is covered: what is written beside a transaction still open elsewhere has to wait.
pub(crate) async fn anchor_until(store: &PostgresStore, session: SessionId) {
    let covered = async || {
        let anchors = store.anchors_after(0, 1_000).await.unwrap();
        anchors.iter().flat_map(|anchor| &anchor.heads).any(|(anchored, _)| *anchored == session)
    };
    let anchoring = async {
        while !covered().await {
            store.write_anchor(now(), 100).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), anchoring).await.expect("the session is anchored");
}

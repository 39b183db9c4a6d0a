//! Calls that were answered are in the file, wherever in it they are.

use toolgate_core::change::{NewCall, SessionUse};
use toolgate_core::contract::Effect;
use toolgate_core::event::ChainHead;
use toolgate_core::id::WorkerId;
use toolgate_core::invocation::{Opened, Step};
use toolgate_core::port::store::{Begun, InvocationStore, SessionStore};
use toolgate_core::{JsonText, Timestamp};
use toolgate_store_contract::opened;
use toolgate_store_sqlite::SqliteStore;

use crate::fresh;

fn settled() -> NewCall {
    let opened = Opened { effect: Effect::Read, ..opened() };
    let output = JsonText::from_value(&serde_json::json!({}));
    let steps = [
        Step::Started { attempt: 1, worker: WorkerId::generate() },
        Step::Completed { output, cost_micros: None },
    ];
    NewCall::open(opened, &steps, Timestamp::from_micros(1), SessionUse::New).unwrap()
}

#[tokio::test]
async fn answered_calls_survive_wherever_they_are() {
    let (store, folder) = fresh().await;
    let mut answered = Vec::new();
    // Few and many at once, so that some wait and some have moved on.
    for many in [1, 3, 40, 200, 5] {
        let done = futures::future::join_all((0..many).map(|_| store.begin(settled()))).await;
        for begun in done {
            let Begun::Fresh(row) = begun.unwrap() else { panic!("each call is new") };
            answered.push(row);
        }
        // What a process leaves that is killed at this moment. Nothing is copied home so early, so the log is whole.
        let left = tempfile::TempDir::new().unwrap();
        for file in ["toolgate.db", "toolgate.db-wal"] {
            std::fs::copy(folder.path().join(file), left.path().join(file)).unwrap();
        }
        let reopened = match many {
            3 => SqliteStore::open_read_only(left.path()).unwrap(),
            _ => SqliteStore::open(left.path()).unwrap(),
        };
        for row in &answered {
            let found = reopened.get(&row.opened.tenant, row.id()).await.unwrap();
            assert_eq!(found.unwrap().status, row.status);
            let events = reopened.session_events(row.opened.session, 0, 10).await.unwrap();
            let mut head = ChainHead::EMPTY;
            for event in &events {
                head = event.verify(head).unwrap();
            }
            assert_eq!(Some(head), row.head);
        }
    }
}

#[tokio::test]
async fn a_reader_in_another_process_finds_them_soon() {
    let (store, folder) = fresh().await;
    let reader = SqliteStore::open_read_only(folder.path()).unwrap();
    let Begun::Fresh(row) = store.begin(settled()).await.unwrap() else { panic!("the call is new") };
    while reader.get(&row.opened.tenant, row.id()).await.unwrap().is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

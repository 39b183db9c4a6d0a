//! Calls that waited before rows said why.

use rusqlite::Connection;
use toolgate_core::change::{NewCall, SessionUse, fold, recorded};
use toolgate_core::invocation::{Opened, Step};
use toolgate_core::port::store::{Begun, InvocationStore};
use toolgate_core::{JsonText, Timestamp};
use toolgate_store_contract::opened;

use crate::fresh;

/// The part of the step that brings rows up to date.
fn fill_in() -> &'static str {
    let text = include_str!("../../migrations/0004_outbox.sql");
    &text[text.find("UPDATE invocations SET reason").unwrap()..]
}

#[tokio::test]
async fn rows_of_an_older_program_learn_why_they_wait() {
    let (store, folder) = fresh().await;
    let at = Timestamp::from_micros(1);
    let opened = Opened {
        input: JsonText::parse(r#"{"reason":"not this one","a":"\u0000"}"#).unwrap(),
        approval_required: true,
        ..opened()
    };
    let step = Step::NeedsApproval { reason: "policy \"asks\" ü".into(), deadline: at, review: None };
    let call = NewCall::open(opened, &[step], at, SessionUse::New).unwrap();
    let Begun::Fresh(row) = store.begin(call).await.unwrap() else { panic!("it is new") };
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute("UPDATE invocations SET reason = NULL", []).unwrap();
    raw.execute_batch(fill_in()).unwrap();
    let row = store.get(&row.opened.tenant, row.id()).await.unwrap().unwrap();
    assert_eq!(row.reason.as_deref(), Some("policy \"asks\" ü"));
    let events = store.invocation_events(&row).await.unwrap();
    assert_eq!(recorded(&row), fold(&events).unwrap(), "row and record agree");
}

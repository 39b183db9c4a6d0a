//! Calls that waited before rows said why.

use toolgate_core::change::{SessionUse, fold, recorded};
use toolgate_core::invocation::Step;
use toolgate_core::port::store::InvocationStore;

use crate::given::*;

/// The part of the step that brings rows up to date.
fn fill_in() -> &'static str {
    let text = include_str!("../../migrations/0004_outbox.sql");
    &text[text.find("DO $$").unwrap()..]
}

#[tokio::test]
async fn rows_of_an_older_program_learn_why_they_wait() {
    let (store, client) = store_and_client().await;
    let asked = |reason: &str, input: &str| {
        let mut opened = opened();
        opened.approval_required = true;
        opened.input = toolgate_core::JsonText::parse(input).unwrap();
        let step = Step::NeedsApproval { reason: reason.to_owned(), deadline: now(), review: None };
        call(opened, &[step], SessionUse::New)
    };
    let plain = begin(&store, asked("policy \"asks\" ü", "{}")).await;
    // What Postgres can't read as JSON is left as it was, and stops nothing.
    let odd = begin(&store, asked("asks", r#"{"a":"\u0000"}"#)).await;
    client.batch_execute("UPDATE invocations SET reason = NULL").await.unwrap();
    client.batch_execute(fill_in()).await.unwrap();
    let row = store.get(&plain.opened.tenant, plain.id()).await.unwrap().unwrap();
    assert_eq!(row.reason.as_deref(), Some("policy \"asks\" ü"));
    let events = store.invocation_events(&row).await.unwrap();
    assert_eq!(recorded(&row), fold(&events).unwrap(), "row and record agree");
    assert!(store.get(&odd.opened.tenant, odd.id()).await.unwrap().is_some());
}

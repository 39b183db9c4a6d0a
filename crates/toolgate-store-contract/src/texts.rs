//! Texts at the edge: other alphabets, NUL, and much of it.

use toolgate_core::change::{SessionUse, fold, recorded};
use toolgate_core::id::WorkerId;
use toolgate_core::invocation::{Invocation, Step};
use toolgate_core::port::store::Begun;
use toolgate_core::{CallError, ErrorCode, JsonText};

use crate::given::*;

const WORDS: &str =
    "naïve Ünïcödé — 漢字 🦀 \u{1F468}\u{200D}\u{1F469} \u{FFFD} \u{10FFFF} ' \" \\ % _ $1 ; -- \t\r\n";

async fn agrees_with_its_events(store: &Shared, row: &Invocation) {
    assert_eq!(stored(store, row).await, kept(row));
    let events = store.invocation_events(row).await.unwrap();
    assert_eq!(fold(&events).unwrap(), recorded(row));
    chain(store, row.opened.session).await;
}

/// Any text in any field comes back as it was.
pub async fn unicode_survives(store: Shared) {
    let value = serde_json::json!({ WORDS: WORDS });
    let opened = opened_with(|opened| {
        opened.input = JsonText::from_value(&value);
        opened.rule = Some(WORDS.into());
        opened.approval_required = true;
    });
    let row = begin(&store, new_call(opened, &[needs_approval()], SessionUse::New)).await;
    let row = advance(&store, &row, &Step::Approved { reason: Some(WORDS.into()) }).await;
    let row = advance(&store, &row, &started(1, WorkerId::generate())).await;
    let row = advance(&store, &row, &Step::OutputAppended { chunk: JsonText::from_value(&value) }).await;
    agrees_with_its_events(&store, &row).await;
    let error = CallError::new(ErrorCode::Execution, WORDS).hint(WORDS).details(value);
    let row = advance(&store, &row, &Step::Failed { error }).await;
    agrees_with_its_events(&store, &row).await;
}

/// NUL inside JSON is escaped there and survives; NUL in plain text is kept or refused, and nothing is half written.
pub async fn nul_characters_do_no_harm(store: Shared) {
    let value = serde_json::json!({ "a\0b": "c\0" });
    let opened = opened_with(|opened| opened.input = JsonText::from_value(&value));
    let row = begin(&store, running(opened)).await;
    let error = CallError::new(ErrorCode::Execution, "a\0b").details(value);
    let row = advance(&store, &row, &Step::Failed { error }).await;
    agrees_with_its_events(&store, &row).await;

    let row = begin(&store, running(crate::given::opened())).await;
    match store.advance(step(&row, &Step::Cancelled { reason: Some("a\0b".into()) })).await {
        Ok(row) => agrees_with_its_events(&store, &row).await,
        refused => {
            assert!(is_refused(&refused), "{refused:?}");
            agrees_with_its_events(&store, &row).await;
        }
    }
    let ruled = opened_with(|opened| opened.rule = Some("a\0b".into()));
    match store.begin(running(ruled.clone())).await {
        Ok(Begun::Fresh(row)) => agrees_with_its_events(&store, &row).await,
        refused => {
            assert!(is_refused(&refused), "{refused:?}");
            assert_eq!(store.get(&ruled.tenant, ruled.id).await.unwrap(), None);
            assert!(chain(&store, ruled.session).await.is_empty());
        }
    }
    begin(&store, running(crate::given::opened())).await;
}

/// A mebibyte of input and of output is nothing special.
pub async fn a_mebibyte_survives(store: Shared) {
    let large = JsonText::from_value(&serde_json::json!({ "text": "ü".repeat(512 * 1024) }));
    let opened = opened_with(|opened| opened.input = large.clone());
    let row = begin(&store, running(opened)).await;
    let row = advance(&store, &row, &Step::Completed { output: large, cost_micros: None }).await;
    agrees_with_its_events(&store, &row).await;
}

/// The store says what it is and that it is there.
pub async fn the_store_answers(store: Shared) {
    assert!(!store.engine().is_empty());
    store.ping().await.unwrap();
    store.end_foreign_leases().await.unwrap();
}

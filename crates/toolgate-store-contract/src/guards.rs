//! What the store itself refuses, whatever the code above it asks for. Rows are forged here on purpose: the state
//! machine would not let these steps through.

use toolgate_core::Egress;
use toolgate_core::change::SessionUse;
use toolgate_core::id::WorkerId;
use toolgate_core::invocation::{Approval, Invocation, Status, Step};
use toolgate_core::port::store::StoreError;

use crate::given::*;

/// No terminal state is ever overwritten: not by someone who saw an old row, and not by a forged one.
pub async fn terminal_rows_refuse_changes(store: Shared) {
    let mut ended = Vec::new();
    for outcome in [
        completed(r#"{"first":true}"#),
        Step::Failed { error: failure() },
        Step::Cancelled { reason: Some("enough".into()) },
    ] {
        let row = begin(&store, running(opened())).await;
        let stale = step(&row, &completed(r#"{"second":true}"#));
        let row = advance(&store, &row, &outcome).await;
        assert!(is_conflict(&store.advance(stale).await));
        ended.push(row);
    }
    for decision in [Step::Rejected { reason: "no".into() }, Step::Expired] {
        let asking = opened_with(|opened| opened.approval_required = true);
        let row = begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
        ended.push(advance(&store, &row, &decision).await);
    }
    for row in ended {
        assert!(row.status.is_terminal());
        let events = chain(&store, row.opened.session).await;
        let forged = Invocation { status: Status::Running, ..row.clone() };
        for overwrite in [
            completed(r#"{"second":true}"#),
            Step::Failed { error: toolgate_core::CallError::new(toolgate_core::ErrorCode::Timeout, "late") },
            Step::OutputAppended { chunk: json("1") },
        ] {
            let answer = store.advance(step(&forged, &overwrite)).await;
            assert!(is_refused(&answer), "{:?} + {:?}: {answer:?}", row.status, overwrite.kind());
        }
        assert_eq!(stored(&store, &row).await, kept(&row));
        assert_eq!(chain(&store, row.opened.session).await, events);
    }
}

/// A result that comes after the outcome is in the record and nowhere else.
pub async fn a_late_result_is_kept_and_changes_nothing(store: Shared) {
    let row = begin(&store, running(opened())).await;
    let settled = advance(&store, &row, &Step::Cancelled { reason: None }).await;
    let late = Step::LateResult { attempt: 1, output: Some(json(r#"{"late":true}"#)), error: None };
    let row = advance(&store, &settled, &late).await;
    let expected = Invocation { revision: 3, seqs: (1, 3), ..kept(&settled) };
    assert_eq!(kept(&row), expected);
    assert_eq!(stored(&store, &row).await, expected);
    let events = chain(&store, row.opened.session).await;
    assert_eq!(events.len(), 3);
    assert!(events[2].draft.data.as_str().contains(r#"{"late":true}"#));
}

/// A call whose approval is pending or refused can't be put to work.
pub async fn nothing_runs_while_a_person_decides(store: Shared) {
    let asking = opened_with(|opened| opened.approval_required = true);
    let row = begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    for approval in [Approval::Pending, Approval::Rejected, Approval::NotRequired] {
        for (status, next) in [
            (Status::Running, Step::OutputAppended { chunk: json("1") }),
            (Status::Running, completed("{}")),
            (Status::Running, Step::Waiting { reason: "w".into(), deadline: now() }),
        ] {
            let forged = Invocation { status, approval, ..row.clone() };
            let answer = store.advance(step(&forged, &next)).await;
            assert!(is_refused(&answer), "{approval:?} + {:?}: {answer:?}", next.kind());
        }
    }
    assert_eq!(stored(&store, &row).await, kept(&row));
    assert_eq!(chain(&store, row.opened.session).await.len(), 1);
}

/// A call that writes outside can't even be written as running unless a person approved it.
pub async fn writes_outside_never_start_without_a_person(store: Shared) {
    let writing = opened_with(|opened| opened.egress = Egress::Write);
    let answer = store.begin(running(writing.clone())).await;
    assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    let whole =
        new_call(writing.clone(), &[started(1, WorkerId::generate()), completed("{}")], SessionUse::New);
    assert!(matches!(store.begin(whole).await, Err(StoreError::Refused(_))));
    assert_eq!(store.get(&writing.tenant, writing.id).await.unwrap(), None);
    assert_eq!(store.session(&writing.tenant, writing.session).await.unwrap(), None);
    assert!(chain(&store, writing.session).await.is_empty());

    let mut asking = writing;
    asking.approval_required = true;
    let row = begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    let row = advance(&store, &row, &Step::Approved { reason: None }).await;
    let row = advance(&store, &row, &started(1, WorkerId::generate())).await;
    advance(&store, &row, &completed("{}")).await;
}

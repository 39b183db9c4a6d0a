//! What people are asked to decide on.

use toolgate_core::change::{Change, SessionUse, fold};
use toolgate_core::invocation::Step;
use toolgate_core::review::ReviewStep;

use crate::given::*;

/// A review is read back as it was written, step by step, and folding the events gives the same.
pub async fn a_review_is_kept_step_by_step(store: Shared) {
    let opened = opened_with(|opened| opened.approval_required = true);
    let row = begin(&store, new_call(opened, &[needs_two()], SessionUse::New)).await;
    let changed = |step: ReviewStep| Step::ReviewChanged { step };
    let row = advance(&store, &row, &changed(ReviewStep::Remarked { text: "why ü?".into() })).await;
    let edit = ReviewStep::Edited {
        input: json(r#"{"a":2}"#),
        preview: None,
        preview_failed: Some("it took too long".into()),
        digest: "d2".into(),
    };
    let row = advance(&store, &row, &changed(edit)).await;
    let row = advance(&store, &row, &changed(ReviewStep::Voted)).await;
    let to_role = ReviewStep::ReassignedToRole { role: "treasury".parse().unwrap() };
    let row = advance(&store, &row, &changed(to_role)).await;
    assert!(row.review.as_ref().is_some_and(|review| review.assigned_role.is_some()));
    let row = advance(&store, &row, &changed(ReviewStep::Reassigned { to: principal("user:bob") })).await;
    let approved =
        Change::step(&row, &principal("user:bob"), &Step::Approved { reason: None }, now()).unwrap();
    let row = store.advance(approved).await.unwrap();
    let stored = stored(&store, &row).await;
    assert_eq!(stored, kept(&row));
    let review = stored.review.as_ref().unwrap();
    assert_eq!((review.digest.as_str(), review.votes.len(), review.remarks.len()), ("d2", 1, 1));
    assert_eq!(stored.input().as_str(), r#"{"a":2}"#);
    assert_eq!(stored.opened.input.as_str(), r#"{"a":1}"#, "what was asked for stays");
    let events = store.invocation_events(&stored).await.unwrap();
    assert_eq!(fold(&events).unwrap().review, stored.review);
}

fn needs_two() -> Step {
    let deadline = seconds_after(now(), 3_600);
    let mut review = review(deadline);
    review.needed = 2;
    Step::NeedsApproval { reason: "policy asks".into(), deadline, review: Some(Box::new(review)) }
}

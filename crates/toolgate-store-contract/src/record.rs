//! The record: rows and events go together, and each session's events are one chain.

use futures::future::join_all;
use toolgate_core::change::{Change, SessionUse, fold, recorded};
use toolgate_core::event::EventKind;
use toolgate_core::id::{InvocationId, SessionId, WorkerId};
use toolgate_core::invocation::{Invocation, Step};
use toolgate_core::port::store::Begun;

use crate::given::*;

/// A row never changes without its event, nor an event without its row; the row knows where its events are.
pub async fn row_and_events_are_written_together(store: Shared) {
    let steps = [started(1, WorkerId::generate()), completed(r#"{"o":1}"#)];
    let whole = begin(&store, new_call(opened(), &steps, SessionUse::New)).await;
    assert_eq!(whole.seqs, (1, 2));
    let events = store.invocation_events(&whole).await.unwrap();
    assert_eq!(events, chain(&store, whole.opened.session).await);
    assert_eq!(
        events.iter().map(|e| e.draft.kind).collect::<Vec<_>>(),
        [EventKind::Started, EventKind::Completed]
    );
    assert_eq!(fold(&events).unwrap(), recorded(&whole));

    let mut row = begin(&store, running(opened())).await;
    for number in 1..=3 {
        row = advance(&store, &row, &Step::OutputAppended { chunk: json(&number.to_string()) }).await;
        let events = store.invocation_events(&row).await.unwrap();
        assert_eq!(events.len(), number + 1);
        assert_eq!(row.seqs, (1, i64::try_from(number).unwrap() + 1));
        assert_eq!(row.head, events.last().map(toolgate_core::event::Event::head));
        assert_eq!(fold(&events).unwrap(), recorded(&stored(&store, &row).await));
    }
}

/// However a call moves, folding its events gives its row. Walks at random through the legal steps, several calls in
/// one session at a time.
pub async fn folding_events_gives_the_row(store: Shared) {
    for seed in 0..10 {
        let mut dice = Dice(seed);
        let session = session(&store).await;
        let mut rows = Vec::new();
        for _ in 0..4 {
            let asks = dice.below(2) == 0;
            let mut opened = in_session(session);
            opened.approval_required = asks;
            let first = if asks { needs_approval() } else { started(1, WorkerId::generate()) };
            rows.push(begin(&store, new_call(opened, &[first], of_anyone())).await);
        }
        for _ in 0..60 {
            let which = dice.below(rows.len());
            // Half of the time the row comes from the store, without a hint where the chain ends.
            let seen =
                if dice.below(2) == 0 { stored(&store, &rows[which]).await } else { rows[which].clone() };
            let by = if dice.below(3) == 0 { principal("user:grace") } else { ada() };
            let Ok(change) = Change::step(&seen, &by, &any_step(&mut dice, &seen), now()) else { continue };
            rows[which] = store.advance(change).await.unwrap();
        }
        chain(&store, session).await;
        for row in rows {
            let current = stored(&store, &row).await;
            assert_eq!(current, kept(&row), "seed {seed}");
            let events = store.invocation_events(&current).await.unwrap();
            assert_eq!(fold(&events).unwrap(), recorded(&current), "seed {seed}");
            assert_eq!(events.len() as u64, current.revision, "seed {seed}");
        }
    }
}

fn any_step(dice: &mut Dice, seen: &Invocation) -> Step {
    let reason = |dice: &mut Dice| (dice.below(2) == 0).then(|| "because".to_owned());
    let deadline = seconds_after(now(), 60);
    match dice.below(14) {
        0 => Step::Approved { reason: reason(dice) },
        1 => Step::Rejected { reason: "no".into() },
        2 | 3 => started(seen.attempt + 1, WorkerId::generate()),
        4 | 5 => Step::OutputAppended { chunk: json(r#"{"part": 1}"#) },
        6 => Step::Waiting { reason: "a webhook".into(), deadline },
        7 => Step::Completed { output: json(r#"{ "o": 1 }"#), cost_micros: Some(7) },
        8 => Step::Failed { error: failure() },
        9 => Step::Cancelled { reason: reason(dice) },
        10 => Step::Expired,
        11 => Step::InDoubt { error: failure() },
        12 => Step::CancelRequested { reason: reason(dice) },
        _ => Step::LateResult { attempt: 1, output: None, error: Some(failure()) },
    }
}

/// Many calls at once in one session: all are written, in one chain.
pub async fn concurrent_appends_to_one_session_keep_one_chain(store: Shared) {
    let session = session(&store).await;
    let tasks = (0..32).map(|number: u32| {
        let store = Shared::clone(&store);
        tokio::spawn(async move {
            let call = new_call(in_session(session), &[started(1, WorkerId::generate())], of_anyone());
            let row = begin(&store, call).await;
            let row = advance(&store, &row, &Step::OutputAppended { chunk: json(&number.to_string()) }).await;
            advance(&store, &row, &completed("{}")).await
        })
    });
    let rows: Vec<Invocation> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(chain(&store, session).await.len(), 32 * 3);
    for row in rows {
        assert_eq!(stored(&store, &row).await, kept(&row));
        let events = store.invocation_events(&row).await.unwrap();
        assert_eq!(fold(&events).unwrap(), recorded(&row));
    }
}

/// A row whose hint of the chain's end is old can be advanced, and so can one without a hint.
pub async fn calls_of_one_session_do_not_stand_in_each_others_way(store: Shared) {
    let session = session(&store).await;
    let mut rows = Vec::new();
    for _ in 0..3 {
        let call = new_call(in_session(session), &[started(1, WorkerId::generate())], of_anyone());
        rows.push(begin(&store, call).await);
    }
    for row in &rows {
        advance(&store, row, &Step::OutputAppended { chunk: json("1") }).await;
    }
    for row in &rows {
        let unhinted = stored(&store, row).await;
        assert_eq!(unhinted.head, None);
        advance(&store, &unhinted, &completed("{}")).await;
    }
    assert_eq!(chain(&store, session).await.len(), 9);
    let events = store.invocation_events(&stored(&store, &rows[1]).await).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2, 5, 8]);
    // A row's events are those it was written with, so that the two can be compared while calls go on.
    let events = store.invocation_events(&rows[1]).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2]);
}

/// A session's events come in order, after any number, as many as asked for.
pub async fn events_come_in_parts(store: Shared) {
    let mut row = begin(&store, running(opened())).await;
    for number in 2..=7 {
        row = advance(&store, &row, &Step::OutputAppended { chunk: json(&number.to_string()) }).await;
    }
    let numbers = async |after, limit| {
        let events = store.session_events(row.opened.session, after, limit).await.unwrap();
        events.into_iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(numbers(0, 3).await, [1, 2, 3]);
    assert_eq!(numbers(3, 3).await, [4, 5, 6]);
    assert_eq!(numbers(6, 3).await, [7]);
    assert!(numbers(7, 3).await.is_empty());
    assert!(numbers(0, 0).await.is_empty());
    assert!(store.session_events(SessionId::generate(), 0, 10).await.unwrap().is_empty());
}

/// All sessions with events and all calls, of all tenants, can be walked in order of id.
pub async fn the_whole_record_can_be_walked(store: Shared) {
    session(&store).await;
    let (mut sessions, mut calls): (Vec<SessionId>, Vec<InvocationId>) = (Vec::new(), Vec::new());
    for number in 0..7 {
        let opened = opened_with(|opened| {
            if number % 2 == 0 {
                opened.tenant = other_tenant();
            }
        });
        sessions.push(opened.session);
        calls.push(opened.id);
        assert!(matches!(store.begin(running(opened)).await.unwrap(), Begun::Fresh(_)));
    }
    sessions.sort_unstable();
    calls.sort_unstable();

    let mut walked = Vec::new();
    while let Ok(part) = store.sessions_after(walked.last().copied(), 3).await {
        if part.is_empty() {
            break;
        }
        assert!(part.len() <= 3);
        walked.extend(part);
    }
    assert_eq!(walked, sessions);

    let mut walked: Vec<InvocationId> = Vec::new();
    while let Ok(part) = store.invocations_after(walked.last().copied(), 3).await {
        if part.is_empty() {
            break;
        }
        assert!(part.len() <= 3);
        walked.extend(part.iter().map(Invocation::id));
    }
    assert_eq!(walked, calls);
}

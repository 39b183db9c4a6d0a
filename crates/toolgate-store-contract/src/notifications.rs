//! News of calls, and the notifications made of them.

use std::collections::HashSet;

use futures::future::join_all;
use toolgate_core::Timestamp;
use toolgate_core::change::{Change, SessionUse};
use toolgate_core::event::EventKind;
use toolgate_core::id::{InvocationId, NotificationId};
use toolgate_core::invocation::Step;
use toolgate_core::notification::{Notification, NotificationKind, NotificationState, Tried};
use toolgate_core::port::store::Page;
use toolgate_core::review::ReviewStep;

use crate::given::*;

const CHANNEL: &str = "ops";

fn notification(key: &str, due_at: Timestamp) -> Notification {
    Notification {
        id: NotificationId::generate(),
        tenant: tenant(),
        channel: CHANNEL.into(),
        kind: NotificationKind::ApprovalRequested,
        call: Some(InvocationId::generate()),
        key: key.into(),
        payload: json(r#"{"text":"漢字 <b>"}"#),
        state: NotificationState::Waiting,
        attempts: 0,
        due_at: Some(due_at),
        created_at: now(),
        delivered_at: None,
        last_error: None,
    }
}

async fn listed(store: &Shared, state: Option<NotificationState>) -> Vec<Notification> {
    store.notifications(&tenant(), state, None, 1_000).await.unwrap()
}

async fn claim(store: &Shared, at: Timestamp, until: Timestamp, limit: u32) -> Vec<Notification> {
    store.claim_notifications(&tenant(), CHANNEL, at, until, limit).await.unwrap()
}

/// What people may have to be told of is news from the moment it is written; what they need not, never is.
pub async fn steps_that_concern_people_are_news(store: Shared) {
    let quiet = begin(&store, running(opened())).await;
    advance(&store, &quiet, &completed("{}")).await;
    assert!(store.news(10).await.unwrap().is_empty(), "a call that nobody is asked about is no news");

    let asking = opened_with(|opened| opened.approval_required = true);
    let row = begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    let remark = ReviewStep::Remarked { text: "why?".into() };
    let row = advance(&store, &row, &Step::ReviewChanged { step: remark }).await;
    let row = advance(&store, &row, &Step::Approved { reason: None }).await;
    let row = advance(&store, &row, &started(1, toolgate_core::id::WorkerId::generate())).await;
    let row = advance(&store, &row, &Step::InDoubt { error: failure() }).await;

    let news = store.news(10).await.unwrap();
    let kinds: Vec<EventKind> = news.iter().map(|news| news.event.draft.kind).collect();
    let expected =
        [EventKind::NeedsApproval, EventKind::ReviewChanged, EventKind::Approved, EventKind::InDoubt];
    assert_eq!(kinds, expected);
    let events = store.invocation_events(&row).await.unwrap();
    for one in &news {
        assert!(events.contains(&one.event), "news are events as the record has them");
    }
    assert_eq!(store.news(2).await.unwrap(), news[..2], "looking takes nothing away");
    // A step that is refused leaves no news.
    let stale = Change::step(&row, &ada(), &completed("{}"), now()).unwrap();
    store.advance(stale.clone()).await.unwrap();
    assert!(is_conflict(&store.advance(stale).await));
    assert_eq!(store.news(10).await.unwrap(), news);
}

/// News are taken and notifications written as one, by one; a key that is there already is left out.
pub async fn news_are_taken_with_what_is_told_of_them(store: Shared) {
    for _ in 0..3 {
        let asking = opened_with(|opened| opened.approval_required = true);
        begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    }
    let numbers: Vec<i64> = store.news(10).await.unwrap().iter().map(|news| news.number).collect();
    let first = notification("a", now());
    store.post(&numbers[..1], vec![first.clone()]).await.unwrap();
    assert_eq!(listed(&store, None).await, std::slice::from_ref(&first));

    let late = store.post(&numbers, vec![notification("b", now())]).await;
    assert!(is_conflict(&late), "some of it was taken: {late:?}");
    assert_eq!((listed(&store, None).await.len(), store.news(10).await.unwrap().len()), (1, 2));

    store.post(&numbers[1..], vec![notification("a", now()), notification("c", now())]).await.unwrap();
    let keys: Vec<String> = listed(&store, None).await.into_iter().map(|one| one.key).collect();
    assert_eq!(keys, ["c", "a"]);
    assert!(store.news(10).await.unwrap().is_empty());
    // A test of a channel comes from no news.
    store.post(&[], vec![notification("d", now())]).await.unwrap();
    assert_eq!(listed(&store, None).await.len(), 3);
}

/// However many take the same news at once, what is told of them is written once.
pub async fn racing_readers_of_news_have_one_winner(store: Shared) {
    let asking = opened_with(|opened| opened.approval_required = true);
    begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    let number = store.news(1).await.unwrap()[0].number;
    let tasks = (0..8).map(|task| {
        let store = Shared::clone(&store);
        tokio::spawn(async move {
            store.post(&[number], vec![notification(&format!("key-{task}"), now())]).await.is_ok()
        })
    });
    let won = join_all(tasks).await.into_iter().filter(|won| *won.as_ref().unwrap()).count();
    assert_eq!((won, listed(&store, None).await.len()), (1, 1));
}

/// What is due is claimed by one at a time, the longest due first; who falls silent loses it to the next.
pub async fn a_notification_has_one_sender_at_a_time(store: Shared) {
    let start = now();
    let after = |seconds| seconds_after(start, seconds);
    let (soon, later) = (notification("soon", after(5)), notification("later", after(10)));
    let elsewhere = Notification { tenant: other_tenant(), ..notification("elsewhere", after(1)) };
    let other = Notification { channel: "chat".into(), ..notification("other", after(1)) };
    store.post(&[], vec![later.clone(), soon.clone(), elsewhere, other]).await.unwrap();

    assert!(claim(&store, after(4), after(30), 10).await.is_empty());
    let claimed = claim(&store, after(20), after(30), 1).await;
    let expected = Notification { attempts: 1, due_at: Some(after(30)), ..soon.clone() };
    assert_eq!(claimed, [expected], "the longest due");
    assert_eq!(claim(&store, after(20), after(30), 10).await.len(), 1, "the rest, and no more");
    assert!(claim(&store, after(29), after(60), 10).await.is_empty(), "both are being sent");
    let again = claim(&store, after(30), after(60), 10).await;
    assert_eq!(again.iter().map(|one| one.attempts).collect::<Vec<_>>(), [2, 2]);
    let mut keys: Vec<&str> = again.iter().map(|one| one.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["later", "soon"], "a claim that ended is claimed again, under the same key");

    // The first sender comes back late: its word no longer counts.
    assert!(!store.settle_notification(&claimed[0], Tried::Delivered { at: after(31) }).await.unwrap());
    assert_eq!(listed(&store, Some(NotificationState::Delivered)).await, []);
    let last = again.iter().find(|one| one.key == "soon").unwrap();
    assert!(store.settle_notification(last, Tried::Delivered { at: after(32) }).await.unwrap());
    assert!(!store.settle_notification(last, Tried::Dead { error: "x".into() }).await.unwrap(), "it is over");
}

/// Many senders at once: each notification goes to exactly one.
pub async fn racing_senders_share_the_work(store: Shared) {
    let start = now();
    let all = (0..60).map(|number| notification(&format!("key-{number}"), start)).collect();
    store.post(&[], all).await.unwrap();
    let tasks = (0..8).map(|_| {
        let store = Shared::clone(&store);
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let part = claim(&store, seconds_after(start, 1), seconds_after(start, 60), 3).await;
                if part.is_empty() {
                    return mine;
                }
                mine.extend(part.into_iter().map(|one| one.key));
            }
        })
    });
    let sent: Vec<String> = join_all(tasks).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(sent.len(), 60, "nobody sent what another did");
    assert_eq!(sent.into_iter().collect::<HashSet<_>>().len(), 60);
}

/// A try ends delivered, later or dead, and can be looked at; only what is not delivered can be brought back.
pub async fn tries_are_kept_and_the_dead_brought_back(store: Shared) {
    let start = now();
    let after = |seconds| seconds_after(start, seconds);
    store.post(&[], ["a", "b", "c"].map(|key| notification(key, start)).to_vec()).await.unwrap();
    let mut claimed = claim(&store, after(1), after(30), 10).await;
    claimed.sort_by(|one, other| one.key.cmp(&other.key));
    let later = Tried::Later { at: after(9), error: "the other side answered 503".into() };
    let dead = Tried::Dead { error: "no connection".into() };
    for (one, tried) in claimed.iter().zip([Tried::Delivered { at: after(2) }, later, dead]) {
        assert!(store.settle_notification(one, tried).await.unwrap());
    }
    let states = [NotificationState::Delivered, NotificationState::Waiting, NotificationState::Dead];
    for (one, state) in claimed.iter().zip(states) {
        let found = listed(&store, Some(state)).await;
        assert_eq!(found.iter().map(|one| one.id).collect::<Vec<_>>(), [one.id], "{state:?}");
        assert_eq!(found[0].delivered_at.is_some(), state == NotificationState::Delivered);
        assert_eq!(found[0].last_error.is_some(), state != NotificationState::Delivered);
        assert_eq!(found[0].due_at.is_some(), state == NotificationState::Waiting);
    }
    assert!(is_conflict(&store.retry_notification(&tenant(), claimed[0].id, after(5)).await));
    assert!(is_not_found(&store.retry_notification(&other_tenant(), claimed[2].id, after(5)).await));
    assert!(is_not_found(&store.retry_notification(&tenant(), NotificationId::generate(), after(5)).await));
    let back = store.retry_notification(&tenant(), claimed[2].id, after(5)).await.unwrap();
    assert_eq!((back.state, back.due_at, back.attempts), (NotificationState::Waiting, Some(after(5)), 1));
    assert_eq!(claim(&store, after(5), after(30), 10).await[0].id, claimed[2].id);
}

/// Lists come newest first, in parts; what is over and old is forgotten, what waits never is.
pub async fn notifications_come_in_parts_and_are_forgotten(store: Shared) {
    let start = now();
    store.post(&[], (0..5).map(|number| notification(&number.to_string(), start)).collect()).await.unwrap();
    let elsewhere = Notification { tenant: other_tenant(), ..notification("elsewhere", start) };
    store.post(&[], vec![elsewhere]).await.unwrap();
    let all = listed(&store, None).await;
    assert!(all.len() == 5 && all.is_sorted_by_key(|one| std::cmp::Reverse(one.id)));
    let part = store.notifications(&tenant(), None, Some(all[1].id), 2).await.unwrap();
    assert_eq!(part, all[2..4]);

    let claimed = claim(&store, seconds_after(start, 1), seconds_after(start, 9), 2).await;
    store.settle_notification(&claimed[0], Tried::Delivered { at: now() }).await.unwrap();
    store.settle_notification(&claimed[1], Tried::Dead { error: "x".into() }).await.unwrap();
    store.forget_notifications(start).await.unwrap();
    assert_eq!(listed(&store, None).await.len(), 5, "it arose later");
    store.forget_notifications(seconds_after(start, 60)).await.unwrap();
    let left = listed(&store, None).await;
    assert!(left.len() == 3 && left.iter().all(|one| one.state == NotificationState::Waiting));
}

/// A person finds what they decided on and what they said yes to, newest first, and nobody else's.
pub async fn what_a_person_decided_is_found(store: Shared) {
    let (ada, bob) = (ada(), principal("user:bob"));
    let asked = async |needed: u32| {
        let deadline = seconds_after(now(), 3_600);
        let mut review = review(deadline);
        review.needed = needed;
        let step = Step::NeedsApproval { reason: "r".into(), deadline, review: Some(Box::new(review)) };
        let asking = opened_with(|opened| opened.approval_required = true);
        begin(&store, new_call(asking, &[step], SessionUse::New)).await
    };
    let by = async |row: &toolgate_core::Invocation, who, step: Step| {
        store.advance(Change::step(row, who, &step, now()).unwrap()).await.unwrap()
    };
    let refused = asked(1).await;
    by(&refused, &bob, Step::Rejected { reason: "no".into() }).await;
    let others = asked(1).await;
    by(&others, &ada, Step::Approved { reason: None }).await;
    let voted = asked(2).await;
    by(&voted, &bob, Step::ReviewChanged { step: ReviewStep::Voted }).await;
    let remarked = asked(1).await;
    let remark = ReviewStep::Remarked { text: r#"{"step":"voted"}"#.into() };
    by(&remarked, &bob, Step::ReviewChanged { step: remark }).await;
    let both = asked(2).await;
    let both = by(&both, &ada, Step::ReviewChanged { step: ReviewStep::Voted }).await;
    by(&both, &bob, Step::Approved { reason: None }).await;

    let found = async |who, after, limit| {
        let page = Page { after, limit };
        let rows = store.decided_by(&tenant(), who, page).await.unwrap();
        rows.iter().map(toolgate_core::Invocation::id).collect::<Vec<_>>()
    };
    assert_eq!(found(&bob, None, 10).await, [both.id(), voted.id(), refused.id()]);
    assert_eq!(found(&bob, Some(both.id()), 1).await, [voted.id()]);
    assert_eq!(found(&ada, None, 10).await, [both.id(), others.id()]);
    let elsewhere = store.decided_by(&other_tenant(), &bob, Page { after: None, limit: 9 }).await.unwrap();
    assert!(elsewhere.is_empty());
}

//! The record as a list.

use std::collections::BTreeSet;

use toolgate_core::event::EventKind;
use toolgate_core::id::WorkerId;
use toolgate_core::invocation::Step;
use toolgate_core::port::event_list::{EventFilter, ListedEvent};

use crate::given::*;

async fn all(store: &Shared, filter: &EventFilter, limit: u32) -> Vec<ListedEvent> {
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let part = store.list_events(&tenant(), filter, before, limit).await.unwrap();
        assert!(part.events.len() <= limit as usize);
        seen.extend(part.events);
        match part.next {
            Some(next) => before = Some(next),
            None => return seen,
        }
    }
}

/// A few calls of two tools by two people, one for someone, one refused, one in another tenant; and one change.
async fn some_calls(store: &Shared) {
    make_other_tenant(store, Vec::new()).await;
    for number in 0..12 {
        let opened = opened_with(|opened| {
            if number % 3 == 0 {
                opened.tool = "core__y".parse().unwrap();
            }
            if number % 4 == 0 {
                (opened.actor, opened.subject) = (principal("agent:bot"), Some(principal("user:grace")));
            }
            if number % 6 == 5 {
                opened.tenant = other_tenant();
            }
        });
        let row = begin(store, running(opened)).await;
        let row = advance(store, &row, &Step::OutputAppended { chunk: json("1") }).await;
        let end = if number % 5 == 0 { Step::Failed { error: failure() } } else { completed("{}") };
        advance(store, &row, &end).await;
    }
    change(store, vec![put_principal(&person(tenant(), &ada()))]).await;
}

/// Newest first, each event once, whole, and only the tenant's own; however small the parts.
pub async fn the_record_is_listed_newest_first(store: Shared) {
    some_calls(&store).await;
    let whole = all(&store, &EventFilter::default(), 200).await;
    assert_eq!(whole.len(), 10 * 3 + 1);
    assert!(whole.windows(2).all(|pair| {
        (pair[0].event.draft.at, pair[0].position) > (pair[1].event.draft.at, pair[1].position)
    }));
    assert!(whole.iter().all(|listed| listed.event.draft.tenant == tenant()));
    let positions: BTreeSet<i64> = whole.iter().map(|listed| listed.position).collect();
    assert_eq!(positions.len(), whole.len());
    for limit in [1, 2, 7] {
        assert_eq!(all(&store, &EventFilter::default(), limit).await, whole, "in parts of {limit}");
    }
    assert!(store.list_events(&tenant(), &EventFilter::default(), None, 0).await.unwrap().events.is_empty());
    for listed in &whole {
        let events = store.session_events(listed.event.draft.session, listed.event.seq - 1, 1).await.unwrap();
        assert_eq!(events[0], listed.event);
        assert_eq!(listed.tool.is_none(), listed.event.draft.kind == EventKind::AdminChanged);
    }
}

/// Each filter leaves exactly what it names, alone and together with others, in the list and as it is followed.
pub async fn the_record_is_narrowed(store: Shared) {
    some_calls(&store).await;
    let whole = all(&store, &EventFilter::default(), 200).await;
    let one = whole.iter().find(|listed| listed.subject.is_some()).unwrap().event.draft.clone();
    let any = EventFilter::default;
    let tool: toolgate_core::id::ToolName = "core__y".parse().unwrap();
    let (bot, grace) = (principal("agent:bot"), principal("user:grace"));
    let (from, to) = (whole[20].event.draft.at, whole[4].event.draft.at);
    let failed = EventKind::Failed;
    // A follower may be held up by other writers of the same database, so it is done at the end, not at a pause.
    let last = whole.iter().map(|listed| listed.position).max().unwrap();
    let check = async |filter: EventFilter, fits: &dyn Fn(&ListedEvent) -> bool| {
        let expected: Vec<&ListedEvent> = whole.iter().filter(|listed| fits(listed)).collect();
        assert!(
            !expected.is_empty() && expected.len() < whole.len(),
            "a case that shows something: {filter:?}"
        );
        for limit in [1, 3, 200] {
            assert_eq!(all(&store, &filter, limit).await.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
        let mut followed = Vec::new();
        let mut after = 0;
        while after < last {
            let news = store.events_since(&tenant(), &filter, after, 2).await.unwrap();
            followed.extend(news.events);
            after = news.seen;
        }
        let positions = |events: &mut dyn Iterator<Item = i64>| events.collect::<BTreeSet<i64>>();
        assert_eq!(followed.len(), expected.len(), "{filter:?}");
        assert_eq!(
            positions(&mut followed.iter().map(|listed| listed.position)),
            positions(&mut expected.iter().map(|listed| listed.position))
        );
    };
    check(EventFilter { kinds: vec![failed], ..any() }, &|e| e.event.draft.kind == failed).await;
    check(EventFilter { kinds: vec![EventKind::Started], ..any() }, &|e| {
        e.event.draft.kind == EventKind::Started
    })
    .await;
    check(EventFilter { kinds: vec![failed, EventKind::AdminChanged], ..any() }, &|e| {
        [failed, EventKind::AdminChanged].contains(&e.event.draft.kind)
    })
    .await;
    check(EventFilter { actor: Some(bot.clone()), ..any() }, &|e| e.event.draft.actor == bot).await;
    check(EventFilter { subject: Some(grace.clone()), ..any() }, &|e| e.subject.as_ref() == Some(&grace))
        .await;
    check(EventFilter { tool: Some(tool.clone()), ..any() }, &|e| e.tool.as_ref() == Some(&tool)).await;
    check(EventFilter { session: Some(one.session), ..any() }, &|e| e.event.draft.session == one.session)
        .await;
    check(EventFilter { invocation: Some(one.invocation), ..any() }, &|e| {
        e.event.draft.invocation == one.invocation
    })
    .await;
    check(EventFilter { from: Some(from), to: Some(to), ..any() }, &|e| {
        (from..to).contains(&e.event.draft.at)
    })
    .await;
    let both = EventFilter {
        actor: Some(bot.clone()),
        tool: Some(tool.clone()),
        kinds: vec![EventKind::OutputAppended, EventKind::Completed],
        ..any()
    };
    check(both.clone(), &|e| {
        e.event.draft.actor == bot
            && e.tool.as_ref() == Some(&tool)
            && both.kinds.contains(&e.event.draft.kind)
    })
    .await;
    for nothing in [
        EventFilter { actor: Some(principal("user:nobody")), ..any() },
        EventFilter { session: Some(one.session), actor: Some(principal("user:nobody")), ..any() },
        EventFilter { invocation: Some(toolgate_core::id::InvocationId::generate()), ..any() },
    ] {
        assert!(all(&store, &nothing, 200).await.is_empty());
    }
    // Another tenant's session and call are not shown to this one.
    let theirs =
        store.list_events(&other_tenant(), &any(), None, 1).await.unwrap().events.remove(0).event.draft;
    for walled in [
        EventFilter { session: Some(theirs.session), ..any() },
        EventFilter { invocation: Some(theirs.invocation), ..any() },
    ] {
        assert!(all(&store, &walled, 200).await.is_empty());
    }
}

/// Whoever follows from where the record ended meets everything that is written later, once, however many write.
pub async fn followers_miss_nothing(store: Shared) {
    begin(&store, running(opened())).await;
    let mut after = store.newest_event().await.unwrap();
    let before: BTreeSet<i64> =
        all(&store, &EventFilter::default(), 200).await.iter().map(|listed| listed.position).collect();
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let store = Shared::clone(&store);
            tokio::spawn(async move {
                for _ in 0..12 {
                    let row = begin(
                        &store,
                        new_call(
                            opened(),
                            &[started(1, WorkerId::generate())],
                            toolgate_core::change::SessionUse::New,
                        ),
                    )
                    .await;
                    advance(&store, &row, &completed("{}")).await;
                }
            })
        })
        .collect();
    let mut met = Vec::new();
    // Ends when all have been met; what is never met never ends.
    while met.len() < 8 * 12 * 2 {
        let news = store.events_since(&tenant(), &EventFilter::default(), after, 5).await.unwrap();
        assert!(news.events.len() <= 5);
        met.extend(news.events.iter().map(|listed| listed.position).filter(|at| !before.contains(at)));
        after = news.seen;
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(met.iter().collect::<BTreeSet<_>>().len(), met.len(), "nothing twice");
    let rest = store.events_since(&tenant(), &EventFilter::default(), after, 5).await.unwrap();
    assert!(rest.events.is_empty());
    // A place beyond the end is the end.
    let beyond = store.events_since(&tenant(), &EventFilter::default(), i64::MAX, 5).await.unwrap();
    assert!(beyond.events.is_empty() && beyond.seen <= store.newest_event().await.unwrap());
}

/// Events with much in them come in smaller parts, and none is left out.
pub async fn large_events_come_in_smaller_parts(store: Shared) {
    let large = format!("\"{}\"", "x".repeat(400_000));
    let mut row = begin(&store, running(opened())).await;
    for _ in 0..50 {
        row = advance(&store, &row, &Step::OutputAppended { chunk: json(&large) }).await;
    }
    let part = store.list_events(&tenant(), &EventFilter::default(), None, 200).await.unwrap();
    assert!(part.events.len() < 51 && part.next.is_some());
    assert_eq!(all(&store, &EventFilter::default(), 200).await.len(), 51);
    let mut after = 0;
    let mut met = 0;
    while met < 51 {
        let news = store.events_since(&tenant(), &EventFilter::default(), after, 200).await.unwrap();
        assert!(news.events.len() < 51);
        (met, after) = (met + news.events.len(), news.seen);
    }
    assert_eq!(met, 51);
}

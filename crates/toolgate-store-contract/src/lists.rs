//! Lists of calls.

use toolgate_core::id::{InvocationId, WorkerId};
use toolgate_core::invocation::{Invocation, Opened, Status};
use toolgate_core::port::store::{InvocationFilter, Page};

use crate::given::*;

const ALL: Page = Page { after: None, limit: 1_000 };

async fn ids(store: &Shared, filter: &InvocationFilter, page: Page) -> Vec<InvocationId> {
    store.list(&tenant(), filter, page).await.unwrap().iter().map(Invocation::id).collect()
}

/// Newest first, whole rows.
pub async fn newest_calls_come_first(store: Shared) {
    let mut rows = Vec::new();
    for _ in 0..5 {
        rows.push(kept(&begin(&store, running(opened())).await));
    }
    rows.reverse();
    assert_eq!(store.list(&tenant(), &InvocationFilter::default(), ALL).await.unwrap(), rows);
}

/// Walking page by page sees every call once, even while new ones come in.
pub async fn pages_never_overlap(store: Shared) {
    let mut expected = Vec::new();
    for _ in 0..23 {
        expected.push(begin(&store, running(opened())).await.id());
    }
    expected.reverse();
    let mut seen: Vec<InvocationId> = Vec::new();
    loop {
        let page = Page { after: seen.last().copied(), limit: 5 };
        let part = ids(&store, &InvocationFilter::default(), page).await;
        if part.is_empty() {
            break;
        }
        assert!(part.len() <= 5);
        seen.extend(part);
        begin(&store, running(opened())).await;
    }
    assert_eq!(seen, expected);
    assert!(ids(&store, &InvocationFilter::default(), Page { after: None, limit: 0 }).await.is_empty());
}

/// Each filter leaves exactly what it names, alone and together with others, page by page.
pub async fn filters_narrow(store: Shared) {
    let grace = principal("user:grace");
    let session = session(&store).await;
    let mut rows = Vec::new();
    for number in 0..24 {
        let opened = opened_with(|opened| {
            if number % 2 == 0 {
                opened.tool = "core__y".parse().unwrap();
            }
            match number % 3 {
                0 => opened.actor = grace.clone(),
                1 => opened.subject = Some(grace.clone()),
                _ => {}
            }
            if number % 4 == 0 {
                (opened.actor, opened.subject) = (grace.clone(), Some(grace.clone()));
            }
            if number % 5 == 0 {
                opened.session = session;
            }
        });
        let row = if opened.session == session {
            begin(&store, new_call(opened, &[started(1, WorkerId::generate())], of_anyone())).await
        } else {
            begin(&store, running(opened)).await
        };
        rows.push(if number % 7 == 0 { advance(&store, &row, &completed("{}")).await } else { row });
    }
    begin(&store, running(opened_with(|opened| opened.tenant = other_tenant()))).await;
    rows.reverse();
    let (since, until) = (rows[17].opened.created_at, rows[6].opened.created_at);

    let none = InvocationFilter::default;
    let tool: toolgate_core::id::ToolName = "core__y".parse().unwrap();
    let check = async |filter: InvocationFilter, keeps: &dyn Fn(&Invocation) -> bool| {
        let expected: Vec<_> = rows.iter().filter(|row| keeps(row)).map(Invocation::id).collect();
        assert!(
            !expected.is_empty() && expected.len() < rows.len(),
            "a case that shows something: {filter:?}"
        );
        assert_eq!(ids(&store, &filter, ALL).await, expected, "{filter:?}");
        let first = ids(&store, &filter, Page { after: None, limit: 2 }).await;
        let second = ids(&store, &filter, Page { after: first.last().copied(), limit: 1_000 }).await;
        assert_eq!([first, second].concat(), expected, "{filter:?} in two parts");
    };
    let seen_by_grace = |opened: &Opened| opened.actor == grace || opened.subject.as_ref() == Some(&grace);

    check(InvocationFilter { tool: Some(tool.clone()), ..none() }, &|row| row.opened.tool == tool).await;
    check(InvocationFilter { status: Some(Status::Completed), ..none() }, &|row| {
        row.status == Status::Completed
    })
    .await;
    check(InvocationFilter { actor: Some(grace.clone()), ..none() }, &|row| row.opened.actor == grace).await;
    check(InvocationFilter { session: Some(session), ..none() }, &|row| row.opened.session == session).await;
    check(InvocationFilter { visible_to: Some(alone(&grace)), ..none() }, &|row| seen_by_grace(&row.opened))
        .await;
    check(InvocationFilter { since: Some(since), ..none() }, &|row| row.opened.created_at >= since).await;
    check(InvocationFilter { until: Some(until), ..none() }, &|row| row.opened.created_at < until).await;
    check(
        InvocationFilter {
            tool: Some(tool.clone()),
            status: Some(Status::Running),
            visible_to: Some(alone(&grace)),
            since: Some(since),
            until: Some(until),
            ..none()
        },
        &|row| {
            row.opened.tool == tool
                && row.status == Status::Running
                && seen_by_grace(&row.opened)
                && (since..until).contains(&row.opened.created_at)
        },
    )
    .await;
    check(
        InvocationFilter {
            session: Some(session),
            actor: Some(grace.clone()),
            visible_to: Some(alone(&grace)),
            ..none()
        },
        &|row| row.opened.session == session && row.opened.actor == grace,
    )
    .await;
    let nobody = InvocationFilter { actor: Some(principal("user:nobody")), ..none() };
    assert!(ids(&store, &nobody, ALL).await.is_empty());
}

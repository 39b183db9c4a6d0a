//! Writing calls: once, whole, and only on top of what was seen.

use futures::future::join_all;
use toolgate_core::change::SessionUse;
use toolgate_core::id::{InvocationId, PrincipalId, WorkerId};
use toolgate_core::invocation::{Invocation, Opened, Status, Step};
use toolgate_core::port::store::{Begun, InvocationFilter, Page};
use toolgate_core::{Effect, Egress, Source};

use crate::given::*;

/// Every field comes back as it went in, the optional ones present or absent.
pub async fn a_call_is_read_back_as_written(store: Shared) {
    let bare = opened_with(|opened| {
        opened.tool_version = None;
        opened.rule = None;
    });
    let full = opened_with(|opened| {
        opened.parent = Some(InvocationId::generate());
        opened.effect = Effect::Destructive;
        opened.egress = Egress::ReadOnly;
        opened.idempotent = true;
        opened.subject = Some(principal("user:grace"));
        opened.source = Source::Mcp;
        opened.idempotency_key = Some("key-1".parse().unwrap());
        // Spaces and number forms are kept: hashes are taken over the text.
        opened.input = json(r#"{ "b" : 1.0, "a":[1e3,  null] }"#);
    });
    for opened in [bare, full] {
        let row = begin(&store, running(opened.clone()).due(seconds_after(opened.created_at, 30))).await;
        assert_eq!(row.opened, opened);
        assert_eq!(stored(&store, &row).await, kept(&row));
        let row = advance(&store, &row, &Step::Failed { error: failure() }).await;
        assert_eq!(row.due_at, None);
        assert_eq!(stored(&store, &row).await, kept(&row));
    }
    let asking = opened_with(|opened| opened.approval_required = true);
    let row = begin(&store, new_call(asking, &[needs_approval()], SessionUse::New)).await;
    assert_eq!(stored(&store, &row).await, kept(&row));
    let row = advance(&store, &row, &Step::Approved { reason: Some("go on".into()) }).await;
    let row = advance(&store, &row, &started(1, WorkerId::generate())).await;
    let done = Step::Completed { output: json(r#"{"o": [1, 2]}"#), cost_micros: Some(12) };
    let row = advance(&store, &row, &done).await;
    assert_eq!(stored(&store, &row).await, kept(&row));
    assert_eq!(row.decided_by, Some(ada()));
}

/// A call that can't be written leaves neither a row nor an event nor a session.
pub async fn a_refused_call_leaves_nothing_behind(store: Shared) {
    let lost = opened();
    let call = new_call(lost.clone(), &[started(1, WorkerId::generate())], of_anyone());
    assert!(is_not_found(&store.begin(call).await));
    assert_eq!(store.get(&lost.tenant, lost.id).await.unwrap(), None);
    assert_eq!(store.session(&lost.tenant, lost.session).await.unwrap(), None);
    assert!(chain(&store, lost.session).await.is_empty());
}

/// A taken key answers with the call that took it, as it stands now, and writes nothing.
pub async fn same_key_returns_the_first_call(store: Shared) {
    let keyed = |opened: &mut Opened| opened.idempotency_key = Some("k".parse().unwrap());
    let first = begin(&store, running(opened_with(keyed))).await;
    let first = advance(&store, &first, &completed("{}")).await;

    let again = opened_with(keyed);
    let Begun::Repeat(answer) = store.begin(running(again.clone())).await.unwrap() else {
        panic!("the key was taken");
    };
    assert_eq!(kept(&answer), kept(&first));
    assert_eq!(store.get(&again.tenant, again.id).await.unwrap(), None);
    assert_eq!(store.session(&again.tenant, again.session).await.unwrap(), None);
    assert!(chain(&store, again.session).await.is_empty());

    let session = session(&store).await;
    let inside = Opened { id: InvocationId::generate(), session, ..again };
    let call = new_call(inside.clone(), &[started(1, WorkerId::generate())], of_anyone());
    assert!(matches!(store.begin(call).await.unwrap(), Begun::Repeat(row) if row.id() == first.id()));
    assert!(chain(&store, session).await.is_empty());

    let key = inside.idempotency_key.clone().unwrap();
    let found = store.find_by_key(&inside.tenant, &inside.acting(), &inside.tool, &key).await.unwrap();
    assert_eq!(found.as_ref().map(Invocation::id), Some(first.id()));
}

/// The same key of another tenant, actor or tool is another key.
pub async fn a_key_belongs_to_its_tenant_actor_and_tool(store: Shared) {
    let keyed = || opened_with(|opened| opened.idempotency_key = Some("k".parse().unwrap()));
    let first = begin(&store, running(keyed())).await;
    for opened in [
        Opened { tenant: other_tenant(), ..keyed() },
        Opened { actor: principal("agent:b"), ..keyed() },
        Opened { tool: "core__y".parse().unwrap(), ..keyed() },
        Opened { idempotency_key: Some("K".parse().unwrap()), ..keyed() },
        Opened { idempotency_key: None, ..keyed() },
        Opened { idempotency_key: None, ..keyed() },
    ] {
        let row = begin(&store, running(opened)).await;
        assert_ne!(row.id(), first.id());
    }
    let key = "nobody's".parse().unwrap();
    let found = store.find_by_key(&tenant(), &first.opened.acting(), &first.opened.tool, &key).await.unwrap();
    assert_eq!(found, None);
}

/// However many come with one key at once, one is written and the others hear of it.
pub async fn racing_calls_with_one_key_have_one_winner(store: Shared) {
    for round in 0..8 {
        let key = format!("race-{round}");
        let tasks = (0..12).map(|_| {
            let call = running(opened_with(|opened| opened.idempotency_key = Some(key.parse().unwrap())));
            let store = Shared::clone(&store);
            tokio::spawn(async move { store.begin(call).await.unwrap() })
        });
        let mut winners = Vec::new();
        let mut told = Vec::new();
        for begun in join_all(tasks).await {
            match begun.unwrap() {
                Begun::Fresh(row) => winners.push(row.id()),
                Begun::Repeat(row) => told.push(row.id()),
            }
        }
        assert_eq!(winners.len(), 1);
        assert_eq!(told, vec![winners[0]; 11]);
    }
    let all =
        store.list(&tenant(), &InvocationFilter::default(), Page { after: None, limit: 100 }).await.unwrap();
    assert_eq!(all.len(), 8);
}

/// Asked again after a lost answer, the store says what the first try wrote, whatever became of it since.
pub async fn same_call_id_twice_is_one_call(store: Shared) {
    let session = session(&store).await;
    let key = Some("k".parse().unwrap());
    let calls = [
        running(opened()),
        running(opened_with(|opened| opened.idempotency_key = key)),
        new_call(in_session(session), &[started(1, WorkerId::generate()), completed("{}")], of_anyone()),
    ];
    for call in calls {
        let row = begin(&store, call.clone()).await;
        let again = begin(&store, call.clone()).await;
        assert_eq!(kept(&again), kept(&row));
        if row.status == Status::Running {
            let row = advance(&store, &row, &completed("{}")).await;
            assert_eq!(kept(&begin(&store, call).await), kept(&row));
        }
        let events = chain(&store, row.opened.session).await;
        assert_eq!(events.len(), 2);
    }

    let call = running(opened());
    let tasks = (0..8).map(|_| {
        let (store, call) = (Shared::clone(&store), call.clone());
        tokio::spawn(async move { begin(&store, call).await })
    });
    for row in join_all(tasks).await {
        assert_eq!(row.unwrap().id(), call.invocation().id());
    }
    assert_eq!(chain(&store, call.invocation().opened.session).await.len(), 1);
}

/// A step on top of an old row is refused and changes nothing.
pub async fn stale_revision_is_refused(store: Shared) {
    let seen = begin(&store, running(opened())).await;
    let current = advance(&store, &seen, &Step::OutputAppended { chunk: json("1") }).await;
    assert_eq!(current.revision, 2);
    assert!(is_conflict(&store.advance(step(&seen, &completed("{}"))).await));
    assert_eq!(stored(&store, &seen).await, kept(&current));
    assert_eq!(chain(&store, seen.opened.session).await.len(), 2);
    advance(&store, &current, &completed("{}")).await;
}

/// Of many steps on top of the same row, one is written.
pub async fn concurrent_advances_have_one_winner(store: Shared) {
    let mut seen = begin(&store, running(opened())).await;
    for round in 2..7 {
        let tasks = (0..16).map(|number| {
            let change = step(&seen, &Step::OutputAppended { chunk: json(&number.to_string()) });
            let store = Shared::clone(&store);
            tokio::spawn(async move { store.advance(change).await })
        });
        let answers: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|answer| is_conflict(answer)).count(), 15);
        seen = answers.into_iter().find_map(Result::ok).unwrap();
        assert_eq!(seen.revision, round);
    }
    assert_eq!(stored(&store, &seen).await, kept(&seen));
    assert_eq!(chain(&store, seen.opened.session).await.len(), 6);
}

/// A step of a call that is not there answers "not found" and writes no event.
pub async fn a_call_nobody_wrote_is_not_found(store: Shared) {
    let call = running(opened());
    let never_written = call.invocation().clone();
    assert!(is_not_found(&store.advance(step(&never_written, &completed("{}"))).await));
    assert!(chain(&store, never_written.opened.session).await.is_empty());
    assert_eq!(store.get(&tenant(), InvocationId::generate()).await.unwrap(), None);
}

/// A tenant's wall: the right id under another tenant is not there, to read or to change.
pub async fn another_tenants_rows_are_not_found(store: Shared) {
    let row = begin(&store, running(opened())).await;
    assert_eq!(store.get(&other_tenant(), row.id()).await.unwrap(), None);
    assert_eq!(store.session(&other_tenant(), row.opened.session).await.unwrap(), None);
    let page = Page { after: None, limit: 10 };
    assert!(store.list(&other_tenant(), &InvocationFilter::default(), page).await.unwrap().is_empty());

    let intruder = Opened { tenant: other_tenant(), session: row.opened.session, ..opened() };
    let call = new_call(intruder, &[started(1, WorkerId::generate())], of_anyone());
    assert!(is_not_found(&store.begin(call).await));
    assert_eq!(chain(&store, row.opened.session).await.len(), 1);

    let mut disguised = row.clone();
    disguised.opened.tenant = other_tenant();
    assert!(is_not_found(&store.advance(step(&disguised, &completed("{}"))).await));
    assert_eq!(stored(&store, &row).await, kept(&row));
    assert_eq!(chain(&store, row.opened.session).await.len(), 1);
}

/// What an agent asked for one person is not what it asked for another: keys, lists and sessions tell them apart.
pub async fn an_agent_works_for_one_person_at_a_time(store: Shared) {
    let agent = principal("agent:helper");
    let key = "same".parse().unwrap();
    let for_person = |person: Option<&str>| {
        opened_with(|opened| {
            opened.actor = principal("agent:helper");
            opened.subject = person.map(principal);
            opened.idempotency_key = Some("same".parse().unwrap());
        })
    };
    let all = [for_person(Some("user:ada")), for_person(Some("user:bob")), for_person(None)];
    for opened in &all {
        let row = begin(&store, running(opened.clone())).await;
        assert_eq!(row.id(), opened.id, "none repeats another's");
    }
    for opened in &all {
        let found = store.find_by_key(&tenant(), &opened.acting(), &opened.tool, &key).await.unwrap();
        assert_eq!(found.map(|row| row.id()), Some(opened.id));
        let filter = InvocationFilter { visible_to: Some(opened.acting()), ..InvocationFilter::default() };
        let seen = store.list(&tenant(), &filter, Page { after: None, limit: 10 }).await.unwrap();
        assert_eq!(seen.iter().map(Invocation::id).collect::<Vec<_>>(), [opened.id]);
        for other in all.iter().filter(|other| other.id != opened.id) {
            let mut intruding = for_person(other.subject.as_ref().map(PrincipalId::as_str));
            (intruding.session, intruding.idempotency_key) = (opened.session, None);
            let owner = SessionUse::Existing { owner: Some(agent.clone()) };
            let call = new_call(intruding, &[started(1, WorkerId::generate())], owner);
            assert!(is_not_found(&store.begin(call).await), "another person's session");
        }
    }
}

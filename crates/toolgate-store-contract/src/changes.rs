//! Changes by those who manage a tenant: whole, counted and on the record.

use std::collections::HashMap;

use futures::future::join_all;
use toolgate_core::administration::{Write, administration_session};
use toolgate_core::document::{DocumentKind, Expect};
use toolgate_core::event::EventKind;
use toolgate_core::id::ApiKeyId;

use crate::anchors::{anchor_until, anchored, anchors};
use crate::given::*;

fn put_role(name: &str, expect: Expect) -> Write {
    Write::PutDocument { kind: DocumentKind::Role, name: name.to_owned(), body: json("{}"), expect }
}

/// Either all writes are there, with the generation and the event, or nothing is: whichever write failed.
pub async fn a_change_is_made_whole_or_not_at_all(store: Shared) {
    let before = generation(&store, &tenant()).await;
    let writes = |last: Expect| {
        vec![
            put_role("first", Expect::Anything),
            put_principal(&person(tenant(), &ada())),
            Write::SetPassword { principal: ada(), hash: Some("hash".into()) },
            put_tenant("Renamed", Expect::Anything),
            put_role("last", last),
        ]
    };
    assert!(is_conflict(&try_change(&store, writes(Expect::Revision(1))).await));
    assert!(store.documents(&tenant()).await.unwrap().is_empty());
    let versions = store.document_versions(&tenant(), DocumentKind::Role, "first", None, 10).await.unwrap();
    assert!(versions.is_empty());
    assert_eq!(store.principal(&tenant(), &ada()).await.unwrap(), None);
    assert_eq!(store.password(&tenant(), &ada()).await.unwrap(), None);
    let unchanged = store.tenant(&tenant()).await.unwrap().unwrap();
    assert_ne!(unchanged.title, "Renamed");
    assert_eq!(unchanged.generation, before);
    assert!(chain(&store, administration_session(&tenant())).await.is_empty());

    assert_eq!(change(&store, writes(Expect::Absent)).await, before + 1);
    assert_eq!(store.documents(&tenant()).await.unwrap().len(), 2);
    assert!(store.principal(&tenant(), &ada()).await.unwrap().is_some());
    assert_eq!(store.tenant(&tenant()).await.unwrap().unwrap().title, "Renamed");
    assert_eq!(chain(&store, administration_session(&tenant())).await.len(), 1);
}

/// Not found, conflict or refused: nothing was written, and the next change goes through.
pub async fn every_kind_of_failure_leaves_nothing_behind(store: Shared) {
    principals(&store, &[&ada()]).await;
    let before = generation(&store, &tenant()).await;
    let session = administration_session(&tenant());
    let nobody = principal("user:nobody");
    let role = |name: &str| (DocumentKind::Role, name.to_owned());
    let (kind, name) = role("missing");
    let not_found = [
        Write::RemoveDocument { kind, name, expect: Expect::Anything },
        Write::SetPassword { principal: nobody.clone(), hash: None },
        Write::LinkIdentity { issuer: "i".into(), sub: "s".into(), principal: nobody },
        Write::EndKey { id: ApiKeyId::generate(), at: now() },
    ];
    for write in not_found {
        let answer = try_change(&store, vec![put_role("kept out", Expect::Anything), write.clone()]).await;
        assert!(is_not_found(&answer), "{write:?}: {answer:?}");
    }
    let foreign = person(other_tenant(), &ada());
    let refused =
        try_change(&store, vec![put_role("kept out", Expect::Anything), put_principal(&foreign)]).await;
    assert!(is_refused(&refused), "{refused:?}");
    assert!(store.documents(&tenant()).await.unwrap().is_empty());
    assert_eq!(generation(&store, &tenant()).await, before);
    assert_eq!(chain(&store, session).await.len(), 1);

    let nowhere = store.change(change_of(other_tenant(), vec![put_role("r", Expect::Anything)])).await;
    assert!(is_not_found(&nowhere));
    assert!(is_not_found(&store.change(change_of(other_tenant(), vec![])).await));
    assert!(chain(&store, administration_session(&other_tenant())).await.is_empty());
    assert_eq!(change(&store, vec![put_role("r", Expect::Absent)]).await, before + 1);
}

/// One more with each change, however much it writes; another tenant's changes do not count.
pub async fn a_generation_goes_up_by_one_per_change_of_its_tenant(store: Shared) {
    make_other_tenant(&store, vec![]).await;
    let first = generation(&store, &tenant()).await;
    for (number, count) in (1..).zip([0, 1, 5]) {
        let writes = (0..count).map(|role| put_role(&format!("role-{role}"), Expect::Anything)).collect();
        assert_eq!(change(&store, writes).await, first + number);
        assert_eq!(generation(&store, &tenant()).await, first + number);
    }
    assert_eq!(generation(&store, &other_tenant()).await, 1);
    let asked = [other_tenant(), "missing".parse().unwrap(), tenant()];
    let mut generations = store.generations(&asked).await.unwrap();
    generations.sort();
    assert_eq!(generations, [(tenant(), first + 3), (other_tenant(), 1)]);
    assert!(store.generations(&[]).await.unwrap().is_empty());
}

/// A tenant's changes are events of one session, in order, each saying who, when and what, and anchors cover them.
pub async fn changes_are_a_chain_that_anchors_cover(store: Shared) {
    make_other_tenant(&store, vec![]).await;
    let mut made = Vec::new();
    for number in 0..5 {
        let next = change_of(tenant(), vec![put_role(&format!("role-{number}"), Expect::Absent)]);
        store.change(next.clone()).await.unwrap();
        made.push(next);
    }
    let session = administration_session(&tenant());
    let events = chain(&store, session).await;
    assert_eq!(events.len(), 5);
    for (event, change) in events.iter().zip(&made) {
        assert_eq!(event.draft.kind, EventKind::AdminChanged);
        assert_eq!((&event.draft.tenant, &event.draft.actor), (&change.tenant, &change.by));
        assert_eq!((event.draft.at, &event.draft.data), (change.at, &change.summary));
    }
    let other = administration_session(&other_tenant());
    let foreign = chain(&store, other).await;
    assert_eq!(foreign.len(), 1);
    let mut walked = store.sessions_after(None, 10).await.unwrap();
    walked.sort_unstable();
    let mut sessions = [session, other];
    sessions.sort_unstable();
    assert_eq!(walked, sessions);

    let call = begin(&store, running(opened())).await;
    let heads = HashMap::from([
        (session, events[4].head()),
        (other, foreign[0].head()),
        (call.opened.session, call.head.unwrap()),
    ]);
    anchor_until(&store, &heads, 100).await;
    assert_eq!(anchored(&anchors(&store).await), heads);
    change(&store, vec![]).await;
    let head = chain(&store, session).await.last().unwrap().head();
    anchor_until(&store, &HashMap::from([(session, head)]), 100).await;
}

/// Many at once, of two tenants: each gets a generation of its own, and each tenant one whole chain.
pub async fn concurrent_changes_of_one_tenant_keep_one_chain(store: Shared) {
    make_other_tenant(&store, vec![]).await;
    let first = generation(&store, &tenant()).await;
    let tasks = (0..48).map(|number| {
        let store = Shared::clone(&store);
        let (id, role) = (if number % 3 == 0 { other_tenant() } else { tenant() }, format!("role-{number}"));
        tokio::spawn(async move {
            (
                number % 3 == 0,
                store.change(change_of(id, vec![put_role(&role, Expect::Absent)])).await.unwrap(),
            )
        })
    });
    let made: Vec<(bool, u64)> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let sorted = |other: bool| {
        let mut numbers: Vec<u64> =
            made.iter().filter(|(foreign, _)| *foreign == other).map(|(_, generation)| *generation).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(sorted(false), (first + 1..=first + 32).collect::<Vec<_>>());
    assert_eq!(sorted(true), (2..=17).collect::<Vec<_>>());
    assert_eq!(chain(&store, administration_session(&tenant())).await.len(), 32);
    assert_eq!(chain(&store, administration_session(&other_tenant())).await.len(), 17);
    assert_eq!(store.documents(&tenant()).await.unwrap().len(), 32);
    assert_eq!(store.documents(&other_tenant()).await.unwrap().len(), 16);
}

/// Writes are made in order: one may stand on what those before it made.
pub async fn later_writes_see_earlier_ones(store: Shared) {
    let person = person(other_tenant(), &ada());
    make_other_tenant(
        &store,
        vec![
            put_principal(&person),
            Write::SetPassword { principal: ada(), hash: Some("hash".into()) },
            put_role("r", Expect::Absent),
            put_role("r", Expect::Revision(1)),
            put_tenant("Again", Expect::Anything),
        ],
    )
    .await;
    assert_eq!(store.principal(&other_tenant(), &ada()).await.unwrap(), Some(person));
    let role = store.document(&other_tenant(), DocumentKind::Role, "r").await.unwrap().unwrap();
    assert_eq!(role.revision, 2);
    assert_eq!(store.tenant(&other_tenant()).await.unwrap().unwrap().title, "Again");
}

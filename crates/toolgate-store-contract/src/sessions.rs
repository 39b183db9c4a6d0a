//! Sessions: threads of work with an owner.

use toolgate_core::administration::administration_session;
use toolgate_core::change::SessionUse;
use toolgate_core::id::{SessionId, WorkerId};
use toolgate_core::port::store::Session;

use crate::given::*;

/// A call may join its owner's session, and nobody else's unless it may manage the tenant.
pub async fn sessions_belong_to_their_owner(store: Shared) {
    let id = session(&store).await;
    let join = |owner: SessionUse| new_call(in_session(id), &[started(1, WorkerId::generate())], owner);
    let owned_by = |owner: &str| SessionUse::Existing { owner: Some(principal(owner)) };

    assert!(is_not_found(&store.begin(join(owned_by("user:grace"))).await));
    assert!(chain(&store, id).await.is_empty());
    begin(&store, join(owned_by("user:ada"))).await;
    begin(&store, join(of_anyone())).await;
    assert_eq!(chain(&store, id).await.len(), 2);

    // A call's own session is its actor's.
    let row = begin(&store, running(opened())).await;
    let own = store.session(&tenant(), row.opened.session).await.unwrap().unwrap();
    assert_eq!((own.owner, own.created_at), (row.opened.actor.clone(), row.opened.created_at));
    let next = in_session(row.opened.session);
    begin(&store, new_call(next, &[started(1, WorkerId::generate())], owned_by("user:ada"))).await;
}

/// Labels come back as they were given, in their order; a call's own session has none.
pub async fn labels_survive(store: Shared) {
    for labels in [&[][..], &["b", "a", "b"], &["naïve 漢字 🦀", "quo\"ted, \\ and \0", ""]] {
        let made = labelled_session(SessionId::generate(), labels);
        store.create_session(made.clone()).await.unwrap();
        assert_eq!(store.session(&tenant(), made.id).await.unwrap(), Some(made.clone()));
        begin(&store, new_call(in_session(made.id), &[started(1, WorkerId::generate())], of_anyone())).await;
        assert_eq!(store.session(&tenant(), made.id).await.unwrap(), Some(made));
    }
    let row = begin(&store, running(opened())).await;
    let own = store.session(&tenant(), row.opened.session).await.unwrap().unwrap();
    assert!(own.labels.is_empty());
}

/// Nobody makes a call in the session of a tenant's changes, nor the session itself: its managers neither.
pub async fn the_administration_session_takes_no_calls(store: Shared) {
    let id = administration_session(&tenant());
    for round in 0..2 {
        for owner in [None, Some(ada())] {
            let call = new_call(
                in_session(id),
                &[started(1, WorkerId::generate())],
                SessionUse::Existing { owner: owner.clone() },
            );
            assert!(is_not_found(&store.begin(call).await), "round {round}, owner {owner:?}");
        }
        assert!(is_refused(&store.create_session(labelled_session(id, &[])).await));
        assert_eq!(store.session(&tenant(), id).await.unwrap(), None);
        assert_eq!(chain(&store, id).await.len(), round);
        change(&store, vec![]).await;
    }
    let own = new_call(in_session(id), &[started(1, WorkerId::generate())], SessionUse::New);
    assert!(store.begin(own).await.is_err());
    assert_eq!(chain(&store, id).await.len(), 2);
}

/// A session is read back as made, and its id can't be taken twice.
pub async fn a_session_is_made_once(store: Shared) {
    let made = labelled_session(SessionId::generate(), &[]);
    store.create_session(made.clone()).await.unwrap();
    assert_eq!(store.session(&made.tenant, made.id).await.unwrap(), Some(made.clone()));
    let stolen = Session { owner: principal("user:grace"), ..made.clone() };
    assert!(is_refused(&store.create_session(stolen).await));
    assert_eq!(store.session(&made.tenant, made.id).await.unwrap(), Some(made));
    assert_eq!(store.session(&tenant(), SessionId::generate()).await.unwrap(), None);
}

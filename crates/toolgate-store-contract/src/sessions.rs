//! Sessions: threads of work with an owner.

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

/// A session is read back as made, and its id can't be taken twice.
pub async fn a_session_is_made_once(store: Shared) {
    let made = Session { id: SessionId::generate(), tenant: tenant(), owner: ada(), created_at: now() };
    store.create_session(made.clone()).await.unwrap();
    assert_eq!(store.session(&made.tenant, made.id).await.unwrap(), Some(made.clone()));
    let stolen = Session { owner: principal("user:grace"), ..made.clone() };
    assert!(is_refused(&store.create_session(stolen).await));
    assert_eq!(store.session(&made.tenant, made.id).await.unwrap(), Some(made));
    assert_eq!(store.session(&tenant(), SessionId::generate()).await.unwrap(), None);
}

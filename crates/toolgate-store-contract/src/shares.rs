//! Links to calls.

use toolgate_core::Timestamp;
use toolgate_core::administration::Write;
use toolgate_core::id::{ApiKeyId, InvocationId, ShareId, TenantId};
use toolgate_core::share::Share;

use crate::given::*;

fn link(tenant: TenantId, call: InvocationId, last_byte: u8) -> Share {
    let created_at = now();
    let mut hash = [7; 32];
    hash[31] = last_byte;
    Share {
        id: ShareId::generate(),
        tenant,
        call,
        hash,
        by: ada(),
        key: Some(ApiKeyId::generate()),
        created_at,
        expires_at: seconds_after(created_at, 3_600),
        revoked_at: None,
    }
}

fn put(share: &Share) -> Write {
    Write::PutShare(Box::new(share.clone()))
}

async fn call(store: &Shared) -> InvocationId {
    principals(store, &[&ada()]).await;
    begin(store, running(opened())).await.id()
}

/// What was made is read back by its hash, its id and its call; newest first.
pub async fn a_link_is_read_back_as_made(store: Shared) {
    let call = call(&store).await;
    let (first, second) = (link(tenant(), call, 1), link(tenant(), call, 2));
    change(&store, vec![put(&first)]).await;
    change(&store, vec![put(&second)]).await;
    assert_eq!(store.share_by_hash(&first.hash).await.unwrap(), Some(first.clone()));
    assert_eq!(store.share_by_hash(&[0; 32]).await.unwrap(), None);
    assert_eq!(store.share(&tenant(), second.id).await.unwrap(), Some(second.clone()));
    let of_call = async |at: Timestamp, limit| store.shares_of(&tenant(), call, at, limit).await.unwrap();
    assert_eq!(of_call(first.created_at, 10).await, [second.clone(), first.clone()]);
    assert_eq!(of_call(first.created_at, 1).await, std::slice::from_ref(&second));
    assert_eq!(of_call(first.expires_at, 10).await, [second], "one that has run out is not listed");
    assert!(
        store.shares_of(&tenant(), InvocationId::generate(), first.created_at, 10).await.unwrap().is_empty()
    );
}

/// A link needs its call and its maker, both of its tenant; an id or a hash is taken once.
pub async fn a_link_needs_a_call_and_is_made_once(store: Shared) {
    let call = call(&store).await;
    make_other_tenant(&store, vec![put_principal(&person(other_tenant(), &ada()))]).await;
    let made = link(tenant(), call, 1);
    change(&store, vec![put(&made)]).await;
    assert!(is_refused(&try_change(&store, vec![put(&made)]).await));
    let same_hash = Share { id: ShareId::generate(), ..made.clone() };
    assert!(is_refused(&try_change(&store, vec![put(&same_hash)]).await));
    assert!(is_not_found(&try_change(&store, vec![put(&link(tenant(), InvocationId::generate(), 2))]).await));
    let nobody = Share { by: principal("user:nobody"), ..link(tenant(), call, 3) };
    assert!(is_not_found(&try_change(&store, vec![put(&nobody)]).await));
    let walled = link(other_tenant(), call, 4);
    assert!(is_refused(&try_change(&store, vec![put(&walled)]).await));
    let change = change_of(other_tenant(), vec![put(&walled)]);
    assert!(is_not_found(&store.change(change).await), "another tenant's call is not there");
    assert_eq!(store.share(&other_tenant(), made.id).await.unwrap(), None);
    assert!(store.shares_of(&other_tenant(), call, made.created_at, 10).await.unwrap().is_empty());
}

/// A link that was taken back stays so, is no longer listed, and only its own tenant takes it back.
pub async fn a_link_that_was_taken_back_is_over(store: Shared) {
    let call = call(&store).await;
    make_other_tenant(&store, Vec::new()).await;
    let made = link(tenant(), call, 1);
    change(&store, vec![put(&made)]).await;
    let revoke = || vec![Write::RevokeShare { id: made.id }];
    assert!(is_not_found(&store.change(change_of(other_tenant(), revoke())).await));
    assert!(store.share_by_hash(&made.hash).await.unwrap().unwrap().works(made.created_at));
    change(&store, revoke()).await;
    let ended = store.share_by_hash(&made.hash).await.unwrap().unwrap();
    assert!(ended.revoked_at.is_some() && !ended.works(made.created_at));
    assert!(store.shares_of(&tenant(), call, made.created_at, 10).await.unwrap().is_empty());
    change(&store, revoke()).await;
    assert_eq!(store.share(&tenant(), made.id).await.unwrap(), Some(ended));
    assert!(is_not_found(&try_change(&store, vec![Write::RevokeShare { id: ShareId::generate() }]).await));
}

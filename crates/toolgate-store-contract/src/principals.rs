//! Principals and their keys.

use toolgate_core::id::ApiKeyId;
use toolgate_core::port::store::ApiKey;

use crate::given::*;

fn key(hash: u8) -> ApiKey {
    ApiKey {
        id: ApiKeyId::generate(),
        tenant: tenant(),
        principal: ada(),
        hash: [hash; 32],
        label: "Ada's laptop".into(),
        created_at: now(),
    }
}

/// A principal's rules are those last written, within its tenant.
pub async fn principals_are_replaced_whole(store: Shared) {
    assert!(store.principal(&tenant(), &ada()).await.unwrap().is_none());
    store.put_principal(&tenant(), &ada(), &["a.b.read".to_owned(), "a.b.write".to_owned()]).await.unwrap();
    let actor = store.principal(&tenant(), &ada()).await.unwrap().unwrap();
    assert_eq!((&actor.tenant, &actor.principal), (&tenant(), &ada()));
    assert_eq!(actor.rules.as_slice(), ["a.b.read", "a.b.write"]);
    assert!(actor.subject.is_none() && actor.key.is_none());

    store.put_principal(&tenant(), &ada(), &["*".to_owned()]).await.unwrap();
    let actor = store.principal(&tenant(), &ada()).await.unwrap().unwrap();
    assert_eq!(actor.rules.as_slice(), ["*"]);
    assert!(store.principal(&other_tenant(), &ada()).await.unwrap().is_none());
    store.put_principal(&other_tenant(), &ada(), &[]).await.unwrap();
    assert!(store.principal(&other_tenant(), &ada()).await.unwrap().unwrap().rules.as_slice().is_empty());
}

/// A key's hash leads to its principal, with the rules it has now.
pub async fn a_key_speaks_for_its_principal(store: Shared) {
    assert!(!store.any_key().await.unwrap());
    store.put_principal(&tenant(), &ada(), &["a.b.read".to_owned()]).await.unwrap();
    let key = key(7);
    store.put_key(key.clone()).await.unwrap();
    assert!(store.any_key().await.unwrap());

    let actor = store.actor_by_key(&key.hash).await.unwrap().unwrap();
    assert_eq!((actor.tenant, actor.principal, actor.key), (tenant(), ada(), Some(key.id)));
    assert_eq!(actor.rules.as_slice(), ["a.b.read"]);
    assert!(actor.subject.is_none());
    store.put_principal(&tenant(), &ada(), &[]).await.unwrap();
    assert!(store.actor_by_key(&key.hash).await.unwrap().unwrap().rules.as_slice().is_empty());
    assert!(store.actor_by_key(&[8; 32]).await.unwrap().is_none());
}

/// A key of nobody answers "not found"; a hash or an id that is taken is refused.
pub async fn a_key_needs_a_principal_and_is_made_once(store: Shared) {
    assert!(is_not_found(&store.put_key(key(1)).await));
    assert!(!store.any_key().await.unwrap());
    store.put_principal(&tenant(), &ada(), &[]).await.unwrap();
    let first = key(1);
    store.put_key(first.clone()).await.unwrap();
    assert!(is_refused(&store.put_key(key(1)).await));
    assert!(is_refused(&store.put_key(ApiKey { id: first.id, ..key(2) }).await));
    assert!(store.actor_by_key(&[2; 32]).await.unwrap().is_none());
}

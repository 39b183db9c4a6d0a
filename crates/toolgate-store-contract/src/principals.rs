//! Principals: who may act.

use toolgate_core::AccessRules;
use toolgate_core::administration::Write;
use toolgate_core::document::Expect;
use toolgate_core::id::{PrincipalId, PrincipalKind};
use toolgate_core::principal::Principal;

use crate::given::*;

fn full() -> Principal {
    Principal {
        title: "Ada 🦀 \"Lovelace\"".into(),
        rules: AccessRules::new(["a.b.read".to_owned(), "a.b.write".to_owned()]),
        roles: vec!["reader".parse().unwrap(), "admin".parse().unwrap()],
        acts_for: vec!["user:grace".parse().unwrap(), "user:team-*".parse().unwrap()],
        disabled: true,
        ..person(tenant(), &ada())
    }
}

fn put(principal: &Principal, expect: Expect) -> Write {
    Write::PutPrincipal { principal: Box::new(principal.clone()), expect }
}

async fn stored_principal(store: &Shared, id: &PrincipalId) -> Option<Principal> {
    store.principal(&tenant(), id).await.unwrap()
}

/// Every field comes back as it went in, also of one who gets in no more: whoever asks decides what follows.
pub async fn a_principal_is_read_back_as_written(store: Shared) {
    assert_eq!(stored_principal(&store, &ada()).await, None);
    let bare = person(tenant(), &principal("service:bare"));
    change(&store, vec![put(&full(), Expect::Absent), put(&bare, Expect::Anything)]).await;
    let found = stored_principal(&store, &ada()).await.unwrap();
    assert_eq!(found, Principal { created_at: found.created_at, ..full() });
    assert_eq!(stored_principal(&store, &bare.id).await, Some(bare));
}

/// What is written replaces what was there, all of it but the moment it was made.
pub async fn principals_are_replaced_whole(store: Shared) {
    let first = full();
    change(&store, vec![put_principal(&first)]).await;
    let second = person(tenant(), &ada());
    assert_ne!(second.created_at, first.created_at);
    change(&store, vec![put_principal(&second)]).await;
    let expected = Principal { created_at: first.created_at, ..second };
    assert_eq!(stored_principal(&store, &ada()).await, Some(expected.clone()));
    change(&store, vec![put_principal(&first)]).await;
    assert_eq!(stored_principal(&store, &ada()).await, Some(first));
}

/// One who must be new and is not is a conflict, and so is a revision: principals have none.
pub async fn a_principal_expected_to_be_new_must_be(store: Shared) {
    let first = full();
    assert!(is_conflict(&try_change(&store, vec![put(&first, Expect::Revision(1))]).await));
    change(&store, vec![put(&first, Expect::Absent)]).await;
    for expect in [Expect::Absent, Expect::Revision(1)] {
        let second = person(tenant(), &ada());
        assert!(is_conflict(&try_change(&store, vec![put(&second, expect)]).await), "{expect:?}");
    }
    assert_eq!(stored_principal(&store, &ada()).await, Some(first));
}

/// A tenant's wall: the same id elsewhere is somebody else.
pub async fn another_tenants_principals_are_not_seen(store: Shared) {
    let mine = full();
    change(&store, vec![put_principal(&mine)]).await;
    make_other_tenant(&store, vec![]).await;
    assert_eq!(store.principal(&other_tenant(), &ada()).await.unwrap(), None);
    assert!(store.principals(&other_tenant(), None, None, 10).await.unwrap().is_empty());

    let theirs = person(other_tenant(), &ada());
    store.change(change_of(other_tenant(), vec![put(&theirs, Expect::Absent)])).await.unwrap();
    assert_eq!(store.principal(&other_tenant(), &ada()).await.unwrap(), Some(theirs.clone()));
    assert_eq!(stored_principal(&store, &ada()).await, Some(mine.clone()));
    assert_eq!(store.principals(&tenant(), None, None, 10).await.unwrap(), [mine]);
    assert_eq!(store.principals(&other_tenant(), None, None, 10).await.unwrap(), [theirs]);
}

/// In order of id, of one kind or of all, after any one, as many as asked for.
pub async fn principals_are_listed_by_kind_and_page(store: Shared) {
    let names = ["user:A", "user:a:b", "user:z", "agent:user:x", "service:user", "agent:a"];
    let ids: Vec<PrincipalId> = names.iter().map(|name| principal(name)).collect();
    principals(&store, &ids.iter().collect::<Vec<_>>()).await;
    let page = async |kind, after: Option<&str>, limit| {
        let after = after.map(principal);
        let found = store.principals(&tenant(), kind, after.as_ref(), limit).await.unwrap();
        found.into_iter().map(|principal| principal.id.to_string()).collect::<Vec<_>>()
    };
    let all = ["agent:a", "agent:user:x", "service:user", "user:A", "user:a:b", "user:z"];
    assert_eq!(page(None, None, 10).await, all);
    assert_eq!(page(None, None, 2).await, all[..2]);
    assert_eq!(page(None, Some("agent:user:x"), 2).await, all[2..4]);
    assert!(page(None, Some("user:z"), 2).await.is_empty());
    assert_eq!(page(Some(PrincipalKind::User), None, 10).await, all[3..]);
    assert_eq!(page(Some(PrincipalKind::User), Some("user:A"), 1).await, all[4..5]);
    assert_eq!(page(Some(PrincipalKind::Agent), None, 10).await, all[..2]);
    assert_eq!(page(Some(PrincipalKind::Service), None, 10).await, all[2..3]);
    assert!(page(Some(PrincipalKind::Agent), Some("user:a"), 10).await.is_empty());
    assert_eq!(page(Some(PrincipalKind::User), Some("agent:a"), 10).await, all[3..]);
}

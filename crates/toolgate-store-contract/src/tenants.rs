//! Tenants: the walls between organisations.

use futures::future::join_all;
use toolgate_core::administration::Write;
use toolgate_core::document::Expect;
use toolgate_core::id::TenantId;
use toolgate_core::tenant::Tenant;

use crate::given::*;

/// A new store has one tenant, which can be changed like any other.
pub async fn the_default_tenant_is_there_from_the_start(store: Shared) {
    let all = store.tenants(None, 10).await.unwrap();
    assert_eq!(all.iter().map(|tenant| &tenant.id).collect::<Vec<_>>(), [&tenant()]);
    let found = store.tenant(&tenant()).await.unwrap().unwrap();
    assert_eq!(all, std::slice::from_ref(&found));
    assert!(!found.disabled && !found.title.is_empty() && found.created_at.as_micros() > 0);
    assert!(is_conflict(&try_change(&store, vec![put_tenant("Again", Expect::Absent)]).await));
    let disable = Write::PutTenant { title: "Mine".into(), disabled: true, expect: Expect::Anything };
    let generation = change(&store, vec![disable]).await;
    let changed = Tenant { title: "Mine".into(), disabled: true, generation, ..found };
    assert_eq!(store.tenant(&tenant()).await.unwrap(), Some(changed));
}

/// Only who expects none makes one, with generation 1; a generation that is expected must still be so.
pub async fn a_tenant_is_made_once_and_changed_when_as_seen(store: Shared) {
    let id = other_tenant();
    let put = |title: &str, expect: Expect| change_of(id.clone(), vec![put_tenant(title, expect)]);
    assert!(is_not_found(&store.change(put("T", Expect::Anything)).await));
    assert!(is_not_found(&store.change(put("T", Expect::Revision(1))).await));
    assert_eq!(store.tenant(&id).await.unwrap(), None);

    let make = put("T", Expect::Absent);
    let made_at = make.at;
    assert_eq!(store.change(make).await.unwrap(), 1);
    let made =
        Tenant { id: id.clone(), title: "T".into(), disabled: false, generation: 1, created_at: made_at };
    assert_eq!(store.tenant(&id).await.unwrap(), Some(made.clone()));
    assert!(is_conflict(&store.change(put("U", Expect::Absent)).await));
    assert_eq!(store.tenant(&id).await.unwrap(), Some(made.clone()));

    assert_eq!(store.change(put("U", Expect::Revision(1))).await.unwrap(), 2);
    assert!(is_conflict(&store.change(put("V", Expect::Revision(1))).await));
    let changed = Tenant { title: "U".into(), generation: 2, ..made };
    assert_eq!(store.tenant(&id).await.unwrap(), Some(changed));
}

/// However many make the same tenant at once, one does.
pub async fn racing_makers_of_one_tenant_have_one_winner(store: Shared) {
    let tasks = (0..8).map(|number: u32| {
        let store = Shared::clone(&store);
        let make = put_tenant(&number.to_string(), Expect::Absent);
        tokio::spawn(async move { store.change(change_of(other_tenant(), vec![make])).await })
    });
    let answers: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(1))).count(), 1);
    assert_eq!(answers.iter().filter(|answer| is_conflict(answer)).count(), 7);
    assert_eq!(generation(&store, &other_tenant()).await, 1);
}

/// In order of id, after any one, as many as asked for.
pub async fn tenants_come_in_pages(store: Shared) {
    let ids: Vec<TenantId> = ["a", "b-1", "b1", "zz"].iter().map(|id| id.parse().unwrap()).collect();
    for id in ids.iter().rev() {
        store.change(change_of(id.clone(), vec![put_tenant("T", Expect::Absent)])).await.unwrap();
    }
    let page = async |after: Option<&TenantId>, limit| {
        let tenants = store.tenants(after, limit).await.unwrap();
        tenants.into_iter().map(|tenant| tenant.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 10).await, ["a", "b-1", "b1", "default", "zz"]);
    assert_eq!(page(None, 2).await, ["a", "b-1"]);
    assert_eq!(page(Some(&ids[1]), 2).await, ["b1", "default"]);
    assert!(page(Some(&ids[3]), 2).await.is_empty());
    assert!(page(None, 0).await.is_empty());
}

//! Users of different tenants who are one person.

use toolgate_core::administration::{Write, administration_session};
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::principal::Principal;
use toolgate_core::tenant_link::TenantLink;

use crate::given::*;

fn grace() -> PrincipalId {
    principal("user:grace")
}

/// Ada's half of a link with Grace of the other tenant.
fn half() -> TenantLink {
    TenantLink {
        id: TenantLinkId::generate(),
        tenant: tenant(),
        principal: ada(),
        other_tenant: other_tenant(),
        other_principal: grace(),
        proof: "password".into(),
        made_at: now(),
    }
}

/// Ada here and Grace there, and nothing between them.
async fn two(store: &Shared) {
    principals(store, &[&ada(), &principal("user:eve")]).await;
    make_other_tenant(store, vec![put_principal(&person(other_tenant(), &grace()))]).await;
}

async fn put(store: &Shared, link: &TenantLink) {
    let write = Write::LinkTenant(Box::new(link.clone()));
    store.change(change_of(link.tenant.clone(), vec![write])).await.unwrap();
}

/// Ada and Grace, linked.
async fn linked(store: &Shared) -> TenantLink {
    two(store).await;
    let link = half();
    put(store, &link).await;
    put(store, &link.other_half("company")).await;
    link
}

async fn leads_to(store: &Shared, tenant: &TenantId, id: &PrincipalId) -> Vec<(TenantId, PrincipalId)> {
    let found = store.linked_users(tenant, id).await.unwrap();
    found.into_iter().map(|user| (user.tenant.id, user.principal.id)).collect()
}

/// One half alone is nothing; with both, each side leads to the other, and each keeps how it was proved.
pub async fn a_link_holds_with_both_halves(store: Shared) {
    two(&store).await;
    let link = half();
    put(&store, &link).await;
    for (tenant, id) in [(tenant(), ada()), (other_tenant(), grace())] {
        assert!(leads_to(&store, &tenant, &id).await.is_empty(), "half a link leads nowhere");
        assert!(store.tenant_links(&tenant, None, None, 10).await.unwrap().is_empty());
        assert_eq!(store.tenant_link(&tenant, link.id).await.unwrap(), None);
    }
    let theirs = link.other_half("company");
    put(&store, &theirs).await;
    assert_eq!(leads_to(&store, &tenant(), &ada()).await, [(other_tenant(), grace())]);
    assert_eq!(leads_to(&store, &other_tenant(), &grace()).await, [(tenant(), ada())]);
    assert!(leads_to(&store, &tenant(), &principal("user:eve")).await.is_empty());
    assert_eq!(store.tenant_link(&tenant(), link.id).await.unwrap(), Some(link.clone()));
    assert_eq!(store.tenant_link(&other_tenant(), link.id).await.unwrap(), Some(theirs));
    let found = store.linked_users(&tenant(), &ada()).await.unwrap().remove(0);
    assert!(found.link == link.id && found.gets_in());
    assert_eq!(found.proof, "company", "how it was proved over there");

    let off = Principal { disabled: true, ..person(other_tenant(), &grace()) };
    store.change(change_of(other_tenant(), vec![put_principal(&off)])).await.unwrap();
    let found = store.linked_users(&tenant(), &ada()).await.unwrap().remove(0);
    assert!(found.principal.disabled && !found.gets_in(), "as they stand now");
}

/// Halves that do not name each other are no link, whatever their ids say.
pub async fn halves_must_name_each_other(store: Shared) {
    two(&store).await;
    let link = half();
    put(&store, &link).await;
    let other = TenantLink { other_principal: principal("user:eve"), ..link.other_half("password") };
    put(&store, &other).await;
    assert!(leads_to(&store, &tenant(), &ada()).await.is_empty());
    assert!(leads_to(&store, &tenant(), &principal("user:eve")).await.is_empty());
    assert!(leads_to(&store, &other_tenant(), &grace()).await.is_empty());
}

/// Both users must be there, in different tenants, and a tenant writes its own half only.
pub async fn a_link_needs_two_users_of_two_tenants(store: Shared) {
    two(&store).await;
    let try_put = async |tenant, link: TenantLink| {
        store.change(change_of(tenant, vec![Write::LinkTenant(Box::new(link))])).await
    };
    let nobody = || principal("user:nobody");
    assert!(is_not_found(&try_put(tenant(), TenantLink { principal: nobody(), ..half() }).await));
    assert!(is_not_found(&try_put(tenant(), TenantLink { other_principal: nobody(), ..half() }).await));
    assert!(is_refused(&try_put(other_tenant(), half()).await), "another tenant's half");
    let within = TenantLink { other_tenant: tenant(), other_principal: principal("user:eve"), ..half() };
    assert!(is_refused(&try_put(tenant(), within).await), "two users of one tenant are two people");
}

/// Either side ends a link alone, at once for both, once.
pub async fn either_half_ends_a_link(store: Shared) {
    let link = linked(&store).await;
    let end = async |tenant| store.change(change_of(tenant, vec![Write::UnlinkTenant { id: link.id }])).await;
    end(other_tenant()).await.unwrap();
    for (tenant, id) in [(tenant(), ada()), (other_tenant(), grace())] {
        assert!(leads_to(&store, &tenant, &id).await.is_empty());
        assert!(store.tenant_links(&tenant, Some(&id), None, 10).await.unwrap().is_empty());
    }
    assert!(is_not_found(&end(other_tenant()).await), "it has ended");
    end(tenant()).await.unwrap();
    let unknown = Write::UnlinkTenant { id: TenantLinkId::generate() };
    assert!(is_not_found(&try_change(&store, vec![unknown]).await));

    let (one, other) = ((&tenant(), &ada()), (&other_tenant(), &grace()));
    assert!(store.were_linked(one, other).await.unwrap() && store.were_linked(other, one).await.unwrap());
    assert!(!store.were_linked(one, (&other_tenant(), &ada())).await.unwrap());
    // A new one takes its place.
    let again = TenantLink { id: TenantLinkId::generate(), ..link };
    put(&store, &again).await;
    put(&store, &again.other_half("password")).await;
    assert_eq!(leads_to(&store, &tenant(), &ada()).await, [(other_tenant(), grace())]);
}

/// A link made anew takes the place of the one before, and only then holds.
pub async fn a_new_link_takes_the_place_of_the_old(store: Shared) {
    linked(&store).await;
    let again = half();
    put(&store, &again).await;
    assert!(leads_to(&store, &tenant(), &ada()).await.is_empty(), "two halves of two links are none");
    put(&store, &again.other_half("password")).await;
    let found = store.linked_users(&tenant(), &ada()).await.unwrap();
    assert_eq!(found.iter().map(|user| user.link).collect::<Vec<_>>(), [again.id]);
}

/// What one proof made ends with it; what another made stays.
pub async fn links_end_with_their_proof(store: Shared) {
    let link = linked(&store).await;
    let end = |principal: PrincipalId, proof: &str| {
        vec![Write::UnlinkTenants { principal, proof: proof.to_owned() }]
    };
    change(&store, end(ada(), "company")).await;
    change(&store, end(principal("user:eve"), "password")).await;
    store.change(change_of(other_tenant(), end(grace(), "password"))).await.unwrap();
    assert_eq!(leads_to(&store, &tenant(), &ada()).await.len(), 1, "none of these was the proof");
    let session = administration_session(&tenant());
    let before = store.session_events(session, 0, 100).await.unwrap().len();
    change(&store, end(ada(), "password")).await;
    let told = store.session_events(session, 0, 100).await.unwrap().split_off(before);
    assert_eq!(told.len(), 2, "the change, and the link that ended with it");
    assert_eq!(told[1].draft.data.to_value(), link.unlinked(&tenant()));
    assert!(leads_to(&store, &other_tenant(), &grace()).await.is_empty());
    assert_eq!(store.tenant_link(&other_tenant(), link.id).await.unwrap(), None);
}

/// In order of id, in parts, of one user or all, and only this tenant's.
pub async fn links_are_listed_by_user_and_page(store: Shared) {
    two(&store).await;
    let mut made = Vec::new();
    for id in [ada(), principal("user:eve")] {
        let link = TenantLink { principal: id, ..half() };
        put(&store, &link).await;
        put(&store, &link.other_half("password")).await;
        made.push(link);
    }
    made.sort_by_key(|link| link.id.to_string());
    assert_eq!(store.tenant_links(&tenant(), None, None, 10).await.unwrap(), made);
    assert_eq!(store.tenant_links(&tenant(), None, None, 1).await.unwrap(), made[..1]);
    assert_eq!(store.tenant_links(&tenant(), None, Some(made[0].id), 10).await.unwrap(), made[1..]);
    let mine = store.tenant_links(&tenant(), Some(&made[1].principal), None, 10).await.unwrap();
    assert_eq!(mine, made[1..]);
    assert_eq!(store.tenant_links(&other_tenant(), None, None, 10).await.unwrap().len(), 2);
    assert!(store.tenant_links(&"third".parse().unwrap(), None, None, 10).await.unwrap().is_empty());
}

/// A person at a provider is found in every tenant that knows them, and by exactly who they are.
pub async fn a_person_elsewhere_is_found_in_all_tenants(store: Shared) {
    two(&store).await;
    let link = |id: PrincipalId| {
        vec![Write::LinkIdentity { issuer: "https://a".into(), sub: "1".into(), principal: id }]
    };
    change(&store, link(ada())).await;
    store.change(change_of(other_tenant(), link(grace()))).await.unwrap();
    let found = async |issuer, sub| {
        let found = store.users_of_identity(issuer, sub).await.unwrap();
        found.into_iter().map(|user| (user.tenant, user.id)).collect::<Vec<_>>()
    };
    assert_eq!(found("https://a", "1").await, [(tenant(), ada()), (other_tenant(), grace())]);
    assert!(found("https://a", "2").await.is_empty());
    assert!(found("https://b", "1").await.is_empty());
}

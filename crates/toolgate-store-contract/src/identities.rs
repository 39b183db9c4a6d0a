//! How people prove who they are: by a password, or by who they are elsewhere.

use toolgate_core::administration::Write;

use crate::given::*;

fn password(hash: Option<&str>) -> Write {
    Write::SetPassword { principal: ada(), hash: hash.map(str::to_owned) }
}

fn link(issuer: &str, sub: &str, id: &str) -> Write {
    Write::LinkIdentity { issuer: issuer.into(), sub: sub.into(), principal: principal(id) }
}

/// One hash for each principal, the last one set, until it is taken away.
pub async fn passwords_are_set_replaced_and_taken_away(store: Shared) {
    assert!(is_not_found(&try_change(&store, vec![password(Some("a"))]).await));
    assert!(is_not_found(&try_change(&store, vec![password(None)]).await));
    principals(&store, &[&ada(), &principal("user:grace")]).await;
    let stored = async || store.password(&tenant(), &ada()).await.unwrap();
    assert_eq!(stored().await, None);
    change(&store, vec![password(None)]).await;
    for hash in ["$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA", "second"] {
        change(&store, vec![password(Some(hash))]).await;
        assert_eq!(stored().await.as_deref(), Some(hash));
    }
    // Whoever is replaced keeps the password.
    principals(&store, &[&ada()]).await;
    assert_eq!(stored().await.as_deref(), Some("second"));
    assert_eq!(store.password(&tenant(), &principal("user:grace")).await.unwrap(), None);
    assert_eq!(store.password(&other_tenant(), &ada()).await.unwrap(), None);
    change(&store, vec![password(None)]).await;
    assert_eq!(stored().await, None);
}

/// A pair of provider and person is taken once in a tenant; a principal may have many.
pub async fn an_identity_is_one_principal_in_each_tenant(store: Shared) {
    let grace = principal("user:grace");
    principals(&store, &[&ada(), &grace]).await;
    make_other_tenant(&store, vec![put_principal(&person(other_tenant(), &grace))]).await;
    let found = async |tenant, issuer: &str, sub: &str| {
        let found = store.principal_by_identity(&tenant, issuer, sub).await.unwrap();
        found.map(|principal| (principal.tenant, principal.id))
    };
    assert_eq!(found(tenant(), "https://a", "1").await, None);
    change(&store, vec![link("https://a", "1", "user:ada"), link("https://b", "1", "user:ada")]).await;
    change(&store, vec![link("https://a", "2", "user:grace")]).await;
    for taken in ["user:ada", "user:grace"] {
        assert!(is_conflict(&try_change(&store, vec![link("https://a", "1", taken)]).await), "{taken}");
    }
    assert!(is_not_found(&try_change(&store, vec![link("https://a", "3", "user:nobody")]).await));
    assert_eq!(found(tenant(), "https://a", "1").await, Some((tenant(), ada())));
    assert_eq!(found(tenant(), "https://b", "1").await, Some((tenant(), ada())));
    assert_eq!(found(tenant(), "https://a", "2").await, Some((tenant(), grace.clone())));
    assert_eq!(found(tenant(), "https://A", "1").await, None);

    assert_eq!(found(other_tenant(), "https://a", "1").await, None);
    let theirs = change_of(other_tenant(), vec![link("https://a", "1", "user:grace")]);
    store.change(theirs).await.unwrap();
    assert_eq!(found(other_tenant(), "https://a", "1").await, Some((other_tenant(), grace)));
    assert_eq!(found(tenant(), "https://a", "1").await, Some((tenant(), ada())));
    let stranger = change_of(other_tenant(), vec![link("https://a", "9", "user:ada")]);
    assert!(is_not_found(&store.change(stranger).await), "a principal of another tenant is not there");
}

/// A password or an identity is a way to sign in; keys are none, and another tenant's ways are its own.
pub async fn anyone_signs_in_once_there_is_a_way(store: Shared) {
    assert!(!store.anyone_signs_in(&tenant()).await.unwrap());
    principals(&store, &[&ada()]).await;
    assert!(!store.anyone_signs_in(&tenant()).await.unwrap());
    change(&store, vec![password(Some("a"))]).await;
    assert!(store.anyone_signs_in(&tenant()).await.unwrap());
    assert!(!store.anyone_signs_in(&other_tenant()).await.unwrap());
    change(&store, vec![password(None)]).await;
    assert!(!store.anyone_signs_in(&tenant()).await.unwrap());
    change(&store, vec![link("https://a", "1", "user:ada")]).await;
    assert!(store.anyone_signs_in(&tenant()).await.unwrap());
}

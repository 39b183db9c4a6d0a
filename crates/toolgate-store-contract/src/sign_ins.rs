//! People signed in with browsers.

use toolgate_core::id::{PrincipalId, SignInId, TenantLinkId};
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::{Principal, SignIn, SwitchedFrom};

use crate::given::*;

fn sign_in(principal: &PrincipalId, hash: u8) -> SignIn {
    let at = now();
    SignIn {
        id: SignInId::generate(),
        hash: [hash; 32],
        tenant: tenant(),
        principal: principal.clone(),
        method: "password".into(),
        user_agent: "naïve 漢字 🦀".into(),
        created_at: at,
        last_seen_at: at,
        expires_at: seconds_after(at, 60),
        switched: None,
    }
}

/// A person's sign-ins, written: one for each hash.
async fn signed_in(store: &Shared, id: &PrincipalId, hashes: impl IntoIterator<Item = u8>) -> Vec<SignIn> {
    principals(store, &[id]).await;
    let mut made = Vec::new();
    for hash in hashes {
        let sign_in = sign_in(id, hash);
        store.put_sign_in(sign_in.clone()).await.unwrap();
        made.push(sign_in);
    }
    made
}

async fn ids(store: &Shared, id: &PrincipalId) -> Vec<SignInId> {
    store.sign_ins(&tenant(), id).await.unwrap().into_iter().map(|sign_in| sign_in.id).collect()
}

/// Its hash leads to the sign-in and to who signed in, as they stand now; whether its time is over is not asked.
pub async fn a_sign_in_leads_to_its_principal(store: Shared) {
    let made = signed_in(&store, &ada(), [1]).await.remove(0);
    let (found, person) = store.sign_in_by_hash(&made.hash).await.unwrap().unwrap();
    assert_eq!((found, &person.id, &person.tenant), (made.clone(), &ada(), &tenant()));
    let changed = Principal { disabled: true, ..person };
    change(&store, vec![put_principal(&changed)]).await;
    assert_eq!(store.sign_in_by_hash(&made.hash).await.unwrap(), Some((made, changed)));
    assert_eq!(store.sign_in_by_hash(&[2; 32]).await.unwrap(), None);

    let over = SignIn { expires_at: toolgate_core::Timestamp::from_micros(1), ..sign_in(&ada(), 3) };
    store.put_sign_in(over.clone()).await.unwrap();
    assert_eq!(store.sign_in_by_hash(&over.hash).await.unwrap().unwrap().0, over);
}

/// An id or a hash that is taken is refused, and so is a sign-in of nobody.
pub async fn a_sign_in_is_made_once_and_for_someone(store: Shared) {
    let made = signed_in(&store, &ada(), [1]).await.remove(0);
    assert!(is_refused(&store.put_sign_in(sign_in(&ada(), 1)).await));
    assert!(is_refused(&store.put_sign_in(SignIn { id: made.id, ..sign_in(&ada(), 2) }).await));
    assert!(is_refused(&store.put_sign_in(sign_in(&principal("user:nobody"), 3)).await));
    make_other_tenant(&store, vec![]).await;
    let elsewhere = SignIn { tenant: other_tenant(), ..sign_in(&ada(), 4) };
    assert!(is_refused(&store.put_sign_in(elsewhere).await), "Ada is not of that tenant");
    assert_eq!(store.sign_ins(&tenant(), &ada()).await.unwrap(), [made]);
}

/// A person's own, newest first, and nobody else's: of this tenant or another.
pub async fn sign_ins_are_listed_newest_first(store: Shared) {
    let grace = principal("user:grace");
    let mut mine = signed_in(&store, &ada(), 1..=4).await;
    let theirs = signed_in(&store, &grace, 5..=6).await;
    make_other_tenant(&store, vec![put_principal(&person(other_tenant(), &ada()))]).await;
    let elsewhere = SignIn { tenant: other_tenant(), ..sign_in(&ada(), 7) };
    store.put_sign_in(elsewhere.clone()).await.unwrap();
    mine.reverse();
    assert_eq!(store.sign_ins(&tenant(), &ada()).await.unwrap(), mine);
    assert_eq!(ids(&store, &grace).await, [theirs[1].id, theirs[0].id]);
    assert_eq!(store.sign_ins(&other_tenant(), &ada()).await.unwrap(), std::slice::from_ref(&elsewhere));
    assert!(store.sign_ins(&other_tenant(), &grace).await.unwrap().is_empty());
    let (_, person) = store.sign_in_by_hash(&elsewhere.hash).await.unwrap().unwrap();
    assert_eq!(person.tenant, other_tenant());
}

/// A use moves on when it was last seen and when it ends; one that is noted late moves neither back.
pub async fn a_use_never_moves_a_sign_in_back(store: Shared) {
    let made = signed_in(&store, &ada(), [1, 2]).await;
    let stored = async |number: usize| store.sign_in_by_hash(&made[number].hash).await.unwrap().unwrap().0;
    let (early, late) = (now(), now());
    store.touch_sign_in(made[0].id, late, seconds_after(late, 60)).await.unwrap();
    let touched = SignIn { last_seen_at: late, expires_at: seconds_after(late, 60), ..made[0].clone() };
    assert_eq!(stored(0).await, touched);
    store.touch_sign_in(made[0].id, early, seconds_after(early, 60)).await.unwrap();
    assert_eq!(stored(0).await, touched);
    assert_eq!(stored(1).await, made[1]);
    store.touch_sign_in(SignInId::generate(), late, late).await.unwrap();

    // A use that is noted after the end brings nothing back.
    store.end_sign_ins(&tenant(), &ada(), EndSignIns::One(made[0].id)).await.unwrap();
    store.touch_sign_in(made[0].id, late, seconds_after(late, 60)).await.unwrap();
    assert_eq!(store.sign_in_by_hash(&made[0].hash).await.unwrap(), None);
}

/// Exactly those that are named end, and only the person's own in this tenant.
pub async fn sign_ins_end_one_or_all_but_one_or_all(store: Shared) {
    let grace = principal("user:grace");
    let mine = signed_in(&store, &ada(), 1..=4).await;
    let theirs = signed_in(&store, &grace, 5..=6).await;
    let end = async |id: &PrincipalId, which| store.end_sign_ins(&tenant(), id, which).await.unwrap();
    end(&ada(), EndSignIns::One(mine[1].id)).await;
    assert_eq!(ids(&store, &ada()).await, [mine[3].id, mine[2].id, mine[0].id]);
    assert_eq!(store.sign_in_by_hash(&mine[1].hash).await.unwrap(), None);
    end(&ada(), EndSignIns::One(theirs[0].id)).await;
    end(&ada(), EndSignIns::AllBut(mine[2].id)).await;
    assert_eq!(ids(&store, &ada()).await, [mine[2].id]);
    store.end_sign_ins(&other_tenant(), &ada(), EndSignIns::All).await.unwrap();
    assert_eq!(ids(&store, &ada()).await, [mine[2].id]);
    end(&ada(), EndSignIns::All).await;
    assert!(ids(&store, &ada()).await.is_empty());
    assert_eq!(ids(&store, &grace).await, [theirs[1].id, theirs[0].id]);
    end(&grace, EndSignIns::AllBut(SignInId::generate())).await;
    assert!(ids(&store, &grace).await.is_empty());
}

/// Those that end at this moment or before it are gone; the others stay.
pub async fn sign_ins_whose_time_is_over_are_forgotten(store: Shared) {
    principals(&store, &[&ada()]).await;
    let end = now();
    for (hash, expires_at) in [(1, now()), (2, end), (3, seconds_after(end, 60))] {
        store.put_sign_in(SignIn { expires_at, ..sign_in(&ada(), hash) }).await.unwrap();
    }
    store.forget_sign_ins(end).await.unwrap();
    let left: Vec<u8> =
        store.sign_ins(&tenant(), &ada()).await.unwrap().iter().map(|sign_in| sign_in.hash[0]).collect();
    assert_eq!(left, [3, 1]);
    store.forget_sign_ins(seconds_after(end, 60)).await.unwrap();
    assert!(ids(&store, &ada()).await.is_empty());
}

/// Whoever switched to another tenant is listed, and ends, there and where they proved who they are; nowhere else.
pub async fn who_switched_is_found_where_they_came_from(store: Shared) {
    let grace = principal("user:grace");
    let mine = signed_in(&store, &ada(), [1]).await.remove(0);
    make_other_tenant(&store, vec![put_principal(&person(other_tenant(), &grace))]).await;
    let from = SwitchedFrom { tenant: tenant(), principal: ada(), link: TenantLinkId::generate() };
    let away = |hash| SignIn {
        tenant: other_tenant(),
        principal: grace.clone(),
        switched: Some(from.clone()),
        ..sign_in(&ada(), hash)
    };
    let switched = away(2);
    store.put_sign_in(switched.clone()).await.unwrap();
    let (found, person) = store.sign_in_by_hash(&switched.hash).await.unwrap().unwrap();
    assert_eq!((&found, &person.tenant, &person.id), (&switched, &other_tenant(), &grace));
    assert_eq!(ids(&store, &ada()).await, [switched.id, mine.id]);
    let there = store.sign_ins(&other_tenant(), &grace).await.unwrap();
    assert_eq!(there, std::slice::from_ref(&switched));
    assert!(store.sign_ins(&other_tenant(), &ada()).await.unwrap().is_empty());
    assert!(ids(&store, &grace).await.is_empty());

    store.end_sign_ins(&tenant(), &ada(), EndSignIns::AllBut(mine.id)).await.unwrap();
    assert_eq!(store.sign_in_by_hash(&switched.hash).await.unwrap(), None);
    let again = away(3);
    store.put_sign_in(again.clone()).await.unwrap();
    store.end_sign_ins(&other_tenant(), &grace, EndSignIns::One(again.id)).await.unwrap();
    assert_eq!(ids(&store, &ada()).await, [mine.id]);
}

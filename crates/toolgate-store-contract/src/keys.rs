//! Keys: made once, ended, never removed.

use futures::future::join_all;
use toolgate_core::administration::Write;
use toolgate_core::id::{ApiKeyId, PrincipalId};
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::{AccessRules, Timestamp};

use crate::given::*;

fn key(hash: u8) -> ApiKey {
    ApiKey {
        id: ApiKeyId::generate(),
        tenant: tenant(),
        principal: ada(),
        subject: None,
        hash: [hash; 32],
        label: "Ada's laptop".into(),
        scopes: Scopes::default(),
        created_by: ada(),
        created_at: now(),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        replaces: None,
    }
}

fn put(key: &ApiKey) -> Write {
    Write::PutKey(Box::new(key.clone()))
}

/// A key of Ada's, written.
async fn made(store: &Shared, hash: u8) -> ApiKey {
    let key = key(hash);
    change(store, vec![put_principal(&person(tenant(), &ada())), put(&key)]).await;
    key
}

async fn stored_key(store: &Shared, id: ApiKeyId) -> ApiKey {
    store.key(&tenant(), id).await.unwrap().expect("the key is there")
}

/// Every field comes back as it went in, the optional ones present or absent.
pub async fn a_key_is_read_back_as_made(store: Shared) {
    assert!(!store.any_key().await.unwrap());
    let agent = principal("agent:helper");
    principals(&store, &[&ada(), &agent]).await;
    let scopes = ["tool:core__*", "effect:read", "rule:a.b.read", "approve", "manage:keys"];
    let full = ApiKey {
        principal: agent,
        subject: Some(ada()),
        label: "naïve 漢字 🦀 '\"".into(),
        scopes: Scopes::new(scopes.iter().map(|scope| scope.parse().unwrap())),
        created_by: principal("user:root"),
        expires_at: Some(seconds_after(now(), 60)),
        revoked_at: Some(now()),
        last_used_at: Some(now()),
        ..key(1)
    };
    for key in [full, key(2)] {
        change(&store, vec![put(&key)]).await;
        assert_eq!(store.key(&tenant(), key.id).await.unwrap(), Some(key.clone()));
        assert_eq!(store.key_by_hash(&key.hash).await.unwrap().unwrap().key, key);
    }
    assert!(store.any_key().await.unwrap());
    assert_eq!(store.key(&tenant(), ApiKeyId::generate()).await.unwrap(), None);
}

/// A key's hash leads to its principal as it stands now, also when it gets in no more.
pub async fn a_key_speaks_for_its_principal(store: Shared) {
    let key = made(&store, 7).await;
    let first = store.key_by_hash(&key.hash).await.unwrap().unwrap();
    assert_eq!((&first.key, &first.principal.id, &first.subject), (&key, &ada(), &None));
    let rules = AccessRules::new(["a.b.read".to_owned()]);
    let changed = Principal { rules, disabled: true, ..first.principal };
    change(&store, vec![put_principal(&changed)]).await;
    assert_eq!(store.key_by_hash(&key.hash).await.unwrap().unwrap().principal, changed);
    assert_eq!(store.key_by_hash(&[8; 32]).await.unwrap(), None);
}

/// With a key that names a person come both, each as they stand now.
pub async fn a_keys_subject_comes_along(store: Shared) {
    let agent = person(tenant(), &principal("agent:helper"));
    let subject = Principal { title: "Ada".into(), ..person(tenant(), &ada()) };
    let key = ApiKey { principal: agent.id.clone(), subject: Some(ada()), ..key(1) };
    change(&store, vec![put_principal(&agent), put_principal(&subject), put(&key)]).await;
    let holder = store.key_by_hash(&key.hash).await.unwrap().unwrap();
    assert_eq!((holder.principal, holder.subject), (agent, Some(subject.clone())));
    let disabled = Principal { disabled: true, ..subject };
    change(&store, vec![put_principal(&disabled)]).await;
    assert_eq!(store.key_by_hash(&key.hash).await.unwrap().unwrap().subject, Some(disabled));
}

/// A key of nobody, or for nobody, answers "not found"; a hash or an id that is taken is refused.
pub async fn a_key_needs_a_principal_and_is_made_once(store: Shared) {
    assert!(is_not_found(&try_change(&store, vec![put(&key(1))]).await));
    assert!(!store.any_key().await.unwrap());
    let first = made(&store, 1).await;
    let for_nobody = ApiKey { subject: Some(principal("user:nobody")), ..key(2) };
    assert!(is_not_found(&try_change(&store, vec![put(&for_nobody)]).await));
    assert!(is_refused(&try_change(&store, vec![put(&key(1))]).await));
    assert!(is_refused(&try_change(&store, vec![put(&ApiKey { id: first.id, ..key(2) })]).await));
    assert!(is_refused(&try_change(&store, vec![put(&ApiKey { tenant: other_tenant(), ..key(2) })]).await));
    assert_eq!(store.key_by_hash(&[2; 32]).await.unwrap(), None);
    assert_eq!(store.keys(&tenant(), None, None, 10).await.unwrap(), [first]);
}

/// Ended now it is revoked; ended later it expires then. Neither is ever put off, and the key stays on the list.
pub async fn an_ended_key_ends_at_once_or_later_and_never_later_again(store: Shared) {
    let key = made(&store, 1).await;
    let end = async |id: ApiKeyId, at: Timestamp| change(&store, vec![Write::EndKey { id, at }]).await;
    let soon = seconds_after(now(), 1_000);
    end(key.id, seconds_after(soon, 1_000)).await;
    end(key.id, soon).await;
    end(key.id, seconds_after(soon, 500)).await;
    let expiring = ApiKey { expires_at: Some(soon), ..key.clone() };
    assert_eq!(stored_key(&store, key.id).await, expiring);
    assert!(expiring.works_at(now()) && !expiring.works_at(soon));

    let mut revoke = change_of(tenant(), vec![]);
    revoke.writes.push(Write::EndKey { id: key.id, at: revoke.at });
    let at = revoke.at;
    store.change(revoke).await.unwrap();
    let revoked = ApiKey { revoked_at: Some(at), ..expiring };
    assert_eq!(stored_key(&store, key.id).await, revoked);
    assert!(!revoked.works_at(at));
    end(key.id, Timestamp::from_micros(0)).await;
    assert_eq!(stored_key(&store, key.id).await, revoked, "it was revoked once");
    assert_eq!(store.key_by_hash(&key.hash).await.unwrap().unwrap().key, revoked);
    assert_eq!(store.keys(&tenant(), None, None, 10).await.unwrap(), [revoked]);
    let unknown = Write::EndKey { id: ApiKeyId::generate(), at: now() };
    assert!(is_not_found(&try_change(&store, vec![unknown]).await));
}

/// A rotated key has one heir. Ended as a line, a key takes all that came from it along, and nothing else.
pub async fn a_line_of_keys_ends_together(store: Shared) {
    let first = made(&store, 1).await;
    let heir = |of: &ApiKey, hash| ApiKey { replaces: Some(of.id), ..key(hash) };
    let second = heir(&first, 2);
    let third = heir(&second, 3);
    let alone = key(4);
    change(&store, vec![put(&second), put(&third), put(&alone)]).await;
    assert_eq!(stored_key(&store, third.id).await, third);
    assert_eq!(store.key_by_hash(&second.hash).await.unwrap().unwrap().key, second);
    assert!(is_conflict(&try_change(&store, vec![put(&heir(&first, 5))]).await), "it has an heir already");
    let of_nobody = ApiKey { replaces: Some(ApiKeyId::generate()), ..key(6) };
    assert!(is_not_found(&try_change(&store, vec![put(&of_nobody)]).await));

    let end = async |id: ApiKeyId| {
        let change = change_of(tenant(), vec![Write::EndKeyLine { id }]);
        let at = change.at;
        store.change(change).await.unwrap();
        at
    };
    let works = async |key: &ApiKey| stored_key(&store, key.id).await.revoked_at.is_none();
    let at = end(second.id).await;
    assert_eq!(stored_key(&store, third.id).await, ApiKey { revoked_at: Some(at), ..third.clone() });
    assert_eq!(stored_key(&store, second.id).await.revoked_at, Some(at));
    assert!(works(&first).await && works(&alone).await);
    end(first.id).await;
    assert!(!works(&first).await && works(&alone).await);
    assert_eq!(stored_key(&store, third.id).await.revoked_at, Some(at), "it was revoked once");
    let unknown = Write::EndKeyLine { id: ApiKeyId::generate() };
    assert!(is_not_found(&try_change(&store, vec![unknown]).await));

    make_other_tenant(&store, vec![]).await;
    let end = Write::EndKeyLine { id: alone.id };
    assert!(is_not_found(&store.change(change_of(other_tenant(), vec![end])).await));
    assert!(works(&alone).await, "a tenant's wall");
}

/// The latest use is kept, whatever order uses are noted in, together or at once; unknown keys are passed over.
pub async fn a_keys_last_use_never_moves_back(store: Shared) {
    let (first, second) = (made(&store, 1).await, made(&store, 2).await);
    let (early, late) = (now(), now());
    let uses = [(first.id, late), (ApiKeyId::generate(), late), (first.id, early), (second.id, early)];
    store.touch_keys(&uses).await.unwrap();
    store.touch_keys(&[(first.id, early)]).await.unwrap();
    store.touch_keys(&[]).await.unwrap();
    let last_use = async |key: &ApiKey| stored_key(&store, key.id).await.last_used_at;
    assert_eq!(last_use(&first).await, Some(late));
    assert_eq!(last_use(&second).await, Some(early));

    let times: Vec<Timestamp> = (0..24).map(|_| now()).collect();
    let tasks = times.iter().rev().copied().enumerate().map(|(number, at)| {
        let store = Shared::clone(&store);
        let mut uses = vec![(first.id, at), (second.id, at)];
        if number % 2 == 0 {
            uses.reverse();
        }
        let mut ends: Vec<Write> =
            uses.iter().map(|(id, _)| Write::EndKey { id: *id, at: seconds_after(at, 9_000) }).collect();
        ends.truncate(if number % 4 < 2 { 2 } else { 0 });
        tokio::spawn(async move {
            let (touched, ended) = tokio::join!(store.touch_keys(&uses), try_change(&store, ends));
            touched.unwrap();
            ended.unwrap();
        })
    });
    join_all(tasks).await.into_iter().for_each(|task| task.unwrap());
    for key in [first, second] {
        assert_eq!(last_use(&key).await, times.last().copied());
        let kept = ApiKey { last_used_at: None, expires_at: None, ..stored_key(&store, key.id).await };
        assert_eq!(kept, key);
    }
}

/// In order of id, of one principal or of all, after any one, as many as asked for.
pub async fn keys_are_listed_by_principal_and_page(store: Shared) {
    let grace = principal("user:grace");
    principals(&store, &[&ada(), &grace]).await;
    let mut all = Vec::new();
    for hash in 0..7 {
        let principal = if hash % 3 == 0 { grace.clone() } else { ada() };
        all.push(ApiKey { principal, subject: Some(grace.clone()), ..key(hash) });
    }
    change(&store, all.iter().rev().map(put).collect()).await;
    let page = async |principal: Option<&PrincipalId>, after, limit| {
        store.keys(&tenant(), principal, after, limit).await.unwrap()
    };
    assert_eq!(page(None, None, 10).await, all);
    assert_eq!(page(None, None, 3).await, all[..3]);
    assert_eq!(page(None, Some(all[2].id), 3).await, all[3..6]);
    assert!(page(None, Some(all[6].id), 3).await.is_empty());
    let of_grace: Vec<ApiKey> = all.iter().filter(|key| key.principal == grace).cloned().collect();
    assert_eq!(of_grace.len(), 3);
    assert_eq!(page(Some(&grace), None, 10).await, of_grace);
    assert_eq!(page(Some(&grace), Some(all[0].id), 1).await, of_grace[1..2]);
    assert!(page(Some(&principal("user:nobody")), None, 10).await.is_empty());
}

/// A tenant's wall: the right id elsewhere is not there, to read or to end; its holder is its own tenant's.
pub async fn another_tenants_keys_are_not_seen(store: Shared) {
    let mine = made(&store, 1).await;
    let theirs = ApiKey { tenant: other_tenant(), ..key(2) };
    let person = Principal { title: "Theirs".into(), ..person(other_tenant(), &ada()) };
    make_other_tenant(&store, vec![put_principal(&person), put(&theirs)]).await;

    assert_eq!(store.key(&other_tenant(), mine.id).await.unwrap(), None);
    assert_eq!(store.keys(&other_tenant(), None, None, 10).await.unwrap(), std::slice::from_ref(&theirs));
    assert_eq!(store.keys(&tenant(), Some(&ada()), None, 10).await.unwrap(), std::slice::from_ref(&mine));
    let end = Write::EndKey { id: mine.id, at: Timestamp::from_micros(0) };
    assert!(is_not_found(&store.change(change_of(other_tenant(), vec![end])).await));
    assert_eq!(stored_key(&store, mine.id).await, mine);
    let holder = store.key_by_hash(&theirs.hash).await.unwrap().unwrap();
    assert_eq!((holder.key, holder.principal), (theirs, person));
    let subject = ApiKey { tenant: other_tenant(), subject: Some(principal("user:grace")), ..key(3) };
    principals(&store, &[&principal("user:grace")]).await;
    let borrowed = store.change(change_of(other_tenant(), vec![put(&subject)])).await;
    assert!(is_not_found(&borrowed), "a subject of another tenant is not there");
}

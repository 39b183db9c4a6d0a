//! What people let applications do, and the tokens that stand for it.

use futures::future::join_all;
use toolgate_core::Timestamp;
use toolgate_core::administration::Write;
use toolgate_core::id::{OauthGrantId, PrincipalId};
use toolgate_core::oauth::{
    OauthClient, OauthClientKind, OauthGrant, OauthRegistration, OauthScope, OauthToken, OauthTokenKind,
};
use toolgate_core::principal::Principal;

use crate::given::*;

const LATER: u64 = 3_600;

fn grant(principal: &PrincipalId, client_id: &str) -> OauthGrant {
    let at = now();
    OauthGrant {
        id: OauthGrantId::generate(),
        tenant: tenant(),
        principal: principal.clone(),
        client_id: client_id.to_owned(),
        client_name: "naïve 漢字 🦀".to_owned(),
        scopes: vec![OauthScope::ToolsRead, OauthScope::Approve],
        resource: "https://gate.example/mcp".to_owned(),
        created_at: at,
        last_used_at: None,
        expires_at: seconds_after(at, LATER),
        revoked_at: None,
    }
}

fn token(grant: &OauthGrant, hash: u8, kind: OauthTokenKind) -> OauthToken {
    OauthToken {
        hash: [hash; 32],
        grant: grant.id,
        kind,
        scopes: grant.scopes.clone(),
        data: (kind == OauthTokenKind::Code).then(|| json(r#"{"challenge":"x"}"#)),
        expires_at: grant.expires_at,
        used_at: None,
    }
}

/// A grant of Ada's, written.
async fn granted(store: &Shared) -> OauthGrant {
    principals(store, &[&ada()]).await;
    let grant = grant(&ada(), "editor");
    change(store, vec![Write::PutOauthGrant(Box::new(grant.clone()))]).await;
    grant
}

/// Its hash leads to the token, its grant and who gave it, as they stand now; whether they still work is not asked.
pub async fn a_token_leads_to_its_grant_and_person(store: Shared) {
    let grant = granted(&store).await;
    for (hash, kind) in [(1, OauthTokenKind::Code), (2, OauthTokenKind::Access), (3, OauthTokenKind::Refresh)]
    {
        let token = token(&grant, hash, kind);
        store.put_oauth_token(token.clone()).await.unwrap();
        let holder = store.oauth_token(&token.hash).await.unwrap().unwrap();
        assert_eq!((holder.token, &holder.grant, &holder.principal.id), (token, &grant, &ada()));
    }
    let disabled = Principal { disabled: true, ..person(tenant(), &ada()) };
    change(&store, vec![put_principal(&disabled)]).await;
    change(&store, vec![Write::RevokeOauthGrant { id: grant.id }]).await;
    let holder = store.oauth_token(&[2; 32]).await.unwrap().unwrap();
    assert!(holder.principal.disabled && holder.grant.revoked_at.is_some());
    assert_eq!(store.oauth_token(&[9; 32]).await.unwrap(), None);
}

/// A hash that is taken is refused, and so is a token of no grant, a grant of nobody and one of another tenant.
pub async fn a_grant_and_its_tokens_are_made_once_and_for_someone(store: Shared) {
    let made = granted(&store).await;
    store.put_oauth_token(token(&made, 1, OauthTokenKind::Access)).await.unwrap();
    assert!(is_refused(&store.put_oauth_token(token(&made, 1, OauthTokenKind::Refresh)).await));
    let unwritten = grant(&ada(), "editor");
    assert!(is_refused(&store.put_oauth_token(token(&unwritten, 2, OauthTokenKind::Access)).await));
    let put = |grant: OauthGrant| vec![Write::PutOauthGrant(Box::new(grant))];
    assert!(is_refused(&try_change(&store, put(made.clone())).await));
    assert!(is_not_found(&try_change(&store, put(grant(&principal("user:nobody"), "editor"))).await));
    let elsewhere = OauthGrant { tenant: other_tenant(), ..grant(&ada(), "editor") };
    assert!(is_refused(&try_change(&store, put(elsewhere)).await));
}

/// A used token, and one that is over, brings no other; what was to take its place is not written.
pub async fn a_token_is_exchanged_once_and_in_its_time(store: Shared) {
    let grant = granted(&store).await;
    store.put_oauth_token(token(&grant, 1, OauthTokenKind::Refresh)).await.unwrap();
    let (at, ends) = (now(), seconds_after(grant.expires_at, LATER));
    let next = |hash| vec![token(&grant, hash, OauthTokenKind::Access)];
    store.exchange_oauth_token(&[1; 32], at, next(2), ends).await.unwrap();
    let used = store.oauth_token(&[1; 32]).await.unwrap().unwrap();
    assert_eq!((used.token.used_at, used.grant.expires_at), (Some(at), ends));
    assert_eq!(store.oauth_token(&[2; 32]).await.unwrap().unwrap().token, next(2)[0]);

    assert!(is_conflict(&store.exchange_oauth_token(&[1; 32], now(), next(3), ends).await));
    assert_eq!(store.oauth_token(&[3; 32]).await.unwrap(), None);
    assert!(is_not_found(&store.exchange_oauth_token(&[9; 32], now(), next(3), ends).await));

    let over = token(&grant, 4, OauthTokenKind::Code);
    store.put_oauth_token(over.clone()).await.unwrap();
    assert!(is_conflict(&store.exchange_oauth_token(&over.hash, over.expires_at, next(3), ends).await));
    // An end that is noted late moves nothing back.
    store.exchange_oauth_token(&over.hash, now(), next(5), at).await.unwrap();
    assert_eq!(store.oauth_token(&over.hash).await.unwrap().unwrap().grant.expires_at, ends);
}

/// However many show one token at once, one gets through.
pub async fn racing_exchanges_have_one_winner(store: Shared) {
    let grant = granted(&store).await;
    for round in 0..4u8 {
        store.put_oauth_token(token(&grant, round, OauthTokenKind::Refresh)).await.unwrap();
        let tasks = (0..12).map(|number| {
            let (store, next) =
                (Shared::clone(&store), token(&grant, 20 * (round + 1) + number, OauthTokenKind::Access));
            let ends = grant.expires_at;
            tokio::spawn(async move {
                store.exchange_oauth_token(&[round; 32], now(), vec![next], ends).await.is_ok()
            })
        });
        let won = join_all(tasks).await.into_iter().filter(|won| *won.as_ref().unwrap()).count();
        assert_eq!(won, 1);
    }
}

/// What was taken back is not exchanged, moves the tenant on, and stays taken back from the first time on.
pub async fn a_grant_that_was_taken_back_is_over(store: Shared) {
    let grant = granted(&store).await;
    store.put_oauth_token(token(&grant, 1, OauthTokenKind::Refresh)).await.unwrap();
    let before = generation(&store, &tenant()).await;
    change(&store, vec![Write::RevokeOauthGrant { id: grant.id }]).await;
    assert_eq!(generation(&store, &tenant()).await, before + 1);
    let revoked = store.oauth_grant(&tenant(), grant.id).await.unwrap().unwrap().revoked_at;
    assert!(revoked.is_some());
    change(&store, vec![Write::RevokeOauthGrant { id: grant.id }]).await;
    assert_eq!(store.oauth_grant(&tenant(), grant.id).await.unwrap().unwrap().revoked_at, revoked);
    let next = vec![token(&grant, 2, OauthTokenKind::Access)];
    assert!(is_conflict(&store.exchange_oauth_token(&[1; 32], now(), next, grant.expires_at).await));
    let unknown = Write::RevokeOauthGrant { id: OauthGrantId::generate() };
    assert!(is_not_found(&try_change(&store, vec![unknown]).await));
    make_other_tenant(&store, vec![]).await;
    let theirs = change_of(other_tenant(), vec![Write::RevokeOauthGrant { id: grant.id }]);
    assert!(is_not_found(&store.change(theirs).await));
    assert_eq!(store.oauth_grant(&other_tenant(), grant.id).await.unwrap(), None);
}

/// All of one application's grants end, and no others.
pub async fn an_applications_grants_end_together(store: Shared) {
    let grace = principal("user:grace");
    principals(&store, &[&ada(), &grace]).await;
    let all = [grant(&ada(), "editor"), grant(&grace, "editor"), grant(&ada(), "other")];
    change(&store, all.iter().map(|grant| Write::PutOauthGrant(Box::new(grant.clone()))).collect()).await;
    change(&store, vec![Write::RevokeOauthGrantsOf { client_id: "editor".into() }]).await;
    change(&store, vec![Write::RevokeOauthGrantsOf { client_id: "nobody".into() }]).await;
    let left = store.oauth_grants(&tenant(), None, now(), None, 10).await.unwrap();
    assert_eq!(left, all[2..]);
}

/// One person's or all, in order, in parts, and only those that work at that moment; never another tenant's.
pub async fn grants_are_listed_by_person_and_page(store: Shared) {
    let grace = principal("user:grace");
    principals(&store, &[&ada(), &grace]).await;
    make_other_tenant(&store, vec![put_principal(&person(other_tenant(), &ada()))]).await;
    let mut made = Vec::new();
    for who in [ada(), grace.clone(), ada(), ada()] {
        made.push(grant(&who, "editor"));
        change(&store, vec![Write::PutOauthGrant(Box::new(made[made.len() - 1].clone()))]).await;
    }
    let elsewhere = OauthGrant { tenant: other_tenant(), ..grant(&ada(), "editor") };
    let put = vec![Write::PutOauthGrant(Box::new(elsewhere.clone()))];
    store.change(change_of(other_tenant(), put)).await.unwrap();
    change(&store, vec![Write::RevokeOauthGrant { id: made[2].id }]).await;

    let list = async |who: Option<&PrincipalId>, at: Timestamp, after, limit| {
        let found = store.oauth_grants(&tenant(), who, at, after, limit).await.unwrap();
        found.into_iter().map(|grant| grant.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, now(), None, 10).await, [made[0].id, made[1].id, made[3].id]);
    assert_eq!(list(Some(&ada()), now(), None, 10).await, [made[0].id, made[3].id]);
    assert_eq!(list(Some(&ada()), now(), Some(made[0].id), 10).await, [made[3].id]);
    assert_eq!(list(None, now(), None, 1).await, [made[0].id]);
    assert!(list(None, made[3].expires_at, None, 10).await.is_empty());
    assert_eq!(store.oauth_grants(&other_tenant(), None, now(), None, 10).await.unwrap(), [elsewhere]);
}

/// A use moves on when a grant was last used; one that is noted late moves nothing back.
pub async fn a_grants_last_use_never_moves_back(store: Shared) {
    let grant = granted(&store).await;
    let (early, late) = (now(), now());
    store.touch_oauth_grants(&[(grant.id, late), (OauthGrantId::generate(), late)]).await.unwrap();
    store.touch_oauth_grants(&[(grant.id, early)]).await.unwrap();
    store.touch_oauth_grants(&[]).await.unwrap();
    let found = store.oauth_grant(&tenant(), grant.id).await.unwrap().unwrap();
    assert_eq!(found, OauthGrant { last_used_at: Some(late), ..grant });
}

/// An application that named itself is read back as it did; there is room for so many and no more.
pub async fn registrations_are_kept_and_bounded(store: Shared) {
    let registration = |id: &str| OauthRegistration {
        client_id: id.to_owned(),
        client: OauthClient {
            name: "Editor 漢字".to_owned(),
            redirect_uris: vec!["http://127.0.0.1/back".to_owned()],
            kind: OauthClientKind::Dynamic,
            secret_hash: None,
            scopes: vec![],
        },
        created_at: now(),
        last_used_at: None,
    };
    let first = registration("one");
    store.put_oauth_registration(first.clone(), 2).await.unwrap();
    assert!(is_refused(&store.put_oauth_registration(registration("one"), 2).await));
    store.put_oauth_registration(registration("two"), 2).await.unwrap();
    assert!(is_conflict(&store.put_oauth_registration(registration("three"), 2).await));
    let at = now();
    store.touch_oauth_registration("one", at).await.unwrap();
    store.touch_oauth_registration("none", at).await.unwrap();
    let touched = OauthRegistration { last_used_at: Some(at), ..first };
    assert_eq!(store.oauth_registration("one").await.unwrap(), Some(touched.clone()));
    assert_eq!(store.oauth_registration("three").await.unwrap(), None);
    store.forget_oauth(Timestamp::from_micros(0), at).await.unwrap();
    assert_eq!(store.oauth_registration("one").await.unwrap(), Some(touched));
    assert_eq!(store.oauth_registration("two").await.unwrap(), None);
}

/// What ended before a moment is forgotten, tokens with their grant; the rest stays.
pub async fn what_ended_long_ago_is_forgotten(store: Shared) {
    let over = granted(&store).await;
    let (lasting, taken) = (grant(&ada(), "editor"), grant(&ada(), "editor"));
    let lasting = OauthGrant { expires_at: seconds_after(over.expires_at, LATER), ..lasting };
    let taken = OauthGrant { expires_at: lasting.expires_at, ..taken };
    for grant in [&lasting, &taken] {
        change(&store, vec![Write::PutOauthGrant(Box::new(grant.clone()))]).await;
    }
    for (hash, grant) in [(1, &over), (2, &lasting), (3, &taken)] {
        store.put_oauth_token(token(grant, hash, OauthTokenKind::Refresh)).await.unwrap();
    }
    let short = OauthToken { expires_at: over.expires_at, ..token(&lasting, 4, OauthTokenKind::Access) };
    store.put_oauth_token(short).await.unwrap();
    change(&store, vec![Write::RevokeOauthGrant { id: taken.id }]).await;
    store.forget_oauth(seconds_after(over.expires_at, 1), now()).await.unwrap();
    for (hash, left) in [(1, false), (2, true), (3, false), (4, false)] {
        assert_eq!(store.oauth_token(&[hash; 32]).await.unwrap().is_some(), left, "{hash}");
    }
    assert_eq!(store.oauth_grant(&tenant(), lasting.id).await.unwrap(), Some(lasting));
    assert_eq!(store.oauth_grant(&tenant(), over.id).await.unwrap(), None);
}

//! Secrets that work once.

use futures::future::join_all;
use toolgate_core::Timestamp;
use toolgate_core::principal::OneTimeToken;

use crate::given::*;

const LATER: u64 = 3_600;

fn token(hash: u8, expires_at: Timestamp) -> OneTimeToken {
    OneTimeToken {
        hash: [hash; 32],
        purpose: "set-up".into(),
        tenant: tenant(),
        principal: None,
        data: json(r#"{ "nonce": "漢字 \u0000" }"#),
        expires_at,
    }
}

async fn take(store: &Shared, hash: u8, purpose: &str, at: Timestamp) -> Option<OneTimeToken> {
    store.take_token(&[hash; 32], purpose, at).await.unwrap()
}

/// It comes back as it was written, to the first who asks, and never again.
pub async fn a_token_works_once(store: Shared) {
    let bare = token(1, seconds_after(now(), LATER));
    // Whom it is for need not exist yet, nor the tenant.
    let full = OneTimeToken { principal: Some(ada()), tenant: other_tenant(), ..token(2, bare.expires_at) };
    for token in [bare, full] {
        store.put_token(token.clone(), now()).await.unwrap();
        assert!(is_refused(&store.put_token(token.clone(), now()).await), "the hash is taken");
        assert_eq!(take(&store, token.hash[0], "set-up", now()).await, Some(token.clone()));
        assert_eq!(take(&store, token.hash[0], "set-up", now()).await, None);
    }
    assert_eq!(take(&store, 9, "set-up", now()).await, None);
}

/// Who asks for another purpose, or too late, gets none; the first spoils nothing.
pub async fn a_token_works_for_its_purpose_and_in_its_time(store: Shared) {
    let end = seconds_after(now(), LATER);
    for hash in [1, 2] {
        store.put_token(token(hash, end), now()).await.unwrap();
    }
    for purpose in ["", "set-up ", "SET-UP", "invitation"] {
        assert_eq!(take(&store, 1, purpose, now()).await, None, "{purpose:?}");
    }
    let last_moment = Timestamp::from_micros(end.as_micros() - 1);
    assert_eq!(take(&store, 2, "set-up", end).await, None);
    assert_eq!(take(&store, 1, "set-up", last_moment).await, Some(token(1, end)));
}

/// However many ask at once, one gets it.
pub async fn racing_takers_have_one_winner(store: Shared) {
    for hash in 0..8 {
        store.put_token(token(hash, seconds_after(now(), LATER)), now()).await.unwrap();
        let tasks = (0..12).map(|_| {
            let store = Shared::clone(&store);
            tokio::spawn(async move { take(&store, hash, "set-up", now()).await })
        });
        let taken = join_all(tasks).await.into_iter().filter_map(Result::unwrap).count();
        assert_eq!(taken, 1);
    }
}

/// Those whose time is over are forgotten when another is written; the others stay.
pub async fn old_tokens_are_forgotten(store: Shared) {
    let (first, second) = (now(), now());
    store.put_token(token(1, first), Timestamp::from_micros(0)).await.unwrap();
    store.put_token(token(2, second), Timestamp::from_micros(0)).await.unwrap();
    store.put_token(token(3, seconds_after(second, LATER)), first).await.unwrap();
    // As if no time had passed: what is still there answers.
    let before = Timestamp::from_micros(0);
    assert_eq!(take(&store, 1, "set-up", before).await, None);
    assert_eq!(take(&store, 2, "set-up", before).await, Some(token(2, second)));
    assert!(take(&store, 3, "set-up", second).await.is_some());
}

/// All of one principal's for one purpose work no more; all others do.
pub async fn voided_tokens_work_no_more(store: Shared) {
    let end = seconds_after(now(), LATER);
    let of = |hash, principal: Option<&str>, purpose: &str| OneTimeToken {
        principal: principal.map(crate::given::principal),
        purpose: purpose.to_owned(),
        ..token(hash, end)
    };
    let tokens = [
        of(1, Some("user:ada"), "invite"),
        of(2, Some("user:ada"), "invite"),
        of(3, Some("user:ada"), "set-up"),
        of(4, Some("user:grace"), "invite"),
        of(5, None, "invite"),
        OneTimeToken { tenant: other_tenant(), ..of(6, Some("user:ada"), "invite") },
    ];
    for token in &tokens {
        store.put_token(token.clone(), now()).await.unwrap();
    }
    store.void_tokens(&tenant(), &ada(), "invite").await.unwrap();
    store.void_tokens(&tenant(), &ada(), "invite").await.unwrap();
    for token in tokens {
        let left = token.hash[0] > 2;
        assert_eq!(take(&store, token.hash[0], &token.purpose, now()).await, left.then_some(token));
    }
}

//! Whoever tries too often has to wait, and nobody else.

use std::time::Duration;

use super::gate;
use crate::browser::{Browser, PASSWORD};
use crate::gate::{ADMIN, TestGate};

#[tokio::test]
async fn guessing_is_slowed_down_for_one_login_and_not_for_others() {
    let gate = gate().await;
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(Browser::new(&gate).sign_in("ada", "wrong horse battery staple").await.status);
    }
    assert_eq!(statuses, [vec![401; 10], vec![429; 2]].concat());
    let refused = Browser::new(&gate).sign_in("ada", PASSWORD).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "too_many_attempts"),
        "not even the right one"
    );
    let seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=31).contains(&seconds), "{seconds}");
    assert_eq!(Browser::new(&gate).sign_in("bob", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn guesses_at_once_are_counted_before_they_fail() {
    let gate = gate().await;
    let guesses = (0..40)
        .map(|_| async { Browser::new(&gate).sign_in("ada", "wrong horse battery staple").await.status });
    let statuses = futures::future::join_all(guesses).await;
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 10, "{statuses:?}");
}

#[tokio::test]
async fn an_address_that_guesses_at_everyone_is_slowed_down() {
    let gate = gate().await;
    let guesses = (0..60).map(|number| {
        let gate = &gate;
        async move { Browser::new(gate).sign_in(&format!("user{number}"), "wrong horse battery").await.status }
    });
    let statuses = futures::future::join_all(guesses).await;
    let refused = statuses.iter().filter(|status| **status == 429).count();
    // A slow machine gives a place or two back in the meantime.
    assert!((5..50).contains(&refused), "{statuses:?}");
}

#[tokio::test]
async fn wrong_keys_are_slowed_down_and_known_ones_are_not() {
    let gate = gate().await;
    assert_eq!(gate.get("/api/v1/me").await.0, 200);
    let mut refused = None;
    for number in 0..200 {
        let key = format!("wrong-key-{number:060}");
        let (status, body) = gate.send(Some(&key), "GET", "/api/v1/me", None, &[]).await;
        if status == 429 {
            refused = Some((number, body));
            break;
        }
        assert_eq!(status, 401);
    }
    let (number, body) = refused.expect("wrong keys are refused in the end");
    assert!(number >= 50, "{number}");
    assert_eq!(body["error"]["code"], "too_many_attempts");
    assert_eq!(gate.get("/api/v1/me").await.0, 200, "a key that has worked here still does");
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_address_counts_for_itself() {
    let settings = toolgate_server::ServerSettings {
        trusted_proxies: vec!["127.0.0.1".parse().unwrap()],
        public_url: Some("https://tools.example.com".into()),
        ..Default::default()
    };
    let gate = TestGate::with(settings, crate::gate::PERMISSIVE).await;
    let (_, invitation) =
        gate.send(Some(ADMIN), "POST", "/api/v1/principals/user:other/invite", None, &[]).await;
    assert!(invitation["url"].as_str().unwrap().starts_with("https://tools.example.com/invite?token="));
    let wrong_keys = async |from: &str| {
        let mut last = 0;
        for number in 0..70 {
            let key = format!("wrong-key-{from}-{number:060}");
            last = gate.send(Some(&key), "GET", "/api/v1/me", None, &[("x-forwarded-for", from)]).await.0;
            if last == 429 {
                break;
            }
        }
        last
    };
    assert_eq!(wrong_keys("203.0.113.1, 198.51.100.7").await, 429);
    // What stands before the last hop is the client's own invention.
    assert_eq!(
        gate.send(
            Some("wrong"),
            "GET",
            "/api/v1/me",
            None,
            &[("x-forwarded-for", "203.0.113.2, 198.51.100.7")]
        )
        .await
        .0,
        429
    );
    assert_eq!(
        gate.send(Some("wrong"), "GET", "/api/v1/me", None, &[("x-forwarded-for", "198.51.100.8")]).await.0,
        401
    );
}

#[tokio::test]
async fn one_address_does_not_take_all_connections() {
    let settings = toolgate_server::ServerSettings { max_connections_per_peer: 4, ..Default::default() };
    let gate = TestGate::with(settings, crate::gate::PERMISSIVE).await;
    let address = gate.url.strip_prefix("http://").unwrap().to_owned();
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        open.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let refused = gate.client.get(format!("{}/healthz", gate.url)).send().await;
    assert!(refused.is_err(), "the fifth connection is closed");
    drop(open);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(gate.client.get(format!("{}/healthz", gate.url)).send().await.unwrap().status(), 200);
}

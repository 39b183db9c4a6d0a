//! What a server's process finds, may take, and leaves behind.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::contract::Effect;
use toolgate_core::port::connection::Presented;
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::upstream::{Transport, UpstreamAuth};
use toolgate_core::{CallError, ErrorCode};
use toolgate_upstream::Settings;

use crate::plane::{Given, Plane, hostile, name, secret, stdio, tenant};

async fn who(plane: &Plane) -> Value {
    plane.accept(Effect::Read).await;
    let value = plane.value("act", json!({ "do": "who" })).await;
    serde_json::from_str(value["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn alive(pid: &Value) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
        && std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

async fn gone(pid: &Value) {
    while alive(pid) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_process_finds_only_what_it_was_given() {
    let mut upstream = hostile(&["$(id)", "a b", "; touch /tmp/never"]);
    if let Transport::Stdio { env, .. } = &mut upstream.transport {
        env.insert("MODE".to_owned(), "test".to_owned());
    }
    upstream.auth = UpstreamAuth::Shared;
    let keys = Given(|service: &str, _: toolgate_core::port::connection::Whose<'_>| {
        Presented::Env("TOKEN".to_owned(), secret(&format!("for {service}")))
    });
    let plane = Plane::with(upstream, Settings::default(), Arc::new(keys)).await;
    let found = who(&plane).await;
    let env = found["env"].as_object().unwrap();
    let mut names: Vec<_> = env.keys().map(String::as_str).filter(|name| *name != "LANG").collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "MODE", "PATH", "TOKEN"]);
    // It has it, and what it says of it is not passed on.
    assert_eq!(env["TOKEN"], "***");
    assert_eq!(found["argv"], json!(["stdio", "$(id)", "a b", "; touch /tmp/never"]));
    assert_ne!(found["cwd"], json!(std::env::current_dir().unwrap()));
    let limits = found["limits"].as_str().unwrap();
    assert!(
        limits.lines().any(|line| line.starts_with("Max core file size") && line.contains(" 0 ")),
        "{limits}"
    );
    assert!(
        limits.lines().any(|line| line.starts_with("Max open files") && line.contains(" 1024 ")),
        "{limits}"
    );
}

#[tokio::test]
async fn forgetting_a_server_ends_all_it_started() {
    let settings = Settings { farewell: Duration::from_millis(100), ..Settings::default() };
    let plane = Plane::with(hostile(&["lingers"]), settings, Arc::new(crate::plane::Nobody)).await;
    let found = who(&plane).await;
    assert!(alive(&found["pid"]) && alive(&found["child"]));
    plane.pool.forget(&tenant(), &name()).await;
    gone(&found["pid"]).await;
    gone(&found["child"]).await;
    while std::path::Path::new(found["cwd"].as_str().unwrap()).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn another_document_is_another_process() {
    let mut plane = Plane::new(hostile(&[])).await;
    let first = who(&plane).await;
    let mut upstream = (*plane.upstream).clone();
    upstream.title = "the same in other words".to_owned();
    plane.upstream = Arc::new(upstream);
    let second = who(&plane).await;
    assert_ne!(first["pid"], second["pid"]);
    gone(&first["pid"]).await;
    gone(&first["child"]).await;
}

#[tokio::test]
async fn complaints_are_kept_and_can_be_shown() {
    let plane = Plane::new(hostile(&["exits"])).await;
    let error: CallError = plane.list().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::UpstreamFailed);
    assert!(error.message.contains("ended before it had answered"), "{error:?}");
    let health = plane.pool.health(&tenant(), &name()).unwrap();
    assert!(!health.connected && health.failed_at.is_some());
    while plane.stderr().as_deref() != Some("no \\u{1b}[31mway\n") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    let plane = Plane::new(hostile(&[])).await;
    plane.accept(Effect::Read).await;
    assert!(plane.call("act", json!({ "do": "stderr" })).await.ok);
    let kept = loop {
        let kept = plane.stderr().unwrap_or_default();
        if kept.ends_with("END") {
            break kept;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(kept.len() < 9_000 && kept.contains("\\u{1b}"), "{}", kept.len());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_so() {
    let plane = Plane::new(stdio("/no/such/program", &[])).await;
    let error = plane.list().await.unwrap_err();
    assert!(error.message.contains("its program is not on this machine"), "{error:?}");
    assert!(!error.message.contains("/no/such"), "{error:?}");
}

#[tokio::test]
async fn calls_beyond_their_places_are_told() {
    let mut upstream = hostile(&[]);
    upstream.concurrency = 1;
    let settings = Settings { queue_factor: 1, ..Settings::default() };
    let plane = Plane::with(upstream, settings, Arc::new(crate::plane::Nobody)).await;
    plane.accept_within(Effect::Read, 1_000).await;
    // One runs, one waits, one is told.
    let calls = (0..3).map(|_| plane.call("act", json!({ "do": "mute" })));
    let results = futures::future::join_all(calls).await;
    let mut codes: Vec<_> =
        results.into_iter().map(|result| result.error.unwrap()).map(|e| (e.code, e.message)).collect();
    codes.sort_by_key(|(code, _)| code.as_str());
    assert_eq!(
        codes.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        [ErrorCode::Timeout, ErrorCode::Timeout, ErrorCode::UpstreamFailed]
    );
    assert!(codes[2].1.contains("as many calls as it may"), "{codes:?}");
}

#[tokio::test]
async fn what_nobody_uses_is_closed_and_opened_again() {
    let settings = Settings { idle: Duration::from_millis(20), ..Settings::default() };
    let plane = Plane::with(hostile(&[]), settings, Arc::new(crate::plane::Nobody)).await;
    let first = who(&plane).await;
    gone(&first["pid"]).await;
    gone(&first["child"]).await;
    assert!(!plane.pool.health(&tenant(), &name()).unwrap().connected);
    let second = who(&plane).await;
    assert_ne!(first["pid"], second["pid"]);
}

#[tokio::test]
async fn many_at_once_share_one_process() {
    // Another who looked says what is offered: here nothing is open yet.
    let offered = Plane::new(hostile(&[])).await.list().await.unwrap().tools;
    let plane = Plane::new(hostile(&[])).await;
    plane.take(&offered, Effect::Read, 30_000);
    let calls = (0..20).map(|_| plane.value("act", json!({ "do": "pid" })));
    let mut pids: Vec<String> = futures::future::join_all(calls).await.iter().map(Value::to_string).collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

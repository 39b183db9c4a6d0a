//! Live events, resumable.

use futures::StreamExt;
use serde_json::{Value, json};

use crate::gate::{ADMIN, NewCaller, TestGate};

/// Reads a session's events from a stream until `count` have come.
async fn read_events(
    gate: &TestGate,
    session: &str,
    after: Option<i64>,
    count: usize,
) -> Vec<(i64, String, Value)> {
    let mut request =
        gate.client.get(format!("{}/api/v1/sessions/{session}/events", gate.url)).bearer_auth(ADMIN);
    if let Some(after) = after {
        request = request.header("last-event-id", after.to_string());
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut body = answer.bytes_stream();
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
        while let Some((block, rest)) = text.split_once("\n\n") {
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .map(|v| v.trim().to_owned())
                    .unwrap_or_default()
            };
            if !field("data:").is_empty() {
                let id = field("id:").parse().unwrap();
                events.push((id, field("event:"), serde_json::from_str(&field("data:")).unwrap()));
            }
            text = rest.to_owned();
        }
    }
    events
}

#[tokio::test]
async fn events_come_live_and_resume_where_they_broke_off() {
    let gate = TestGate::start().await;
    let (_, session) = gate.post("/api/v1/sessions", json!(null)).await;
    let session = session["id"].as_str().unwrap().to_owned();
    let reading = read_events(&gate, &session, None, 5);
    let calling = async {
        let body = json!({ "input": { "milliseconds": 300, "reports": 3 }, "session_id": session });
        gate.post("/api/v1/tools/fixture__slow_read/invoke", body).await
    };
    let (events, (status, _)) = tokio::join!(reading, calling);
    assert_eq!(status, 200);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    let part = "tool.output_appended";
    assert_eq!(kinds, ["tool.started", part, part, part, "tool.completed"]);
    assert_eq!(events.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    for pair in events.windows(2) {
        assert_eq!(pair[1].2["prev_hash"], pair[0].2["hash"], "each carries the hash of the one before");
    }
    let resumed = read_events(&gate, &session, Some(3), 2).await;
    assert_eq!(resumed, events[3..]);
    for bad in ["x", "-1", "1.5"] {
        let path = format!("/api/v1/sessions/{session}/events");
        let (status, _) = gate.send(Some(ADMIN), "GET", &path, None, &[("last-event-id", bad)]).await;
        assert_eq!(status, 400, "{bad}");
    }
}

/// Opens a stream, and then reads it to its end and returns its last event.
async fn last_event(gate: &TestGate, session: &str, key: &str) -> impl Future<Output = String> + use<> {
    let url = format!("{}/api/v1/sessions/{session}/events", gate.url);
    let answer = gate.client.get(url).bearer_auth(key).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    async {
        let text = answer.text().await.unwrap();
        text.trim_end().rsplit("\n\n").next().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn a_stream_ends_with_what_it_was_opened_with() {
    let gate = TestGate::start().await;
    let (_, session) = gate.post("/api/v1/sessions", json!(null)).await;
    let session = session["id"].as_str().unwrap().to_owned();
    let minted = async || {
        let (_, made) = gate.post("/api/v1/keys", json!({ "label": "reads" })).await;
        (made["key"]["id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
    };
    let (revoked, kept) = (minted().await, minted().await);
    let auditor =
        NewCaller { tenant: "default", principal: "user:audit", roles: &["auditor"], ..NewCaller::default() };
    let auditors = gate.caller(auditor).await;
    let first = last_event(&gate, &session, &revoked.1).await;
    let second = last_event(&gate, &session, &auditors).await;
    let going_on = last_event(&gate, &session, &kept.1).await;

    gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/keys/{}", revoked.0), None, &[]).await;
    gate.caller(NewCaller { roles: &[], ..auditor }).await;
    let ended = async { tokio::join!(first, second) };
    let soon = std::time::Duration::from_secs(15);
    let (first, second) = tokio::time::timeout(soon, ended).await.expect("both end");
    assert_eq!(first, "event: end\ndata: {\"reason\":\"unauthenticated\"}");
    assert_eq!(second, "event: end\ndata: {\"reason\":\"not_found\"}");
    let later = std::time::Duration::from_millis(500);
    assert!(tokio::time::timeout(later, going_on).await.is_err(), "the others go on");
}

//! Live events, resumable.

use futures::StreamExt;
use serde_json::{Value, json};

use crate::gate::{ADMIN, TestGate};

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

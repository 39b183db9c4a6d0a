//! The record as a list: narrowed, page by page, live, and only for those who read the record.

use futures::StreamExt;
use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

async fn list(gate: &TestGate, query: &str) -> Vec<Value> {
    let (status, page) = gate.get(&format!("/api/v1/audit/events?{query}")).await;
    assert_eq!(status, 200, "{page}");
    page["events"].as_array().unwrap().clone()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_record_is_listed_as_it_is_exported() {
    let gate = TestGate::permissive().await;
    for number in 0..7 {
        assert_eq!(
            gate.invoke("fixture__counted_read", json!({ "effect_id": "a" })).await.0,
            200,
            "{number}"
        );
    }
    gate.send(Some(ADMIN), "PUT", "/api/v1/roles/r", Some(json!({ "rules": [] })), &[]).await;
    let (_, export) = gate.get("/api/v1/audit/export").await;
    let mut exported: Vec<Value> =
        export.as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = gate.get(&format!("/api/v1/audit/events?limit=4{cursor}")).await;
        assert_eq!(status, 200, "{page}");
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 4);
        walked.extend(events.iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(walked.windows(2).all(|pair| pair[0]["at_micros"].as_i64() >= pair[1]["at_micros"].as_i64()));
    for event in &mut walked {
        let event = event.as_object_mut().unwrap();
        let tool = event.remove("tool");
        assert_eq!(tool.is_none(), event["type"] == "admin.changed");
    }
    let place = |event: &Value| (event["session_id"].to_string(), event["seq"].as_i64());
    walked.sort_by_key(place);
    exported.sort_by_key(place);
    assert_eq!(walked, exported);
}

#[tokio::test]
async fn the_record_is_narrowed_by_every_word() {
    let gate = TestGate::permissive().await;
    gate.invoke_as(AGENT, "fixture__counted_read", json!({ "effect_id": "a" })).await;
    let (_, call) = gate.invoke("core__get_current_time", json!({})).await;
    let id = call["call_id"].as_str().unwrap();
    let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
    let session = row["session_id"].as_str().unwrap();
    gate.invoke("core__get_current_time", json!({ "no": "such field" })).await;
    gate.send(Some(ADMIN), "PUT", "/api/v1/roles/r", Some(json!({ "rules": [] })), &[]).await;

    assert_eq!(kinds(&list(&gate, "type=tool.failed").await), ["tool.failed"]);
    assert!(kinds(&list(&gate, "type=tool.").await).iter().all(|kind| kind.starts_with("tool.")));
    let mixed = list(&gate, "type=admin.&type=tool.failed&limit=2").await;
    assert_eq!(kinds(&mixed), ["admin.changed", "tool.failed"]);
    assert_eq!(kinds(&list(&gate, "actor=agent:helper").await), ["tool.completed", "tool.started"]);
    assert_eq!(kinds(&list(&gate, &format!("invocation={id}")).await), ["tool.completed", "tool.started"]);
    assert_eq!(kinds(&list(&gate, &format!("session={session}")).await), ["tool.completed", "tool.started"]);
    assert_eq!(kinds(&list(&gate, "tool=fixture__counted_read").await), ["tool.completed", "tool.started"]);
    assert!(list(&gate, "subject=user:admin").await.is_empty());
    assert!(list(&gate, "type=tool.&to=2001-01-01T00:00:00Z").await.is_empty());
    let at = mixed[1]["at"].as_str().unwrap();
    assert!(list(&gate, &format!("from={at}&limit=1")).await[0]["at"].as_str().unwrap() >= at);

    for bad in [
        "type=nothing",
        "type=tool.f",
        "type=.",
        "actor=nobody",
        "tool=x",
        "session=1",
        "invocation=inv_1",
        "from=yesterday",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=x",
        "cursor=1",
        "cursor=1.2.3",
        "actor=user:a&actor=user:b",
        "after=1",
        "what=1",
    ] {
        let (status, body) = gate.get(&format!("/api/v1/audit/events?{bad}")).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!("bad_request")), "{bad}");
    }
}

#[tokio::test]
async fn only_those_who_read_the_record_list_or_follow_it() {
    let gate = TestGate::permissive().await;
    let gate_default = TestGate::start().await;
    gate_default.invoke("core__get_current_time", json!({})).await;
    for path in ["/api/v1/audit/events", "/api/v1/audit/events/live", "/api/v1/audit/events/live?after=0"] {
        for key in [AGENT, OTHER_USER] {
            assert_eq!(gate_default.status(Some(key), "GET", path, None, &[]).await, 403, "{path}");
        }
        assert_eq!(gate_default.status(None, "GET", path, None, &[]).await, 401, "{path}");
        let narrow = NewCaller {
            tenant: "default",
            principal: "user:narrow",
            rules: &["*"],
            scopes: &["manage:keys"],
            ..NewCaller::default()
        };
        let narrow = gate_default.caller(narrow).await;
        assert_eq!(gate_default.status(Some(&narrow), "GET", path, None, &[]).await, 403, "{path}");
    }
    // Another tenant sees its own record, whatever it asks for.
    let (_, call) = gate.invoke("core__get_current_time", json!({})).await;
    let (_, page) = gate.get("/api/v1/audit/events?limit=1").await;
    let session = page["events"][0]["session_id"].as_str().unwrap();
    let id = call["call_id"].as_str().unwrap();
    for query in [
        "type=tool.".to_owned(),
        format!("session={session}"),
        format!("invocation={id}"),
        "tool=core__get_current_time".to_owned(),
    ] {
        let path = format!("/api/v1/audit/events?{query}");
        let (status, theirs) = gate.send(Some(OTHER_TENANT), "GET", &path, None, &[]).await;
        assert_eq!((status, &theirs["events"]), (200, &json!([])), "{query}");
    }
}

/// Reads the stream until `count` events have come.
async fn follow(
    gate: &TestGate,
    query: &str,
    last: Option<&str>,
    count: usize,
) -> Vec<(Option<String>, String, Value)> {
    let mut request =
        gate.client.get(format!("{}/api/v1/audit/events/live?{query}", gate.url)).bearer_auth(ADMIN);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut body = answer.bytes_stream();
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
        while let Some((block, rest)) = text.split_once("\n\n") {
            let field = |name: &str| {
                block.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
            };
            if let Some(data) = field("data:") {
                let id = field("id:");
                events.push((id, field("event:").unwrap(), serde_json::from_str(&data).unwrap()));
            }
            text = rest.to_owned();
        }
    }
    events
}

#[tokio::test]
async fn the_record_is_followed_live_and_taken_up_where_it_broke_off() {
    let gate = TestGate::permissive().await;
    gate.invoke("core__get_current_time", json!({})).await;
    let (_, page) = gate.get("/api/v1/audit/events?limit=1").await;
    let newest = page["newest"].as_str().unwrap();
    // What is written after the list was read comes, whether the stream was open by then or not.
    gate.invoke("fixture__counted_read", json!({ "effect_id": "a" })).await;
    // On a store that others write to as well, a list can't always vouch for its own newest events, and they come again.
    let query = format!("after={newest}&type=tool.&tool=fixture__counted_read");
    let following = follow(&gate, &query, None, 4);
    let calling = async { gate.invoke_as(AGENT, "fixture__counted_read", json!({ "effect_id": "a" })).await };
    let (events, _) = tokio::join!(following, calling);
    let shown: Vec<(&str, &str)> = events
        .iter()
        .map(|(_, _, data)| (data["type"].as_str().unwrap(), data["actor"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("tool.started", "user:admin"),
            ("tool.completed", "user:admin"),
            ("tool.started", "agent:helper"),
            ("tool.completed", "agent:helper"),
        ]
    );
    assert!(events.iter().all(|(id, kind, _)| kind == "audit" && id.is_some()));

    let again = follow(&gate, "", events[1].0.as_deref(), 2).await;
    let data = |events: &[(Option<String>, String, Value)]| -> Vec<Value> {
        events.iter().map(|(_, _, data)| data.clone()).collect()
    };
    assert_eq!(data(&again), data(&events[2..]), "`Last-Event-ID` takes it up");
    let narrowed = follow(&gate, "after=0&actor=agent:helper&type=tool.completed", None, 1).await;
    assert_eq!(narrowed[0].2["actor"], "agent:helper");
    for bad in ["after=-1", "after=1", "after=x", "cursor=1.1", "limit=3"] {
        let path = format!("/api/v1/audit/events/live?{bad}");
        assert_eq!(gate.status(Some(ADMIN), "GET", &path, None, &[]).await, 400, "{bad}");
    }
    let odd =
        gate.status(Some(ADMIN), "GET", "/api/v1/audit/events/live", None, &[("last-event-id", "x")]).await;
    assert_eq!(odd, 400);
}

#[tokio::test]
async fn places_tell_nothing_of_other_tenants_and_open_for_their_own_only() {
    let gate = TestGate::permissive().await;
    let theirs = "/api/v1/audit/events?limit=1";
    let ask = |key: &'static str, path: String| {
        let gate = &gate;
        async move { gate.send(Some(key), "GET", &path, None, &[]).await }
    };
    let (_, before) = ask(OTHER_TENANT, theirs.to_owned()).await;
    gate.invoke("core__get_current_time", json!({})).await;
    gate.invoke("core__get_current_time", json!({})).await;
    let (_, after) = ask(OTHER_TENANT, theirs.to_owned()).await;
    assert_eq!(before["events"], after["events"], "nothing happened there");
    assert!(before["events"].as_array().unwrap().iter().all(|event| event.get("position").is_none()));
    for page in [&before, &after] {
        let newest = page["newest"].as_str().unwrap();
        assert!(newest.len() > 40 && newest.parse::<i64>().is_err(), "{newest}");
    }
    assert_eq!(
        before["newest"].as_str().unwrap().len(),
        after["newest"].as_str().unwrap().len(),
        "not even by its length"
    );
    // A place of one tenant is none of another's, and a place to follow from is no cursor.
    let (_, page) = ask(ADMIN, theirs.to_owned()).await;
    let (newest, cursor) = (page["newest"].as_str().unwrap(), page["next_cursor"].as_str().unwrap());
    for (key, path) in [
        (OTHER_TENANT, format!("/api/v1/audit/events?cursor={cursor}")),
        (OTHER_TENANT, format!("/api/v1/audit/events/live?after={newest}")),
        (ADMIN, format!("/api/v1/audit/events?cursor={newest}")),
        (ADMIN, format!("/api/v1/audit/events/live?after={cursor}")),
    ] {
        assert_eq!(gate.status(Some(key), "GET", &path, None, &[]).await, 400, "{path}");
    }
    assert_eq!(ask(ADMIN, format!("/api/v1/audit/events?cursor={cursor}")).await.0, 200);
}

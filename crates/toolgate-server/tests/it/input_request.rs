//! Questions put to people by a link: every kind, by page and by API, once, in time, and by nobody else.

use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, NewCaller, TestGate};

const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

async fn ask(gate: &TestGate, input: Value) -> (Value, String) {
    let (status, call) = gate.invoke_as(AGENT, "core__request_input", input).await;
    assert_eq!((status, &call["status"]), (202, &json!("pending")), "{call}");
    assert!(call.get("callback_url").is_none(), "whoever asks does not answer");
    let url = call["share_url"].as_str().unwrap().to_owned();
    let token = url.rsplit('/').next().unwrap().to_owned();
    (call, token)
}

async fn outcome(gate: &TestGate, call: &Value) -> Value {
    gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await.1
}

async fn answer(gate: &TestGate, token: &str, answer: Value) -> (u16, Value) {
    let path = format!("/api/v1/input-requests/{token}");
    gate.send(None, "POST", &path, Some(json!({ "answer": answer })), &[]).await
}

async fn submit(gate: &TestGate, token: &str, form: &[(&str, &str)]) -> (u16, String) {
    let body = form
        .iter()
        .map(|(key, value)| format!("{key}={}", value.replace(' ', "+")))
        .collect::<Vec<_>>()
        .join("&");
    let answer = gate
        .client
        .post(format!("{}/embed/v/{token}", gate.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body)
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

fn questions() -> Value {
    json!({ "title": "About <you>", "instructions": "Be \"brief\".", "questions": [
        { "id": "name", "label": "Your name", "required": true },
        { "id": "age", "label": "Your age", "kind": "number" } ] })
}

#[tokio::test]
async fn every_kind_is_asked_and_answered_on_the_page() {
    let gate = TestGate::start().await;
    let options = json!([
        { "id": "bold", "label": "Bold & loud", "image": PICTURE }, { "id": "quiet", "label": "Quiet", "description": "hush" } ]);
    for (request, shown, form, answers) in [
        (
            questions(),
            "About &lt;you&gt;",
            vec![("q-name", "Ada L"), ("q-age", "36.5")],
            json!({ "name": "Ada L", "age": 36.5 }),
        ),
        (
            json!({ "title": "t", "questions": [
                { "id": "sure", "label": "Sure?", "kind": "boolean", "required": true, "description": "think <first>" },
                { "id": "day", "label": "When?", "format": "date", "default": "2026-01-31" },
                { "id": "many", "label": "How many?", "kind": "integer", "min": 1, "max": 9 },
                { "id": "city", "label": "Where?", "kind": "choice", "options": [{ "id": "r", "label": "Rome" }] },
                { "id": "tags", "label": "What?", "kind": "choice", "several": true,
                  "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] } ] }),
            "think &lt;first&gt;",
            vec![("q-sure", "false"), ("q-many", "3"), ("q-city", "r"), ("q-tags", "a"), ("q-tags", "b")],
            json!({ "sure": false, "many": 3.0, "city": "r", "tags": ["a", "b"] }),
        ),
        (
            json!({ "title": "t", "choose": { "options": options } }),
            "Bold &amp; loud",
            vec![("chosen", "bold")],
            json!({ "chosen": ["bold"] }),
        ),
        (
            json!({ "title": "t", "choose": { "options": options, "several": true } }),
            "Choose one or more",
            vec![("chosen", "quiet"), ("chosen", "bold")],
            json!({ "chosen": ["quiet", "bold"] }),
        ),
        (
            json!({ "title": "t", "markup": { "image": PICTURE } }),
            "Comment 1",
            vec![("text1", "too red"), ("x1", "10"), ("y1", "20.5"), ("text3", "here")],
            json!({ "notes": [{ "text": "too red", "x": 10.0, "y": 20.5 }, { "text": "here" }] }),
        ),
        (
            json!({ "title": "t", "approve": { "statement": "Ship it?" } }),
            "Ship it?",
            vec![("approved", "no"), ("notes", "not yet")],
            json!({ "approved": false, "notes": "not yet" }),
        ),
    ] {
        let (call, token) = ask(&gate, request).await;
        let page = gate.client.get(format!("{}/embed/v/{token}", gate.url)).send().await.unwrap();
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "only scripts of ours: {policy}"
        );
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        let text = page.text().await.unwrap();
        assert!(text.contains(shown) && !text.contains("<you>"), "{text}");
        let (status, wrong) = submit(&gate, &token, &[]).await;
        assert_eq!(status, 200);
        assert!(wrong.contains("role=\"alert\""), "nothing is no answer: {wrong}");
        assert_eq!(outcome(&gate, &call).await["status"], "waiting");
        let (status, thanks) = submit(&gate, &token, &form).await;
        assert!(status == 200 && thanks.contains("Thank you"), "{thanks}");
        let row = outcome(&gate, &call).await;
        assert_eq!(
            (&row["status"], &row["output"]),
            (&json!("completed"), &json!({ "kind": "input_request", "answers": answers }))
        );
        assert_eq!(submit(&gate, &token, &form).await.0, 404, "once");
    }
    gate.verify().await;
}

#[tokio::test]
async fn links_work_once_in_time_and_only_while_the_asking_is_allowed() {
    let gate = TestGate::start().await;
    let (call, token) = ask(&gate, questions()).await;
    let read = |token: String| {
        let gate = &gate;
        async move { gate.send(None, "GET", &format!("/api/v1/input-requests/{token}"), None, &[]).await }
    };
    assert_eq!(read(token.clone()).await.1["request"]["title"], "About <you>");
    assert_eq!(read(token.clone()).await.0, 200, "looking uses nothing up");
    for bad in ["0".repeat(64), "x".to_owned(), format!("{token}0")] {
        assert_eq!(code(&read(bad).await.1), "token_invalid");
    }
    for bad in
        [json!({ "name": 5 }), json!({ "other": 1 }), json!("Ada"), json!({ "name": "x".repeat(10_001) })]
    {
        let (status, refused) = answer(&gate, &token, bad).await;
        assert_eq!((status, code(&refused)), (400, "bad_request"), "{refused}");
    }
    let answers =
        futures::future::join_all((0..6).map(|n| answer(&gate, &token, json!({ "name": format!("p{n}") }))))
            .await;
    assert_eq!(
        answers.iter().filter(|(status, _)| *status == 204).count(),
        1,
        "one of many wins: {answers:?}"
    );
    assert_eq!(outcome(&gate, &call).await["status"], "completed");

    let (call, token) = ask(&gate, questions()).await;
    let kill = json!({ "kind": "principal", "target": "agent:helper", "reason": "a test" });
    assert_eq!(gate.post("/api/v1/kills", kill).await.0, 200);
    assert_eq!(answer(&gate, &token, json!({ "name": "Ada" })).await.0, 404, "whoever asks is stopped");
    gate.send(Some(ADMIN), "DELETE", "/api/v1/kills?kind=principal&target=agent:helper", None, &[]).await;
    let cancel = format!("/api/v1/invocations/{}/cancel", call["call_id"].as_str().unwrap());
    gate.send(Some(AGENT), "POST", &cancel, None, &[]).await;
    assert_eq!(answer(&gate, &token, json!({ "name": "Ada" })).await.0, 404, "no longer asked");
}

#[tokio::test]
async fn nobody_but_the_link_answers_and_bad_requests_are_never_sent() {
    let gate = TestGate::start().await;
    let (call, _) = ask(&gate, questions()).await;
    let body = json!({ "callId": call["call_id"], "result": { "kind": "input_request", "answers": { "name": "forged" } } });
    let path = format!("/api/v1/runs/{}/tool-results", call["session_id"].as_str().unwrap());
    let (status, refused) = gate.send(Some(AGENT), "POST", &path, Some(body), &[]).await;
    assert_eq!((status, code(&refused)), (409, "conflict"), "the agent does not answer itself: {refused}");
    for (bad, expected) in [
        (json!({ "title": "t" }), "execution"),
        (json!({ "title": "t", "questions": [], "approve": { "statement": "s" } }), "validation"),
        (json!({ "title": "t", "choose": { "options": [{ "id": "a", "label": "A" }] } }), "validation"),
        (json!({ "title": "t", "markup": { "image": "https://tracker.example/x.png" } }), "execution"),
        (json!({ "title": "t", "markup": { "image": "javascript:alert(1)" } }), "execution"),
        (json!({ "title": "t", "questions": [{ "id": "a b", "label": "x" }] }), "validation"),
        (json!({ "title": "t", "approve": { "statement": "s" }, "expires_in_seconds": 1 }), "validation"),
    ] {
        let (status, refused) = gate.invoke_as(AGENT, "core__request_input", bad.clone()).await;
        assert_eq!((status, code(&refused)), (422, expected), "{bad}: {refused}");
    }
    let (status, old) = gate.invoke_as(AGENT, "core__request_feedback", questions()).await;
    assert_eq!(status, 202, "the old name still works: {old}");
    assert!(!old.to_string().contains("feedback"), "and shows the new one only");
}

#[tokio::test]
async fn guessing_links_is_slowed_down() {
    let gate = TestGate::start().await;
    let mut slowed = false;
    for number in 0..200 {
        let (status, refused) =
            gate.send(None, "GET", &format!("/api/v1/input-requests/{number:064}"), None, &[]).await;
        assert!(status == 404 || (status == 429 && code(&refused) == "too_many_attempts"), "{refused}");
        slowed |= status == 429;
    }
    assert!(slowed);
}

#[tokio::test]
async fn whose_call_waits_learns_where_a_link_is_made() {
    let gate = TestGate::start().await;
    let (call, _) = ask(&gate, questions()).await;
    let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
    let (_, mine) = gate.send(Some(AGENT), "GET", &path, None, &[]).await;
    assert_eq!(mine["status"], "waiting");
    assert_eq!(mine["links_url"], json!(format!("{}{path}/links", gate.url)), "{mine}");
    let looker = NewCaller {
        tenant: "default",
        principal: "user:looker",
        roles: &["auditor"],
        ..NewCaller::default()
    };
    let looker = gate.caller(looker).await;
    let (status, other) = gate.send(Some(&looker), "GET", &path, None, &[]).await;
    assert_eq!((status, other.get("links_url")), (200, None), "who only looks on makes none: {other}");
    let (status, made) = gate.send(Some(AGENT), "POST", &format!("{path}/links"), None, &[]).await;
    assert_eq!(status, 201, "{made}");
    let token = made["share_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let (status, body) = answer(&gate, &token, json!({ "name": "Ada" })).await;
    assert!(status < 300, "{body}");
    let (_, done) = gate.send(Some(AGENT), "GET", &path, None, &[]).await;
    assert_eq!((&done["status"], done.get("links_url")), (&json!("completed"), None), "{done}");
}

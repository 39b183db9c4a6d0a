//! What an MCP server behind a tool asks in the middle of a call: on the page, in clients of both eras, as a task, and by
//! nobody else.

use serde_json::{Value, json};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use super::{Legacy, Messages, Modern, accepted};
use crate::gate::{ADMIN, NewCaller, OTHER_USER, TestGate};
use crate::outside::Outside;

const TOOL: &str = "mcp__server__act";

/// A gate with an MCP server of each era that asks what it is told to, as this says.
async fn gate(questions: &str) -> TestGate {
    let outside = Some(Outside(Vec::new()));
    let policy = Policies::default_set().0;
    let gate = TestGate::with_outside(ServerSettings::default(), policy, outside, |app| app).await;
    for (name, era) in [("server", "legacy"), ("newer", "modern")] {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/it/hostile.mjs");
        let transport = json!({ "kind": "stdio", "command": "node", "args": [script, "stdio", era] });
        let body = json!({ "transport": transport, "questions": questions });
        let (status, said) =
            gate.send(Some(ADMIN), "PUT", &format!("/api/v1/upstreams/{name}"), Some(body), &[]).await;
        assert_eq!((status, &said["questions"]), (200, &json!(questions)), "{said}");
        let (status, said) = gate.post(&format!("/api/v1/upstreams/{name}/refresh"), json!({})).await;
        assert_eq!(status, 200, "{said}");
        let tool = format!("mcp__{name}__act");
        let (_, offered) = gate.get(&format!("/api/v1/upstream-tools/{tool}")).await;
        let decision = json!({ "digest": offered["digest"], "effect": "read", "egress": "none",
                               "redaction_allow": ["*"] });
        let (status, said) = gate.post(&format!("/api/v1/upstream-tools/{tool}/accept"), decision).await;
        assert_eq!(status, 200, "{said}");
    }
    gate
}

async fn ada(gate: &TestGate) -> String {
    let ada =
        NewCaller { tenant: "default", principal: "user:ada", roles: &["member"], ..NewCaller::default() };
    gate.caller(ada).await
}

fn form() -> Value {
    json!({ "message": "Who <b>are</b> you?", "requestedSchema": { "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "title": "Name" }, "sure": { "type": "boolean" } } } })
}

fn asks(forms: usize) -> Value {
    json!({ "do": "ask", "forms": vec![form(); forms] })
}

async fn call(gate: &TestGate, key: &str, tool: &str) -> Value {
    let (status, call) = gate.invoke_as(key, tool, asks(1)).await;
    assert_eq!((status, &call["status"]), (202, &json!("running")), "{call}");
    assert!(call["asks"].is_string() && call["share_url"].is_string(), "{call}");
    call
}

fn token(call: &Value) -> &str {
    call["share_url"].as_str().unwrap().rsplit('/').next().unwrap()
}

/// What the server was told.
async fn told(gate: &TestGate, call: &Value) -> Value {
    let path = format!("/api/v1/invocations/{}?wait=30", call["call_id"].as_str().unwrap());
    let (_, ended) = gate.get(&path).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    serde_json::from_str(ended["output"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn said(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{result}"))).unwrap()
}

#[tokio::test]
async fn a_person_answers_on_the_page_and_the_call_goes_on() {
    let gate = gate("ask").await;
    let ada = ada(&gate).await;
    for tool in [TOOL, "mcp__newer__act"] {
        let call = call(&gate, &ada, tool).await;
        let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
        assert_eq!(gate.get(&path).await.1["asks"], call["asks"], "the record says so too");
        let page =
            gate.client.get(call["share_url"].as_str().unwrap()).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("come from the MCP server <code>"), "{page}");
        assert!(page.contains("Who &lt;b&gt;are&lt;/b&gt; you?") && page.contains("Decline"), "{page}");
        let answered = gate
            .client
            .post(call["share_url"].as_str().unwrap())
            .header("content-type", "application/x-www-form-urlencoded")
            .body("q-name=Ada&q-sure=true")
            .send()
            .await
            .unwrap();
        assert!(answered.text().await.unwrap().contains("Thank you"));
        let content = json!({ "name": "Ada", "sure": true });
        assert_eq!(told(&gate, &call).await, json!([{ "action": "accept", "content": content }]));
        let again = json!({ "answer": { "name": "Eve" } });
        let path = format!("/api/v1/input-requests/{}", token(&call));
        assert_eq!(gate.send(None, "POST", &path, Some(again), &[]).await.0, 404, "once");
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_person_declines_and_nobody_answers_a_call_that_is_over() {
    let gate = gate("ask").await;
    let ada = ada(&gate).await;
    let first = call(&gate, &ada, TOOL).await;
    let path = format!("/api/v1/input-requests/{}", token(&first));
    let (_, shown) = gate.send(None, "GET", &path, None, &[]).await;
    assert_eq!(
        (&shown["server"], &shown["request"]["title"]),
        (&json!("server"), &json!("The MCP server `server` asks"))
    );
    let (status, body) = gate.send(None, "POST", &path, Some(json!({ "declined": true })), &[]).await;
    assert_eq!(status, 204, "{body}");
    assert_eq!(told(&gate, &first).await, json!([{ "action": "decline" }]));

    let second = call(&gate, &ada, TOOL).await;
    let links = format!("/api/v1/invocations/{}/links", second["call_id"].as_str().unwrap());
    let (status, more) = gate.send(Some(&ada), "POST", &links, None, &[]).await;
    assert!(status < 300 && more["share_url"].is_string(), "{status} {more}");
    let cancel = format!("/api/v1/invocations/{}/cancel", second["call_id"].as_str().unwrap());
    assert_eq!(gate.send(Some(&ada), "POST", &cancel, None, &[]).await.0, 200);
    gate.get(&format!("/api/v1/invocations/{}?wait=30", second["call_id"].as_str().unwrap())).await;
    let path = format!("/api/v1/input-requests/{}", token(&second));
    let late = json!({ "answer": { "name": "Ada" } });
    assert_eq!(gate.send(None, "POST", &path, Some(late), &[]).await.0, 404, "nobody waits for it");
    // What an agent asks is answered or left alone, as before.
    let (_, plain) = gate
        .invoke_as(&ada, "core__request_input", json!({ "title": "t", "approve": { "statement": "s" } }))
        .await;
    let path = format!("/api/v1/input-requests/{}", token(&plain));
    assert_eq!(gate.send(None, "POST", &path, Some(json!({ "declined": true })), &[]).await.0, 409);
    gate.verify().await;
}

#[tokio::test]
async fn a_modern_client_is_asked_in_its_results() {
    let gate = gate("ask").await;
    let ada = ada(&gate).await;
    let client = Modern::new(&gate, &ada).can(json!({ "elicitation": { "form": {} } }));
    let again = |tool: &str, state: &Value, answer: Value| json!({ "name": tool, "arguments": asks(2), "requestState": state, "inputResponses": { "answer": answer } });
    for tool in [TOOL, "mcp__newer__act"] {
        let first = client.call(tool, asks(2)).await;
        let form = &first.result()["inputRequests"]["answer"]["params"];
        assert!(form["message"].as_str().unwrap().starts_with("The MCP server `"), "{}", first.last());
        assert_eq!(form["requestedSchema"]["properties"]["sure"]["type"], "boolean");
        let state = first.result()["requestState"].clone();
        // Another's word is nobody's.
        let other = Modern::new(&gate, OTHER_USER).can(json!({ "elicitation": { "form": {} } }));
        let forged = other.send("tools/call", again(tool, &state, accepted(json!({ "name": "Eve" })))).await;
        assert_eq!(forged.error().2, "bad_request", "{}", forged.last());
        let unfit = client.send("tools/call", again(tool, &state, accepted(json!({ "sure": true })))).await;
        assert_eq!(unfit.result()["resultType"], "input_required", "asked again: {}", unfit.last());
        let state = unfit.result()["requestState"].clone();
        let second = client.send("tools/call", again(tool, &state, accepted(json!({ "name": "Ada" })))).await;
        assert_eq!(second.result()["resultType"], "input_required", "{}", second.last());
        let next = second.result()["requestState"].clone();
        // The first answer brought once more is no answer to the second question.
        let replayed =
            client.send("tools/call", again(tool, &state, accepted(json!({ "name": "Eve" })))).await;
        assert_eq!(replayed.result()["resultType"], "input_required", "{}", replayed.last());
        let done = client.send("tools/call", again(tool, &next, json!({ "action": "decline" }))).await;
        let expected = json!([{ "action": "accept", "content": { "name": "Ada" } }, { "action": "decline" }]);
        assert_eq!(said(done.result()), expected);
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_client_of_the_handshake_era_is_asked_on_its_stream() {
    let gate = gate("ask").await;
    let ada = ada(&gate).await;
    let client = Legacy::open(&gate, &ada, json!({ "elicitation": {} })).await;
    for tool in [TOOL, "mcp__newer__act"] {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": { "name": tool, "arguments": asks(2) } });
        let mut messages = Messages::of(client.request(&call).send().await.unwrap());
        for answer in [accepted(json!({ "name": "Ada" })), json!({ "action": "decline" })] {
            let asked = messages.next().await.unwrap();
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
            assert_eq!(client.tell(answer).await, 202);
        }
        let done = messages.next().await.unwrap();
        let expected = json!([{ "action": "accept", "content": { "name": "Ada" } }, { "action": "decline" }]);
        assert_eq!((&done["id"], said(&done["result"])), (&json!(7), expected));
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_task_asks_its_person_and_no_agent() {
    let gate = gate("ask").await;
    let ada = ada(&gate).await;
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let both = json!({ "elicitation": { "form": {} }, "extensions": tasks["extensions"] });
    let made = Modern::new(&gate, &ada).can(tasks).call(TOOL, asks(1)).await;
    assert_eq!(made.result()["resultType"], "task", "{}", made.last());
    let message = made.result()["statusMessage"].as_str().unwrap();
    assert!(message.contains("/embed/v/"), "{message}");
    let task = made.result()["taskId"].clone();
    let client = Modern::new(&gate, &ada).can(both.clone());
    let shown = client.send("tasks/get", json!({ "taskId": task })).await;
    assert_eq!(shown.result()["status"], "input_required", "{}", shown.last());
    let requests = shown.result()["inputRequests"].as_object().unwrap();
    let key = requests.keys().next().unwrap();
    let answers = json!({ "taskId": task, "inputResponses": { key: accepted(json!({ "name": "Ada" })) } });
    client.send("tasks/update", answers).await.result();
    let call = json!({ "call_id": task });
    assert_eq!(told(&gate, &call).await[0]["content"]["name"], "Ada");

    let worker = NewCaller {
        tenant: "default",
        principal: "agent:worker",
        subject: Some("user:ada"),
        acts_for: &["user:ada"],
        ..NewCaller::default()
    };
    let worker = gate.caller(worker).await;
    let agent = Modern::new(&gate, &worker).can(json!({ "elicitation": { "form": {} } }));
    let answer = agent.call(TOOL, asks(1)).await;
    let pending = &answer.result()["_meta"]["toolgate/pending"];
    assert_eq!(pending["status"], "running", "{}", answer.last());
    let link = pending["link"].as_str().expect("a link for its person");
    let path = link.rsplit('/').next().unwrap();
    let body = json!({ "answer": { "name": "Ada" } });
    let (status, _) =
        gate.send(None, "POST", &format!("/api/v1/input-requests/{path}"), Some(body), &[]).await;
    assert_eq!(status, 204);
    gate.verify().await;
}

#[tokio::test]
async fn by_default_nobody_is_asked() {
    let gate = gate("refuse").await;
    let (_, call) = gate.invoke(TOOL, asks(1)).await;
    assert_eq!(call["value"]["content"][0]["text"], "[-32601]", "{call}");
    let (_, call) = gate.invoke("mcp__newer__act", asks(1)).await;
    assert_eq!(call["error"]["code"], "upstream_failed", "{call}");
    assert!(call["error"]["hint"].as_str().unwrap().contains("`questions: ask`"), "{call}");
    let body = json!({ "transport": { "kind": "stdio", "command": "node" }, "questions": "always" });
    let (status, _) = gate.send(Some(ADMIN), "PUT", "/api/v1/upstreams/other", Some(body), &[]).await;
    assert_eq!(status, 400);
}

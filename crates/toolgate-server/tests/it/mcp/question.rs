//! Questions to a person, asked in the client of whoever asks.

use serde_json::{Value, json};

use super::{Modern, accepted};
use crate::gate::{AGENT, NewCaller, TestGate};

fn question() -> Value {
    json!({
        "title": "Two things",
        "questions": [
            { "id": "name", "label": "Your name?", "required": true },
            { "id": "age", "label": "Your age?", "kind": "number" },
        ],
    })
}

#[tokio::test]
async fn a_question_is_answered_in_the_client() {
    let gate = TestGate::permissive().await;
    let ada = NewCaller { tenant: "default", principal: "user:ada", ..NewCaller::default() };
    let ada = gate.caller(ada).await;
    let client = Modern::new(&gate, &ada).can(json!({ "elicitation": { "form": {} } }));
    let first = client.call("core__request_input", question()).await;
    let form = &first.result()["inputRequests"]["answer"]["params"];
    assert_eq!(form["requestedSchema"]["properties"]["age"]["type"], "number", "{}", first.last());
    assert_eq!(form["requestedSchema"]["required"], json!(["name"]));
    let state = first.result()["requestState"].clone();
    let again = |state: &Value, content: Value| {
        json!({
            "name": "core__request_input", "arguments": question(),
            "requestState": state, "inputResponses": { "answer": accepted(content) },
        })
    };
    let unfit = client.send("tools/call", again(&state, json!({ "age": 7 }))).await;
    assert_eq!(unfit.result()["resultType"], "input_required", "asked again: {}", unfit.last());
    let state = unfit.result()["requestState"].clone();
    let done = client.send("tools/call", again(&state, json!({ "name": "Ada" }))).await;
    assert_eq!(done.result()["structuredContent"]["answers"], json!({ "name": "Ada" }), "{}", done.last());
    let replayed = client.send("tools/call", again(&state, json!({ "name": "Eve" }))).await;
    assert_eq!(replayed.result()["structuredContent"]["answers"], json!({ "name": "Ada" }));
    gate.verify().await;
}

#[tokio::test]
async fn a_client_without_forms_gets_a_link() {
    let gate = TestGate::permissive().await;
    let answer = Modern::new(&gate, AGENT).call("core__request_input", question()).await;
    let pending = &answer.result()["_meta"]["toolgate/pending"];
    assert_eq!(pending["status"], "waiting", "{}", answer.last());
    let link = pending["link"].as_str().unwrap();
    assert!(link.starts_with(&format!("{}/embed/v/", gate.url)), "{link}");
    let page = gate.client.get(link).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("Your name?"));
}

#[tokio::test]
async fn an_agent_answers_in_nobodys_name() {
    let gate = TestGate::permissive().await;
    let capabilities =
        json!({ "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let client = Modern::new(&gate, AGENT).can(capabilities);
    let made = client.call("core__request_input", question()).await;
    assert_eq!(made.result()["resultType"], "task", "a task and no form: {}", made.last());
    let task = made.result()["taskId"].clone();
    let shown = client.send("tasks/get", json!({ "taskId": task })).await;
    assert!(shown.result()["inputRequests"].is_null(), "{}", shown.last());
    let answers = json!({ "answer": accepted(json!({ "name": "forged" })) });
    client.send("tasks/update", json!({ "taskId": task, "inputResponses": answers })).await;
    let (_, call) = gate.get(&format!("/api/v1/invocations/{}", task.as_str().unwrap())).await;
    assert_eq!(call["status"], "waiting", "nobody has answered");
}

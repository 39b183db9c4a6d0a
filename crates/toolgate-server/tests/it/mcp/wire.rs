//! The exact words, in both eras.

use serde_json::{Value, json};

use super::{Legacy, Modern};
use crate::gate::{ADMIN, AGENT, TestGate};

/// What differs from run to run, made the same.
fn fixed(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(key, value)| match (key.as_str(), &value) {
                    ("version", Value::String(_)) => *value = "[version]".into(),
                    ("requestState", _) => *value = "[sealed]".into(),
                    ("toolgate/call_id" | "call_id" | "taskId", _) => *value = "[call]".into(),
                    ("link", _) => *value = "[link]".into(),
                    ("createdAt" | "lastUpdatedAt", _) => *value = "[moment]".into(),
                    ("text", Value::String(text)) if text.contains("inv_") => {
                        *value = "[text with a call id]".into()
                    }
                    ("statusMessage", _) => *value = "[text with a link]".into(),
                    _ => walk(value),
                })
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

#[tokio::test]
async fn modern() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN).can(json!({ "elicitation": { "form": {} } }));
    let said = |name: &str, value: &Value| {
        insta::assert_json_snapshot!(format!("mcp_modern_{name}"), fixed(value.clone()))
    };
    said("discover", client.send("server/discover", json!({})).await.result());
    let listed = client.send("tools/list", json!({})).await;
    let tools = listed.result()["tools"].as_array().unwrap();
    let roi = tools.iter().find(|tool| tool["name"] == "fixture__transfer").unwrap();
    said("tool", roi);
    let mut rest = listed.result().clone();
    rest["tools"] = "[tools]".into();
    said("list", &rest);
    said("prompts", client.send("prompts/list", json!({})).await.result());
    said("templates", client.send("resources/templates/list", json!({})).await.result());
    said("invalid", client.call("fixture__transfer", json!({ "amount": "x" })).await.result());
    said("asked", client.call("fixture__transfer", json!({ "amount": 70, "to": "ada" })).await.result());
    let agent = Modern::new(&gate, AGENT);
    said("waits", agent.call("fixture__transfer", json!({ "amount": 70, "to": "ada" })).await.result());
    let tasks =
        Modern::new(&gate, AGENT).can(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    said("task", tasks.call("fixture__transfer", json!({ "amount": 70, "to": "ada" })).await.result());
    said("unknown_tool", client.call("no__such", json!({})).await.last());
}

#[tokio::test]
async fn legacy() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let said = |name: &str, value: &Value| {
        insta::assert_json_snapshot!(format!("mcp_legacy_{name}"), fixed(value.clone()))
    };
    said("initialize", &client.opened);
    let listed = client.send("tools/list", json!({})).await;
    let mut rest = listed.result().clone();
    rest["tools"] = "[tools]".into();
    said("list", &rest);
    let call = client
        .send("tools/call", json!({ "name": "fixture__slow_read", "arguments": { "milliseconds": 1 } }))
        .await;
    said("call", call.result());
    let waits = client
        .send(
            "tools/call",
            json!({ "name": "fixture__transfer", "arguments": { "amount": 70, "to": "ada" } }),
        )
        .await;
    said("waits", waits.result());
    said(
        "unknown_resource",
        client.send("resources/read", json!({ "uri": "file:///etc/passwd" })).await.last(),
    );
}

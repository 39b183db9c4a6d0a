//! Endpoints of toolsets, and catalogs that are searched.

use serde_json::json;

use super::{Legacy, Modern};
use crate::gate::{ADMIN, NewCaller, TestGate};

async fn put_toolset(gate: &TestGate, name: &str, body: serde_json::Value) {
    let (status, answer) =
        gate.send(Some(ADMIN), "PUT", &format!("/api/v1/toolsets/{name}"), Some(body), &[]).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn an_endpoint_shows_its_toolset_and_nothing_else() {
    let gate = TestGate::start().await;
    put_toolset(&gate, "clock", json!({ "tools": ["core__get_current_time", "fixture__internal"] })).await;
    let client = Modern::new(&gate, ADMIN).at("/mcp/clock");
    assert_eq!(client.names().await, ["core__get_current_time"]);
    assert_eq!(client.call("core__calculate_roi", json!({})).await.error(), (200, -32602, "unavailable"));
    assert!(client.call("core__get_current_time", json!({})).await.result()["structuredContent"].is_object());
    for missing in ["/mcp/no-such", "/mcp/..%2fclock", "/mcp/%00"] {
        let answer = Modern::new(&gate, ADMIN).at(missing).send("tools/list", json!({})).await;
        assert_eq!(answer.error(), (404, -32600, "not_found"), "{missing} {}", answer.last());
    }
    let stranger = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:stranger",
            scopes: &["tool:core__calculate_roi"],
            ..NewCaller::default()
        })
        .await;
    let answer = Modern::new(&gate, &stranger).at("/mcp/clock").send("tools/list", json!({})).await;
    assert_eq!(answer.error(), (404, -32600, "not_found"), "nothing of it is visible");
    // A change is in force at once.
    put_toolset(&gate, "clock", json!({ "tools": ["core__calculate_roi"] })).await;
    assert_eq!(client.names().await, ["core__calculate_roi"]);
}

#[tokio::test]
async fn what_is_refused_in_a_search_is_in_the_record_as_elsewhere() {
    let gate = TestGate::start().await;
    put_toolset(&gate, "all", json!({ "tools": ["*"], "mode": "search" })).await;
    let stranger = NewCaller {
        tenant: "default",
        principal: "user:stranger",
        scopes: &["tool:core__get_current_time"],
        ..NewCaller::default()
    };
    let stranger = gate.caller(stranger).await;
    let plain = Modern::new(&gate, &stranger);
    let search = Modern::new(&gate, &stranger).at("/mcp/all");
    for tool in ["no__such", "core__calculate_roi", "fixture__mutate"] {
        let kept = async |count: usize| {
            let (_, listed) = gate.get(&format!("/api/v1/invocations?tool={tool}")).await;
            let rows = listed["invocations"].as_array().unwrap().clone();
            assert_eq!(rows.len(), count, "{tool}");
            let keep = ["tool_id", "status", "error", "input", "source", "actor", "rule", "decided_by"];
            keep.map(|field| rows[0][field].clone())
        };
        let arguments = json!({ "asked": tool });
        assert_eq!(plain.call(tool, arguments.clone()).await.error(), (200, -32602, "unavailable"));
        let first = kept(1).await;
        let inner = search.call("call_tool", json!({ "tool": tool, "arguments": arguments })).await;
        assert_eq!(inner.result()["isError"], true, "{}", inner.last());
        assert_eq!(kept(2).await, first, "the same by another way");
        // By its own name, which no tool has there.
        assert_eq!(search.call(tool, arguments).await.error(), (200, -32602, "unavailable"));
        assert_eq!(kept(3).await, first);
        // Looking is no call.
        assert_eq!(search.call("describe_tool", json!({ "tool": tool })).await.result()["isError"], true);
        kept(3).await;
    }
    let nonsense = search.call("call_tool", json!({ "tool": "not a name" })).await;
    assert_eq!(nonsense.result()["isError"], true);
    gate.verify().await;
}

#[tokio::test]
async fn a_large_catalog_is_searched_and_what_is_called_is_the_tool_itself() {
    let gate = TestGate::start().await;
    put_toolset(&gate, "all", json!({ "tools": ["*"], "mode": "search" })).await;
    let client = Modern::new(&gate, ADMIN).at("/mcp/all");
    assert_eq!(client.names().await, ["search_tools", "describe_tool", "call_tool"]);
    let found = client.call("search_tools", json!({ "query": "curent time zone", "limit": 3 })).await;
    let tools = &found.result()["structuredContent"]["tools"];
    assert_eq!(tools[0]["tool"], "core__get_current_time", "{tools}");
    let nothing = client.call("search_tools", json!({ "query": "xylophone" })).await;
    assert_eq!(nothing.result()["structuredContent"]["tools"], json!([]));
    let described = client.call("describe_tool", json!({ "tool": "core__get_current_time" })).await;
    assert!(described.result()["structuredContent"]["inputSchema"].is_object());
    let called = client.call("call_tool", json!({ "tool": "core__get_current_time", "arguments": {} })).await;
    let call = called.result()["_meta"]["toolgate/call_id"].as_str().unwrap().to_owned();
    let (_, row) = gate.get(&format!("/api/v1/invocations/{call}")).await;
    assert_eq!(row["tool_id"], "core__get_current_time", "recorded as itself");
    for hidden in ["fixture__internal", "no__such", "call_tool"] {
        for tool in ["describe_tool", "call_tool"] {
            let refused = client.call(tool, json!({ "tool": hidden })).await;
            assert_eq!(refused.result()["isError"], true, "{tool} {hidden}");
        }
    }
    let direct = client.call("core__get_current_time", json!({})).await;
    assert_eq!(direct.error(), (200, -32602, "unavailable"), "only the three are there");
    // What waits for a person waits here as well.
    let waits = client
        .call("call_tool", json!({ "tool": "fixture__mutate", "arguments": { "effect_id": "x" } }))
        .await;
    assert_eq!(waits.result()["_meta"]["toolgate/pending"]["status"], "pending", "{}", waits.last());
    assert!(gate.receiver.counts().is_empty());
    let legacy = Legacy::open(&gate, ADMIN, json!({})).await;
    let listed = legacy.send("tools/list", json!({})).await;
    assert!(listed.result()["tools"].as_array().unwrap().len() > 5, "/mcp itself lists");
}

use serde_json::{Value, json};
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::port::executor::ToolFailure;

use super::{Output, outcome, rpc_error};

fn undeclared(result: Value) -> Value {
    let output = outcome("files", result, Output::Undeclared).unwrap();
    assert_eq!(output.content, None);
    output.value
}

fn error(result: Value, output: Output) -> CallError {
    match outcome("files", result, output) {
        Err(ToolFailure::Coded(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn structure_and_content_are_as_they_came() {
    let content = json!([
        { "type": "text", "text": "Here is the chart\r\n\u{1b}[1m\0" },
        { "type": "image", "data": "aGk=", "mimeType": "image/png" },
    ]);
    let structured = json!({ "sum": 3, "s": "a\r\0\u{1b}[31m" });
    let result = json!({ "content": content, "structuredContent": structured });
    let declared = outcome("files", result.clone(), Output::Declared).unwrap();
    assert_eq!(
        (declared.value, declared.content.map(Value::Array)),
        (structured.clone(), Some(content.clone()))
    );
    assert_eq!(undeclared(result), json!({ "content": content, "structured": structured }));
    let missing = error(json!({ "content": [] }), Output::Declared);
    assert_eq!(missing.code, ErrorCode::OutputInvalid);
}

#[test]
fn nothing_is_made_up() {
    assert_eq!(undeclared(json!({ "content": [] })), json!({ "content": [] }));
    assert_eq!(undeclared(json!({})), json!({ "content": [] }));
    assert_eq!(undeclared(json!({ "content": [], "structuredContent": null })), json!({ "content": [] }));
    let empty = outcome("files", json!({ "structuredContent": {} }), Output::Declared).unwrap();
    assert_eq!((empty.value, empty.content), (json!({}), Some(Vec::new())));
}

#[test]
fn notes_on_a_result_are_kept_under_names_that_are_theirs() {
    let said = json!({
        "com.example/trace": "7", "cost": { "usd": 1 }, "toolgate/call_id": "inv_1", "toolgate/error": {},
        "io.modelcontextprotocol/serverInfo": {}, "dev.mcp/y": 1, "Toolgate/x": 1, "toolgate": 1,
        "progressToken": 1, "a\"b": 1, "é": 1, "": 1,
    });
    let theirs = json!({ "com.example/trace": "7", "cost": { "usd": 1 } });
    for output in [Output::Declared, Output::Undeclared] {
        let result = json!({ "content": [], "structuredContent": {}, "_meta": said });
        let kept = outcome("files", result, output).unwrap().meta;
        assert_eq!(kept.map(Value::Object), Some(theirs.clone()));
    }
    let failed = error(json!({ "isError": true, "content": [], "_meta": said }), Output::Undeclared);
    assert_eq!(failed.details.unwrap()["meta"], theirs);
    let deep = (0..500).fold(json!(1), |inner, _| json!([inner]));
    for none in [json!("x"), json!({}), json!({ "a": "x".repeat(17_000) }), json!({ "a": deep })] {
        let result = json!({ "content": [], "_meta": none });
        assert_eq!(outcome("files", result, Output::Undeclared).unwrap().meta, None);
    }
}

#[test]
fn failures_are_the_servers_own_words() {
    let content = json!([
        { "type": "text", "text": format!("no\u{1b}[31m\n  File \"x\"\n{}", "x".repeat(9_000)) },
        { "type": "text", "text": "second\n" },
        { "type": "image", "data": "aGk=", "mimeType": "image/png" },
    ]);
    let result = json!({ "isError": true, "content": content, "structuredContent": { "errno": 2 } });
    let failed = error(result, Output::Declared);
    assert_eq!(failed.code, ErrorCode::Execution);
    assert!(
        failed.message.starts_with("the tool failed at `files`, which says: no File \"x\" xxx"),
        "{}",
        failed.message
    );
    assert!(failed.message.len() < 2_200);
    assert_eq!(failed.details, Some(json!({ "content": content, "structured": { "errno": 2 } })));
    let silent = error(json!({ "isError": true }), Output::Undeclared);
    assert_eq!(silent.message, "the tool failed at `files`, which says nothing about it");
    assert_eq!(silent.details, None);
    let refused = rpc_error("files", -32602, "bad\u{0} args");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (ErrorCode::Execution, "`files` refused the call; it says: bad args")
    );
    assert_eq!(rpc_error("files", -1, "x").code, ErrorCode::UpstreamFailed);
}

#[test]
fn failures_are_bounded() {
    let image = json!({ "type": "image", "data": "A".repeat(70_000), "mimeType": "image/png" });
    let text = json!({ "type": "text", "text": "é".repeat(50_000) });
    let structured = json!({ "trace": "x".repeat(70_000) });
    let result = json!({ "isError": true, "content": [image, text, text], "structuredContent": structured });
    let details = error(result, Output::Declared).details.unwrap();
    assert!(details.to_string().len() < 66 * 1024, "{}", details.to_string().len());
    assert_eq!(details["content"].as_array().unwrap().len(), 2);
    assert!(details["content"][0]["text"].as_str().unwrap().contains("too large for an error"));
    assert!(details["content"][1]["text"].as_str().unwrap().ends_with('…'));
    assert_eq!(details.get("structured"), None);
}

#[test]
fn questions_and_tasks_are_not_followed() {
    let asks = error(
        json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "elicitation/create", "params": {} } } }),
        Output::Undeclared,
    );
    assert_eq!(asks.code, ErrorCode::UpstreamFailed);
    assert_eq!(asks.details.unwrap()["asks"], json!(["elicitation/create"]));
    let task = error(json!({ "resultType": "task", "taskId": "1" }), Output::Undeclared);
    assert_eq!(task.details.unwrap()["result_type"], "task");
    assert_eq!(error(json!([]), Output::Undeclared).code, ErrorCode::UpstreamFailed);
    assert_eq!(error(json!({ "content": "x" }), Output::Undeclared).code, ErrorCode::UpstreamFailed);
}

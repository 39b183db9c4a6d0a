use serde_json::{Value, json};
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::port::executor::ToolFailure;

use super::{Output, outcome, rpc_error};

fn undeclared(result: Value) -> Value {
    outcome("files", result, Output::Undeclared).unwrap()
}

fn error(result: Value, output: Output) -> CallError {
    match outcome("files", result, output) {
        Err(ToolFailure::Coded(error)) => *error,
        other => panic!("{other:?}"),
    }
}

fn check_block(block: Value, expected: Value) {
    let value = undeclared(json!({ "content": [block] }));
    assert_eq!(value["content"][0], expected);
}

#[test]
fn text_is_kept_and_nothing_beside_it() {
    check_block(
        json!({ "type": "text", "text": "hi\u{0}\u{1b}[2J", "_meta": { "x": 1 }, "annotations": {}, "href": "x" }),
        json!({ "type": "text", "text": "hi" }),
    );
}

#[test]
fn pictures_are_pictures() {
    let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
    check_block(image.clone(), image);
    check_block(
        json!({ "type": "image", "data": "<svg onload=x>", "mimeType": "image/svg+xml" }),
        json!({ "type": "text", "text": "[withheld: an image that is none]" }),
    );
    check_block(
        json!({ "type": "audio", "data": "aGk=", "mimeType": "text/html" }),
        json!({ "type": "text", "text": "[withheld: an audio that is none]" }),
    );
}

#[test]
fn links_lead_only_where_anyone_could_go() {
    let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "n", "icons": [{ "src": "file:x" }] });
    check_block(
        link("https://example.com/a"),
        json!({ "type": "resource_link", "uri": "https://example.com/a", "name": "n" }),
    );
    for uri in [
        "file:///etc/passwd",
        "ui://app/page",
        "javascript:alert(1)",
        "http://169.254.169.254/latest",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://localhost/",
        "http://db.internal/",
        "http://intranet/",
        "https://user:pass@example.com/",
        "demo://resource/1",
        "not an address",
    ] {
        check_block(link(uri), json!({ "type": "text", "text": format!("[withheld: a link to `{uri}`]") }));
    }
}

#[test]
fn resources_lose_their_address_and_pages_are_not_shown() {
    let resource = |uri: &str, mime: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": "body" } });
    check_block(
        resource("demo://1", "text/plain"),
        json!({ "type": "text", "text": "[address withheld: `demo://1`]\nbody" }),
    );
    check_block(
        resource("https://example.com/1", "text/plain"),
        json!({ "type": "resource", "resource": { "uri": "https://example.com/1", "mimeType": "text/plain", "text": "body" } }),
    );
    for (uri, mime) in [("ui://app", "text/plain"), ("https://example.com/", "text/html;profile=mcp-app")] {
        check_block(
            resource(uri, mime),
            json!({ "type": "text", "text": format!("[withheld: the page `{uri}`]") }),
        );
    }
    check_block(
        json!({ "type": "resource", "resource": { "uri": "demo://1", "blob": "aGk=" } }),
        json!({ "type": "text", "text": "[withheld: the resource `demo://1`]" }),
    );
}

#[test]
fn what_is_unknown_is_named() {
    check_block(
        json!({ "type": "hologram", "x": 1 }),
        json!({ "type": "text", "text": "[withheld: a part of the unknown kind `hologram`]" }),
    );
    check_block(json!(3), json!({ "type": "text", "text": "[withheld: a part that is no content]" }));
    let many: Vec<Value> = (0..1_005).map(|_| json!({ "type": "text", "text": "x" })).collect();
    let value = undeclared(json!({ "content": many }));
    assert_eq!(value["content"].as_array().unwrap().len(), 1_001);
    assert_eq!(value["content"][1_000]["text"], "[withheld: 5 further parts]");
}

#[test]
fn a_declared_output_is_the_structured_one() {
    let result = json!({ "content": [{ "type": "text", "text": "{}" }], "structuredContent": { "sum": 3, "s": "a\u{0}" } });
    assert_eq!(outcome("files", result.clone(), Output::Declared).unwrap(), json!({ "sum": 3, "s": "a" }));
    assert_eq!(undeclared(result)["structured"], json!({ "sum": 3, "s": "a" }));
    let missing = error(json!({ "content": [] }), Output::Declared);
    assert_eq!(missing.code, ErrorCode::OutputInvalid);
}

#[test]
fn failures_are_the_servers_own_words() {
    let result = json!({ "isError": true, "content": [{ "type": "text", "text": format!("no\u{1b}[31m\n{}", "x".repeat(9_000)) }] });
    let failed = error(result, Output::Declared);
    assert_eq!(failed.code, ErrorCode::Execution);
    assert!(
        failed.message.starts_with("the tool failed at `files`, which says: no xxx"),
        "{}",
        failed.message
    );
    assert!(failed.message.len() < 2_200);
    assert_eq!(
        error(json!({ "isError": true }), Output::Undeclared).message,
        "the tool failed at `files`, which says nothing about it"
    );
    let refused = rpc_error("files", -32602, "bad\u{0} args");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (ErrorCode::Execution, "`files` refused the call; it says: bad args")
    );
    assert_eq!(rpc_error("files", -1, "x").code, ErrorCode::UpstreamFailed);
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

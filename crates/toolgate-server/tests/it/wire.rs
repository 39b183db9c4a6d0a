//! Shapes on the wire, as promised.

use serde_json::{Value, json};
use toolgate_core::error::Retry;

use crate::gate::{ADMIN, TestGate};

/// Takes out what differs from run to run.
fn steady(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| {
                    let steady_value = match key.as_str() {
                        "call_id" | "id" | "key_id" | "key" | "session_id" | "worker" | "session"
                        | "first_call_id"
                            if value.as_str().is_some_and(|text| text.len() == 36) =>
                        {
                            json!(format!("[{}]", value.as_str().unwrap().split('_').next().unwrap()))
                        }
                        "at" | "deadline" | "created_at" | "started_at" | "completed_at" | "at_micros" => {
                            json!("[time]")
                        }
                        "hash" | "prev_hash" => json!("[hash]"),
                        "gate_us" | "tool_us" => json!("[µs]"),
                        "tool_version" | "version" | "request_digest" | "digest" => json!("[digest]"),
                        "iso" | "unix_ms" | "date" | "time" | "weekday" => json!("[now]"),
                        _ => steady(value),
                    };
                    (key, steady_value)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(steady).collect()),
        other => other,
    }
}

#[tokio::test]
async fn a_result() {
    let gate = TestGate::start().await;
    insta::assert_json_snapshot!(steady(gate.invoke("core__get_current_time", json!({})).await.1));
}

#[tokio::test]
async fn a_refused_result() {
    let gate = TestGate::start().await;
    insta::assert_json_snapshot!(steady(
        gate.invoke("core__get_current_time", json!({ "timezone": 1, "x": 2 })).await.1
    ));
}

#[tokio::test]
async fn an_invocation_with_its_events() {
    let gate = TestGate::start().await;
    let (_, call) = gate.invoke("core__get_current_time", json!({ "timezone": "Europe/Berlin" })).await;
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    insta::assert_json_snapshot!(steady(row));
}

#[tokio::test]
async fn a_tool() {
    let gate = TestGate::start().await;
    insta::assert_json_snapshot!(steady(gate.get("/api/v1/tools/core__get_current_time").await.1));
}

#[tokio::test]
async fn me() {
    let gate = TestGate::start().await;
    insta::assert_json_snapshot!(gate.get("/api/v1/me").await.1);
}

#[tokio::test]
async fn errors_of_the_door() {
    let gate = TestGate::start().await;
    let anonymous = gate.send(None, "GET", "/api/v1/tools", None, &[]).await;
    let unknown = gate.get("/api/v1/invocations/inv_x").await;
    let wrong_shape = gate.post("/api/v1/tools/core__get_current_time/invoke", json!({ "inputs": {} })).await;
    insta::assert_json_snapshot!([anonymous, unknown, wrong_shape]);
}

#[tokio::test]
async fn pages_of_invocations_and_tools_do_not_overlap() {
    let gate = TestGate::start().await;
    for _ in 0..7 {
        gate.invoke("core__get_current_time", json!({})).await;
    }
    for (noun, path) in [("invocations", "/api/v1/invocations?limit=3"), ("tools", "/api/v1/tools?limit=3")] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let (_, page) = gate.get(&format!("{path}{cursor}")).await;
            let ids =
                page[noun].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
            seen.extend(ids);
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        let mut unique = seen.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), seen.len(), "{noun}");
        assert!(seen.len() >= 7, "{noun}: {seen:?}");
    }
}

#[tokio::test]
async fn the_export_is_the_record_line_by_line() {
    let gate = TestGate::start().await;
    gate.invoke("core__get_current_time", json!({})).await;
    gate.invoke("core__no_such", json!({})).await;
    let answer =
        gate.client.get(format!("{}/api/v1/audit/export", gate.url)).bearer_auth(ADMIN).send().await.unwrap();
    let text = answer.text().await.unwrap();
    let kinds: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .filter(|kind| kind != "admin.changed")
        .collect();
    assert_eq!(kinds, ["tool.started", "tool.completed", "tool.failed"]);
}

#[test]
fn every_answer_in_the_document_says_what_it_is() {
    let document = include_str!("../../../../docs/openapi.json");
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap());
    for (method, operation) in operations {
        for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
            let said = answer["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(said, "{method} {} {status}", operation["operationId"]);
        }
    }
}

#[test]
fn the_document_in_the_repository_is_current() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let current = serde_json::to_string_pretty(&toolgate_server::rest::document()).unwrap() + "\n";
    if std::env::var_os("TOOLGATE_UPDATE_DOCS").is_some() {
        std::fs::write(&file, &current).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == current, "docs/openapi.json is not current: run `make docs`");
}

/// Every code has its page, and every page its code.
#[test]
fn every_error_code_has_its_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut pages: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().to_str().unwrap().strip_suffix(".md").map(str::to_owned)
        })
        .filter(|name| name != "README")
        .collect();
    pages.sort();
    let mut codes: Vec<String> = toolgate_core::ErrorCode::ALL
        .iter()
        .map(|code| code.as_str())
        .chain(toolgate_api::DoorCode::ALL.iter().map(|code| code.as_str()))
        .chain([
            "registration.contract",
            "registration.malformed",
            "registration.missing_field",
            "registration.schema",
        ])
        .map(str::to_owned)
        .collect();
    codes.sort();
    assert_eq!(pages, codes);
    for code in toolgate_core::ErrorCode::ALL {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap();
        let advice = match code.retry() {
            Retry::Later => "makes sense later.",
            Retry::AfterChange => "makes sense after a change.",
            Retry::AfterSettlement => "makes sense after settlement.",
        };
        assert!(page.contains(advice), "{code}: its page must say `{advice}`");
    }
}

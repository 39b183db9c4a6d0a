//! Files in calls: named by id, checked for the caller, read by the tool, shown to whoever decides.

use serde_json::{Value, json};
use toolgate_server::ServerSettings;

use super::{CSV, code, content, send, sent};
use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

/// Everything runs, but profiles are asked for.
pub(super) const ASKING: &str = r#"
    @id("everything runs") permit (principal, action, resource);
    @id("profiles ask") forbid (principal, action == Toolgate::Action::"call_unattended",
        resource == Toolgate::Tool::"core__profile_csv");
"#;

fn place(answer: &Value) -> &str {
    answer["error"]["details"]["violations"][0]["path"].as_str().unwrap_or("nowhere")
}

#[tokio::test]
async fn a_tool_reads_the_file_it_is_handed() {
    let gate = TestGate::start().await;
    let mut rows = "n;word\n".to_owned();
    (0..60_000).for_each(|n| rows.push_str(&format!("{n};w{}\n", n % 3)));
    assert!(rows.len() > 512 * 1024, "more than two parts");
    let (_, file) = send(&gate, ADMIN, "rows.csv", "text/csv", rows).await;
    let (status, call) = gate.invoke("core__profile_csv", json!({ "file": file["id"] })).await;
    assert_eq!(status, 200, "{call}");
    let (summary, columns) = (&call["value"]["summary"], &call["value"]["columns"]);
    assert_eq!((&summary["rows"], &summary["column_count"]), (&json!(60_000), &json!(2)));
    assert_eq!(
        (&columns[0]["kind"], &columns[0]["mean"], &columns[0]["max"]),
        (&json!("integer"), &json!(29_999.5), &json!("59999"))
    );
    assert_eq!(columns[1]["distinct"], 3);
    gate.verify().await;
}

/// What is not there, not an id, someone else's or of another tenant is refused alike, by the place it stands at.
#[tokio::test]
async fn only_ones_own_files_can_be_handed_over() {
    let gate = TestGate::permissive().await;
    let tenant = NewCaller { tenant: "third", principal: "user:plain", ..NewCaller::default() };
    let plain = gate.caller(NewCaller { tenant: "default", principal: "user:plain", ..tenant }).await;
    let elsewhere = sent(&gate, OTHER_TENANT).await;
    let own = sent(&gate, &plain).await;
    let none = "fil_0199c0de0199c0de0199c0de0199c0de".to_owned();
    let mut answers = Vec::new();
    for id in [&elsewhere, &none] {
        let (status, call) = gate.invoke_as(&plain, "core__profile_csv", json!({ "file": id })).await;
        assert_eq!((status, code(&call), place(&call)), (422, "validation", "/file"), "{call}");
        answers.push(call["error"].to_string());
    }
    assert_eq!(answers[0], answers[1], "someone else's looks like none");
    let no_id = "x".repeat(36);
    let (status, call) = gate.invoke_as(&plain, "core__profile_csv", json!({ "file": no_id })).await;
    assert_eq!((status, code(&call), place(&call)), (422, "validation", "/file"), "{call}");
    let (status, call) = gate.invoke_as(&plain, "core__profile_csv", json!({ "file": own })).await;
    assert_eq!(status, 200, "{call}");
    gate.verify().await;
}

/// By the default policy nobody but managers reads others' files, by whatever tool.
#[tokio::test]
async fn other_peoples_files_are_for_managers() {
    let gate = TestGate::start().await;
    let others = sent(&gate, OTHER_USER).await;
    let (status, call) = gate.invoke_as(AGENT, "core__profile_csv", json!({ "file": others })).await;
    assert_eq!((status, code(&call)), (422, "validation"), "{call}");
    let (status, call) = gate.invoke("core__profile_csv", json!({ "file": others })).await;
    assert_eq!(status, 200, "{call}");
    let worker = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "agent:worker",
            subject: Some("user:other"),
            acts_for: &["user:other"],
            ..NewCaller::default()
        })
        .await;
    let (status, call) = gate.invoke_as(&worker, "core__profile_csv", json!({ "file": others })).await;
    assert_eq!(status, 200, "an agent reads what the person it works for has: {call}");
}

/// Whoever may decide on a call sees its files, and nobody sees more by naming them.
#[tokio::test]
async fn whoever_decides_sees_the_file_and_nothing_else() {
    let gate = TestGate::with(ServerSettings::default(), ASKING_BY_ROLE).await;
    let approver = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:approver",
            roles: &["approver"],
            ..NewCaller::default()
        })
        .await;
    let file = sent(&gate, OTHER_USER).await;
    let beside = sent(&gate, OTHER_USER).await;
    let (status, call) = gate.invoke_as(OTHER_USER, "core__profile_csv", json!({ "file": file })).await;
    assert_eq!(status, 202, "{call}");
    let id = call["call_id"].as_str().unwrap();
    let (list, bytes) =
        (format!("/api/v1/invocations/{id}/files"), format!("/api/v1/invocations/{id}/files/{file}"));
    for key in [&approver, OTHER_USER] {
        let (status, files) = gate.send(Some(key), "GET", &list, None, &[]).await;
        assert_eq!((status, &files["files"][0]["id"]), (200, &json!(file)), "{files}");
        let answer = content(&gate, key, &bytes).await;
        assert_eq!(
            answer.headers()["content-disposition"].to_str().unwrap().split(';').next(),
            Some("attachment")
        );
        assert_eq!(answer.bytes().await.unwrap(), CSV);
    }
    // The approver sees the file by the call, and not by itself; nor another of the same person.
    let no = async |key: &str, path: &str| {
        let (status, answer) = gate.send(Some(key), "GET", path, None, &[]).await;
        assert_eq!((status, code(&answer)), (404, "not_found"), "{path}");
    };
    no(&approver, &format!("/api/v1/files/{file}/content")).await;
    no(&approver, &format!("/api/v1/invocations/{id}/files/{beside}")).await;
    no(&approver, &format!("/api/v1/invocations/{id}/files/..%2f..%2fsecret")).await;
    for key in [AGENT, OTHER_TENANT] {
        no(key, &list).await;
        no(key, &bytes).await;
    }
    // Naming someone's file in a call of one's own, where no file belongs, opens nothing.
    let (_, own) = gate.invoke_as(AGENT, "core__get_current_time", json!({ "timezone": file })).await;
    let own = own["call_id"].as_str().unwrap();
    no(AGENT, &format!("/api/v1/invocations/{own}/files/{file}")).await;
    let (_, none) =
        gate.send(Some(AGENT), "GET", &format!("/api/v1/invocations/{own}/files"), None, &[]).await;
    assert_eq!(none["files"], json!([]));
}

/// Reads of others' calls and files need a role here.
const ASKING_BY_ROLE: &str = r#"
    @id("everyone calls") permit (principal, action in [Toolgate::Action::"see", Toolgate::Action::"call"], resource);
    @id("the rest runs") permit (principal, action == Toolgate::Action::"call_unattended", resource)
        unless { resource == Toolgate::Tool::"core__profile_csv" };
    @id("approvers decide") permit (principal in Toolgate::Role::"approver", action == Toolgate::Action::"approve", resource);
"#;

/// Removing a file takes it from a call that waits; that call fails with the place, and nothing ran.
#[tokio::test]
async fn a_file_removed_while_a_call_waits_fails_that_call() {
    let gate = TestGate::with(ServerSettings::default(), ASKING).await;
    let (file, other) = (sent(&gate, ADMIN).await, sent(&gate, ADMIN).await);
    let (_, first) = gate.invoke("core__profile_csv", json!({ "file": file })).await;
    let (_, second) = gate.invoke("core__profile_csv", json!({ "file": file })).await;
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{file}"), None, &[]).await.0, 204);
    let path = |call: &Value, word: &str| {
        format!("/api/v1/invocations/{}/{word}", call["call_id"].as_str().unwrap())
    };
    let (_, done) = gate.send(Some(ADMIN), "POST", &path(&first, "approve?wait=30"), None, &[]).await;
    assert_eq!(
        (&done["status"], code(&done), place(&done)),
        (&json!("failed"), "validation", "/file"),
        "{done}"
    );
    // Editing it to another file one has lets it run; to one that nobody has, it is refused.
    let gone = json!({ "input": { "file": file } });
    let (status, refused) = gate.send(Some(ADMIN), "POST", &path(&second, "edit"), Some(gone), &[]).await;
    assert_eq!((status, code(&refused)), (422, "validation"), "{refused}");
    let edit = json!({ "input": { "file": other } });
    let (status, edited) = gate.send(Some(ADMIN), "POST", &path(&second, "edit"), Some(edit), &[]).await;
    assert_eq!(status, 200, "{edited}");
    let (status, done) = gate.send(Some(ADMIN), "POST", &path(&second, "approve?wait=30"), None, &[]).await;
    assert_eq!((status, &done["value"]["summary"]["rows"]), (200, &json!(2)), "{done}");
    let (_, files) = gate.get(&path(&second, "files")).await;
    assert_eq!(files["files"].as_array().unwrap().len(), 1, "the one that is still there: {files}");
    gate.verify().await;
}

/// The same key returns the first result, though the file is gone by then.
#[tokio::test]
async fn a_repeat_needs_no_file() {
    let gate = TestGate::start().await;
    let file = sent(&gate, ADMIN).await;
    let body = json!({ "input": { "file": file } });
    let call = || {
        let path = "/api/v1/tools/core__profile_csv/invoke";
        gate.send(Some(ADMIN), "POST", path, Some(body.clone()), &[("idempotency-key", "once")])
    };
    let (_, first) = call().await;
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{file}"), None, &[]).await.0, 204);
    let (status, again) = call().await;
    assert_eq!(
        (status, &again["call_id"], &again["value"]),
        (200, &first["call_id"], &first["value"]),
        "{again}"
    );
}

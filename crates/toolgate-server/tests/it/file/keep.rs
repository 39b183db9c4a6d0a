//! What becomes of a file that is sent, and who sees it.

use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};
use toolgate_core::Timestamp;

use super::{CSV, all_room_is_back, code, content, files_of, own, send, sent};
use crate::browser::{Browser, PASSWORD};
use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_file_comes_back_as_it_was_sent() {
    let gate = TestGate::permissive().await;
    // Not a multiple of a part, and more than two of them.
    let bytes: Vec<u8> = (0..700_001_u32).map(|i| (i * 31 % 251) as u8).collect();
    let (status, file) =
        send(&gate, ADMIN, "../data/naïve q3.bin", "Application/X-Thing; v=1", bytes.clone()).await;
    assert_eq!(status, 201, "{file}");
    assert_eq!(file["name"], "naïve q3.bin");
    assert_eq!(file["media_type"], "application/x-thing");
    assert_eq!(file["size"], 700_001);
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(file["sha256"], digest);
    assert_eq!(
        (&file["owner"], &file["sent_by"], &file["image"]),
        (&json!("user:admin"), &json!("user:admin"), &json!(false))
    );
    let id = file["id"].as_str().unwrap();
    assert_eq!(gate.get(&format!("/api/v1/files/{id}")).await, (200, file.clone()));
    let (_, list) = gate.get("/api/v1/files").await;
    assert_eq!((&list["files"], &list["max_bytes"]), (&json!([file]), &json!(25 << 20)));

    let answer = content(&gate, ADMIN, &format!("/api/v1/files/{id}/content")).await;
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/octet-stream");
    assert_eq!(header("content-length"), "700001");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-security-policy").starts_with("sandbox"));
    assert_eq!(
        header("content-disposition"),
        "attachment; filename=\"na_ve q3.bin\"; filename*=UTF-8''na%C3%AFve%20q3.bin"
    );
    assert_eq!(answer.bytes().await.unwrap(), bytes);
    let (status, _) = gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/files/{id}"), None, &[]).await;
    assert_eq!(status, 204);
    for path in [format!("/api/v1/files/{id}"), format!("/api/v1/files/{id}/content")] {
        assert_eq!(gate.get(&path).await.0, 404);
    }
    assert_eq!(own(&gate).await, [""; 0]);
    all_room_is_back(&gate).await;
    gate.verify().await;
}

#[tokio::test]
async fn an_empty_file_is_a_file() {
    let gate = TestGate::permissive().await;
    let (status, file) = send(&gate, ADMIN, "empty.txt", "text/plain", "").await;
    assert_eq!((status, &file["size"]), (201, &json!(0)), "{file}");
    let path = format!("/api/v1/files/{}/content", file["id"].as_str().unwrap());
    assert_eq!(content(&gate, ADMIN, &path).await.bytes().await.unwrap().len(), 0);
}

/// One's own, for an agent those of the person it works for; other people's only for who manages files.
#[tokio::test]
async fn files_are_their_owners() {
    let gate = TestGate::start().await;
    let for_other = NewCaller {
        tenant: "default",
        principal: "agent:worker",
        subject: Some("user:other"),
        acts_for: &["user:other"],
        ..NewCaller::default()
    };
    let worker = gate.caller(for_other).await;
    let others = sent(&gate, OTHER_USER).await;
    let agents = sent(&gate, AGENT).await;
    let workers = sent(&gate, &worker).await;
    let path = |id: &str| format!("/api/v1/files/{id}");
    let sees = async |key: &str, id: &str| {
        let (status, answer) = gate.send(Some(key), "GET", &path(id), None, &[]).await;
        let (bytes, _) = gate.send(Some(key), "GET", &format!("{}/content", path(id)), None, &[]).await;
        assert_eq!(status, bytes);
        assert!(status == 200 || code(&answer) == "not_found", "{answer}");
        status == 200
    };
    // Sent for a person, it is the person's.
    let (_, file) = gate.send(Some(OTHER_USER), "GET", &path(&workers), None, &[]).await;
    assert_eq!((&file["owner"], &file["sent_by"]), (&json!("user:other"), &json!("agent:worker")));
    for (key, id, expected) in [
        (OTHER_USER, &others, true),
        (OTHER_USER, &agents, false),
        (OTHER_USER, &workers, true),
        (worker.as_str(), &others, true),
        (worker.as_str(), &agents, false),
        (AGENT, &agents, true),
        (AGENT, &others, false),
        (AGENT, &workers, false),
        (OTHER_TENANT, &others, false),
        (OTHER_TENANT, &agents, false),
        (ADMIN, &others, true),
    ] {
        assert_eq!(sees(key, id).await, expected, "{key} {id}");
    }
    assert_eq!(files_of(&gate, OTHER_USER).await, [workers.clone(), others.clone()]);
    assert_eq!(files_of(&gate, AGENT).await, std::slice::from_ref(&agents));
    assert_eq!(files_of(&gate, OTHER_TENANT).await, [""; 0]);
    let list = async |key: &str, query: &str| {
        let (status, list) = gate.send(Some(key), "GET", &format!("/api/v1/files?{query}"), None, &[]).await;
        (status, list["files"].as_array().map_or(0, Vec::len))
    };
    assert_eq!(list(ADMIN, "all=true").await, (200, 3));
    assert_eq!(list(ADMIN, "owner=user:other").await, (200, 2));
    assert_eq!(list(OTHER_USER, "owner=user:other").await, (200, 2));
    assert_eq!(list(OTHER_USER, "all=true").await.0, 403);
    assert_eq!(list(OTHER_USER, "owner=user:admin").await.0, 403);
    assert_eq!(list(OTHER_TENANT, "all=true").await, (200, 0));
    assert_eq!(list(ADMIN, "all=true&owner=user:other").await.0, 400);
    // Removing is for the same, and what a manager removes is on the record.
    for key in [AGENT, OTHER_TENANT] {
        assert_eq!(gate.send(Some(key), "DELETE", &path(&others), None, &[]).await.0, 404);
    }
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &path(&others), None, &[]).await.0, 204);
    let (_, export) = gate.get("/api/v1/audit/export").await;
    assert!(export.to_string().contains("file.removed"));
    assert!(!export.to_string().contains("q3.csv"), "what it was called stays out of the record");
    gate.verify().await;
}

#[tokio::test]
async fn a_key_for_other_things_has_no_files() {
    let gate = TestGate::start().await;
    let key = |scopes: &'static [&'static str]| NewCaller {
        tenant: "default",
        principal: "user:admin",
        roles: &["admin"],
        scopes,
        ..NewCaller::default()
    };
    let approver = gate.caller(key(&["approve"])).await;
    let (status, refused) = send(&gate, &approver, "x.csv", "text/csv", CSV).await;
    assert_eq!((status, code(&refused)), (403, "forbidden"));
    assert_eq!(gate.send(Some(&approver), "GET", "/api/v1/files", None, &[]).await.0, 403);
    let caller = gate.caller(key(&["tool:core__*"])).await;
    sent(&gate, &caller).await;
    let others = sent(&gate, OTHER_USER).await;
    let (status, _) = gate.send(Some(&caller), "GET", &format!("/api/v1/files/{others}"), None, &[]).await;
    assert_eq!(status, 404, "a key for calling tools manages nothing");
}

#[tokio::test]
async fn a_browser_sends_with_its_token_and_not_without() {
    let gate = TestGate::start().await;
    let (_, link) = gate.post("/api/v1/principals/user:other/invite", json!({})).await;
    let token = link["token"]
        .as_str()
        .map(str::to_owned)
        .unwrap_or_else(|| link["url"].as_str().unwrap().split("token=").nth(1).unwrap().to_owned());
    gate.send(
        None,
        "POST",
        "/api/v1/auth/accept",
        Some(json!({ "token": token, "password": PASSWORD })),
        &[],
    )
    .await;
    let browser = Browser::signed_in(&gate, "other").await;
    let cookie =
        browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
    let post = |csrf: Option<String>| {
        let request = gate
            .client
            .post(format!("{}/api/v1/files?name=a.csv", gate.url))
            .header("cookie", &cookie)
            .header("content-type", "text/csv")
            .body(CSV);
        match csrf {
            Some(token) => request.header("x-toolgate-csrf", token),
            None => request,
        }
    };
    assert_eq!(post(None).send().await.unwrap().status(), 403);
    assert_eq!(post(Some("wrong".to_owned())).send().await.unwrap().status(), 403);
    assert_eq!(post(Some(browser.csrf.clone())).send().await.unwrap().status(), 201);
    assert_eq!(files_of(&gate, OTHER_USER).await.len(), 1);
}

/// Files go when their time is over, but not from under a call that waits for a person.
#[tokio::test]
async fn what_is_over_is_swept_and_what_is_needed_is_kept() {
    let gate = TestGate::with(toolgate_server::ServerSettings::default(), super::call::ASKING).await;
    let (idle, needed) = (sent(&gate, ADMIN).await, sent(&gate, ADMIN).await);
    let (status, call) = gate.invoke("core__profile_csv", json!({ "file": needed })).await;
    assert_eq!((status, &call["status"]), (202, &json!("pending")), "{call}");
    let month = gate.runner.parts().clock.now().plus(Duration::from_secs(30 * 24 * 60 * 60));
    let minutes = |minutes: u64| month.plus(Duration::from_secs(minutes * 60));
    let sweep = async |at: Timestamp| gate.app.sweep_files(at).await.unwrap();
    sweep(minutes(0)).await;
    assert_eq!(own(&gate).await.len(), 2, "calls that began just now have their while");
    sweep(minutes(10)).await;
    assert_eq!(own(&gate).await, std::slice::from_ref(&needed));
    assert_eq!(gate.get(&format!("/api/v1/files/{idle}")).await.0, 404);
    let approve = format!("/api/v1/invocations/{}/approve?wait=30", call["call_id"].as_str().unwrap());
    let (status, done) = gate.send(Some(ADMIN), "POST", &approve, None, &[]).await;
    assert_eq!((status, &done["value"]["summary"]["rows"]), (200, &json!(2)), "{done}");
    sweep(minutes(200)).await;
    assert_eq!(own(&gate).await, [""; 0], "nobody needs it any more");
    all_room_is_back(&gate).await;
    gate.verify().await;
}

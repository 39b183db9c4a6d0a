//! Files of the wrong kind: refused when they are sent for a field, and when a call names them.

use serde_json::{Value, json};
use toolgate_app::FileSettings;

use super::{CSV, code, gate_with, own, send};
use crate::gate::{ADMIN, TestGate};

async fn send_for(gate: &TestGate, name: &str, kind: &str, accept: &str) -> (u16, Value) {
    let params = [("name", name), ("accept", accept)];
    let url = reqwest::Url::parse_with_params(&format!("{}/api/v1/files", gate.url), params).unwrap();
    let request = gate.client.post(url).bearer_auth(ADMIN).header("content-type", kind).body(CSV);
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_as_it_is_sent() {
    let gate = gate_with(FileSettings::default()).await;
    for (name, kind) in [("q3.csv", "application/octet-stream"), ("q3", "text/csv"), ("Q3.CSV", "text/plain")]
    {
        let (status, file) = send_for(&gate, name, kind, "text/csv, .csv").await;
        assert_eq!(status, 201, "{name} {kind}: {file}");
    }
    let kept = own(&gate).await.len();
    let (status, refused) = send_for(&gate, "photo.png", "image/png", "text/csv,.csv").await;
    assert_eq!((status, code(&refused)), (415, "unsupported_media_type"));
    assert_eq!(refused["error"]["message"], "the file is not of the kind `text/csv` or `.csv`");
    assert!(refused["error"]["hint"].as_str().is_some_and(|hint| hint.contains("choose another file")));
    assert_eq!(own(&gate).await.len(), kept, "nothing is kept of it");
    // What names no kind asks for none.
    let (status, _) = send_for(&gate, "photo.png", "image/png", "anything at all").await;
    assert_eq!(status, 201);
    let (status, refused) = send_for(&gate, "q3.csv", "text/csv", &".csv,".repeat(2_000)).await;
    assert_eq!((status, code(&refused)), (400, "bad_request"));
}

#[tokio::test]
async fn a_call_takes_no_file_of_another_kind() {
    let gate = gate_with(FileSettings::default()).await;
    let (_, photo) = send(&gate, ADMIN, "photo.png", "image/png", CSV).await;
    let (status, call) = gate.invoke("core__profile_csv", json!({ "file": photo["id"] })).await;
    assert_eq!((status, code(&call)), (422, "validation"), "{call}");
    let violation = &call["error"]["details"]["violations"][0];
    assert_eq!(violation["path"], "/file");
    assert_eq!(violation["message"], "must be a file of the kind `text/csv`, `.csv` or `.tsv`");
    assert!(!call.to_string().contains("photo"), "what it was called stays out of the message: {call}");

    let (_, table) = send(&gate, ADMIN, "q3.tsv", "application/octet-stream", CSV).await;
    let (status, call) = gate.invoke("core__profile_csv", json!({ "file": table["id"] })).await;
    assert_eq!(status, 200, "{call}");
}

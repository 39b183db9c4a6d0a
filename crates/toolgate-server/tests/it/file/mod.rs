//! Files: sent, kept, handed to tools, and tried as attackers would.

mod attack;
mod call;
mod keep;
mod kind;

use serde_json::Value;
use toolgate_app::FileSettings;
use toolgate_server::ServerSettings;

use crate::gate::{ADMIN, TestGate};

pub(crate) const CSV: &[u8] = b"region,amount\nNorth,10\nSouth,2.5\n";

/// A gate with these rules for files, where everything may run.
async fn gate_with(settings: FileSettings) -> TestGate {
    TestGate::with_app(ServerSettings::default(), crate::gate::PERMISSIVE, |app| app.with_files(settings))
        .await
}

/// Sends a file as someone.
async fn send(
    gate: &TestGate,
    key: &str,
    name: &str,
    kind: &str,
    bytes: impl Into<reqwest::Body>,
) -> (u16, Value) {
    let url =
        reqwest::Url::parse_with_params(&format!("{}/api/v1/files", gate.url), [("name", name)]).unwrap();
    let answer =
        gate.client.post(url).bearer_auth(key).header("content-type", kind).body(bytes).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap())
}

/// Sends a CSV file as the administrator and returns its id.
async fn sent(gate: &TestGate, key: &str) -> String {
    let (status, file) = send(gate, key, "q3.csv", "text/csv", CSV).await;
    assert_eq!(status, 201, "{file}");
    file["id"].as_str().unwrap().to_owned()
}

async fn content(gate: &TestGate, key: &str, path: &str) -> reqwest::Response {
    gate.client.get(format!("{}{path}", gate.url)).bearer_auth(key).send().await.unwrap()
}

async fn files_of(gate: &TestGate, key: &str) -> Vec<String> {
    let (status, list) = gate.send(Some(key), "GET", "/api/v1/files", None, &[]).await;
    assert_eq!(status, 200, "{list}");
    list["files"].as_array().unwrap().iter().map(|file| file["id"].as_str().unwrap().to_owned()).collect()
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

async fn all_room_is_back(gate: &TestGate) {
    // With room for one empty file alone, there is none for it while anything else is counted.
    use toolgate_core::file::COUNTED_BYTES;
    use toolgate_core::id::{FileId, TenantId};
    use toolgate_core::port::file::{NewFile, Room};
    let (store, now) = (gate.app.store(), toolgate_core::Timestamp::from_micros(1));
    let file = NewFile {
        id: FileId::generate(),
        tenant: TenantId::default_tenant(),
        owner: "user:admin".parse().unwrap(),
        sent_by: "user:admin".parse().unwrap(),
        name: "x".to_owned(),
        media_type: "text/plain".to_owned(),
        created_at: now,
        given_up_at: now,
    };
    assert_eq!(store.begin_file(file, COUNTED_BYTES).await.unwrap(), Room::Taken, "something is left behind");
}

/// The administrator's files in short.
async fn own(gate: &TestGate) -> Vec<String> {
    files_of(gate, ADMIN).await
}

//! Clients that ask and do not read.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use super::{BOTH, MODERN, Modern};
use crate::gate::{ADMIN, TestGate};

/// A request whose answer stays in the network, where little of it has room.
async fn ask_without_reading(gate: &TestGate, body: &Value) -> TcpStream {
    let address = gate.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let (body, name) = (body.to_string(), body["params"]["name"].as_str().unwrap());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {ADMIN}\r\naccept: {BOTH}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nmcp-protocol-version: {MODERN}\r\n\
         mcp-method: tools/call\r\nmcp-name: {name}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn progress_that_nobody_reads_is_left_out_and_the_answer_is_not() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let params = json!({
        "name": "fixture__slow_read",
        "arguments": { "milliseconds": 0, "reports": 150, "message_bytes": 60_000 },
        "_meta": { "progressToken": 7, "toolgate/wait_seconds": 300 },
    });
    let mut stream = ask_without_reading(&gate, &client.body(json!(1), "tools/call", params)).await;
    loop {
        let (_, listed) = gate.get("/api/v1/invocations?tool=fixture__slow_read").await;
        if listed["invocations"][0]["status"] == "completed" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let told = text.matches("notifications/progress").count();
    assert!((1..120).contains(&told), "{told} reports of 150 were kept");
    assert!(text.contains("\"structuredContent\":{\"milliseconds\":0}"), "the answer is there");
}

#[tokio::test]
async fn an_answer_without_room_is_told_of() {
    let mut settings = ServerSettings::default();
    settings.unread.caller = 100_000;
    let gate = TestGate::with(settings, Policies::default_set().0).await;
    let client = Modern::new(&gate, ADMIN);
    let answer = client.call("fixture__misbehave", json!({ "how": "large" })).await;
    assert_eq!(answer.error(), (429, -32603, "unread"));
    let (_, listed) = gate.get("/api/v1/invocations?tool=fixture__misbehave").await;
    assert_eq!(listed["invocations"][0]["status"], "completed", "it was made and is in the record");
    // What is small is answered, and what was read takes no room.
    for _ in 0..3 {
        let answer = client.call("core__get_current_time", json!({})).await;
        assert_eq!(answer.result()["isError"], Value::Null, "{}", answer.last());
    }
}

//! Servers that people really run, from npm and PyPI.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use toolgate_core::ErrorCode;
use toolgate_core::contract::Effect;
use toolgate_core::input_request::InputRequest;
use toolgate_core::upstream::Transport;

use crate::plane::{Plane, stdio, upstream};
use crate::question::{answer, asking, returned, row};

/// Where the servers are installed; installs them first if they are not there.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let output = Command::new(root.join("scripts/need-peers")).output().expect("bash runs");
        assert!(output.status.success(), "need-peers: {}", String::from_utf8_lossy(&output.stderr));
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        target.join("mcp").canonicalize().unwrap()
    })
}

fn npm(name: &str) -> PathBuf {
    installed().join("peers/node_modules/.bin").join(name)
}

fn python(name: &str) -> PathBuf {
    installed().join("python-peers/bin").join(name)
}

fn names(offers: &[toolgate_core::upstream::Offer]) -> Vec<&str> {
    offers.iter().map(|offer| offer.name.as_str()).collect()
}

fn text(value: &Value) -> &str {
    value["content"][0]["text"].as_str().unwrap()
}

async fn everything(plane: &Plane) {
    let listing = plane.accept(Effect::Read).await;
    assert_eq!(listing.protocol, "2025-11-25");
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    assert!(names(&listing.tools).contains(&"echo"), "{:?}", names(&listing.tools));
    let echo = plane.value("echo", json!({ "message": "hello" })).await;
    assert_eq!(text(&echo), "Echo: hello");
    let weather = plane.value("get-structured-content", json!({ "location": "New York" })).await;
    assert!(weather["temperature"].is_number(), "{weather}");
    let image = plane.value("get-tiny-image", json!({})).await;
    assert!(image["content"].as_array().unwrap().iter().any(|block| block["type"] == "image"), "{image}");
    let links = plane.value("get-resource-links", json!({ "count": 2 })).await;
    let withheld = links["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["text"].as_str().is_some_and(|text| text.starts_with("[withheld: a link")));
    assert_eq!(withheld.count(), 2, "{links}");
    let file =
        plane.value("get-resource-reference", json!({ "resourceType": "Blob", "resourceId": 1 })).await;
    let file = file["content"].as_array().unwrap().iter().find(|block| block["type"] == "resource").unwrap();
    assert!(
        file["resource"]["uri"].as_str().unwrap().starts_with("toolgate://servers/peer/demo://"),
        "{file}"
    );
    assert!(file["resource"]["blob"].as_str().is_some_and(|blob| !blob.is_empty()), "{file}");
    let research = plane.value("simulate-research-query", json!({ "topic": "gates" })).await;
    assert!(text(&research).contains("gates"), "{research}");
    let long = json!({ "duration": 0.3, "steps": 3 });
    assert!(plane.call("trigger-long-running-operation", long).await.ok);
}

#[tokio::test]
async fn everything_by_stdio() {
    everything(&Plane::new(stdio(npm("mcp-server-everything"), &["stdio"])).await).await;
}

#[tokio::test]
async fn everything_by_http() {
    everything_at("streamableHttp", "/mcp").await;
}

/// The transport of before 2025, which it speaks at an address of its own.
#[tokio::test]
async fn everything_by_http_and_events() {
    everything_at("sse", "/sse").await;
}

async fn everything_at(transport: &str, path: &str) {
    let port = free_port();
    let mut process = tokio::process::Command::new(npm("mcp-server-everything"))
        .arg(transport)
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("on port") {
            break;
        }
    }
    let url = format!("http://127.0.0.1:{port}{path}");
    everything(&Plane::new(upstream(Transport::Http { url, headers: [].into() })).await).await;
}

/// Every kind of field there is, as the reference server asks for them.
#[tokio::test]
async fn everything_asks_a_person() {
    let plane = asking(stdio(npm("mcp-server-everything"), &["stdio"])).await;
    let call = plane.call("trigger-elicitation-request", json!({})).await;
    let asks = call.asks.unwrap_or_else(|| panic!("{:?}", call.error));
    let shown = row(&plane, asks).await.input().to_value();
    let shown: InputRequest = serde_json::from_value(shown).unwrap();
    let questions = shown.questions.as_ref().unwrap();
    let given: Value =
        questions.iter().filter_map(|asked| Some((asked.id.clone(), asked.default.clone()?))).collect();
    assert!(given.as_object().unwrap().len() >= 7, "what has a default keeps it: {given}");
    let mut given = given;
    given["name"] = json!("Ada");
    given["check"] = json!(true);
    given["email"] = json!("ada@example.com");
    answer(&plane, asks, shown.answer(&given).unwrap()).await;
    let returned = returned(&plane, call.call_id).await;
    assert!(text(&returned).contains("provided the requested information"), "{returned}");
    assert!(returned.to_string().contains("Name: Ada"), "{returned}");
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("a.txt"), "hello\r\n").unwrap();
    let plane = Plane::new(stdio(npm("mcp-server-filesystem"), &[path.to_str().unwrap()])).await;
    let listing = plane.accept(Effect::Mutate).await;
    assert!(listing.tools.iter().all(|offer| offer.output_schema.is_some()), "all of them declare an output");
    let read = plane.value("read_text_file", json!({ "path": path.join("a.txt") })).await;
    assert_eq!(read, json!({ "content": "hello\r\n" }));
    let told = plane.call("read_text_file", json!({ "path": path.join("a.txt") })).await.content.unwrap();
    assert_eq!(told.to_value(), json!([{ "type": "text", "text": "hello\r\n" }]));
    let refused = plane.error("read_text_file", json!({ "path": "/etc/passwd" }), ErrorCode::Execution).await;
    assert!(refused.message.contains("which says: Access denied"), "{refused:?}");
    plane.error("read_text_file", json!({}), ErrorCode::Validation).await;
}

#[tokio::test]
async fn memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = stdio(npm("mcp-server-memory"), &[]);
    if let Transport::Stdio { env, .. } = &mut server.transport {
        env.insert("MEMORY_FILE_PATH".to_owned(), folder.path().join("m.json").to_str().unwrap().to_owned());
    }
    let plane = Plane::new(server).await;
    plane.accept(Effect::Mutate).await;
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["counts"] });
    let made = plane.value("create_entities", json!({ "entities": [ada] })).await;
    assert_eq!(made["entities"][0]["name"], "Ada");
    let found = plane.value("search_nodes", json!({ "query": "Ada" })).await;
    assert_eq!(found["entities"][0]["observations"], json!(["counts"]));
}

#[tokio::test]
async fn time() {
    let plane = Plane::new(stdio(python("mcp-server-time"), &[])).await;
    let listing = plane.accept(Effect::Read).await;
    assert_eq!(listing.protocol, "2026-07-28", "it speaks both, and the newer is tried first");
    let now = plane.call("get_current_time", json!({ "timezone": "Europe/Berlin" })).await;
    assert!(now.ok, "{:?}", now.error);
    plane.error("get_current_time", json!({ "timezone": "Mars/Olympus" }), ErrorCode::Execution).await;
}

#[tokio::test]
async fn git() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().to_str().unwrap();
    assert!(Command::new("git").args(["init", "-q", repository]).status().unwrap().success());
    let plane = Plane::new(stdio(python("mcp-server-git"), &["--repository", repository])).await;
    plane.accept(Effect::Read).await;
    let status = plane.value("git_status", json!({ "repo_path": repository })).await;
    assert!(status.to_string().contains("No commits yet"), "{status}");
}

#[tokio::test]
async fn fetch() {
    let plane = Plane::new(stdio(python("mcp-server-fetch"), &["--ignore-robots-txt"])).await;
    let listing = plane.accept(Effect::Read).await;
    assert_eq!(names(&listing.tools), ["fetch"]);
    // Nothing listens there.
    let input = json!({ "url": format!("http://127.0.0.1:{}/", free_port()) });
    plane.error("fetch", input, ErrorCode::Execution).await;
}

#[tokio::test]
async fn an_old_protocol() {
    let plane = Plane::new(stdio(npm("mcp-server-postgres"), &["postgresql://127.0.0.1:1/x"])).await;
    let listing = plane.accept(Effect::Read).await;
    assert_eq!(listing.protocol, "2024-11-05");
    assert_eq!(names(&listing.tools), ["query"]);
    let error = plane.call("query", json!({ "sql": "select 1" })).await.error.unwrap();
    assert!(matches!(error.code, ErrorCode::UpstreamFailed | ErrorCode::Execution), "{error:?}");
}

//! Input made to hurt: a clear coded error each, and the gate goes on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use crate::gate::{ADMIN, TestGate};

const PATH: &str = "/api/v1/tools/core__get_current_time/invoke";

async fn raw(gate: &TestGate, body: impl Into<reqwest::Body>, content_type: &str) -> (u16, Value) {
    let answer = gate
        .client
        .post(format!("{}{PATH}", gate.url))
        .bearer_auth(ADMIN)
        .header("content-type", content_type)
        .body(body)
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn bodies_made_to_hurt_get_a_coded_error() {
    let gate = TestGate::start().await;
    let deep = format!("{{\"input\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_input = format!("{{\"input\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    let many_keys = {
        let fields: Vec<String> = (0..10_000).map(|i| format!("\"k{i}\":{i}")).collect();
        format!("{{\"input\":{{{}}}}}", fields.join(","))
    };
    let cases: Vec<(&str, Vec<u8>, u16, &str)> = vec![
        ("not JSON", b"{".to_vec(), 400, "invalid_json"),
        ("empty", b"".to_vec(), 400, "invalid_json"),
        ("two values", b"{} {}".to_vec(), 400, "invalid_json"),
        ("bad UTF-8", b"{\"input\":{\"timezone\":\"\xff\xfe\"}}".to_vec(), 400, "invalid_json"),
        ("lone surrogate", br#"{"input":{"timezone":"\ud800"}}"#.to_vec(), 400, "invalid_json"),
        ("deep body", deep.into_bytes(), 400, "invalid_json"),
        ("only brackets", vec![b'['; 500_000], 400, "invalid_json"),
        ("deep input", deep_input.into_bytes(), 422, "validation"),
        ("huge number", b"{\"input\":{\"timezone\":1e999}}".to_vec(), 400, "invalid_json"),
        (
            "long number",
            format!("{{\"input\":{{\"timezone\":{}}}}}", "9".repeat(5000)).into_bytes(),
            422,
            "validation",
        ),
        ("an array", b"[]".to_vec(), 400, "bad_request"),
        ("a string", b"\"x\"".to_vec(), 400, "bad_request"),
        ("an unknown field", b"{\"input\":{},\"subject\":\"user:admin\"}".to_vec(), 400, "bad_request"),
        ("a wrong type", b"{\"input\":{},\"session_id\":7}".to_vec(), 400, "bad_request"),
        ("a bad id", b"{\"input\":{},\"session_id\":\"../../etc\"}".to_vec(), 400, "bad_request"),
        ("a key twice", b"{\"input\":{\"timezone\":\"UTC\",\"timezone\":\"x\"}}".to_vec(), 422, "validation"),
        ("10,000 keys", many_keys.into_bytes(), 422, "validation"),
        ("too large", vec![b' '; (1 << 20) + 1], 413, "payload_too_large"),
        ("NUL", b"{\"input\":{\"timezone\":\"\\u0000\"}}".to_vec(), 422, "execution"),
    ];
    for (what, body, status, code) in cases {
        let (got, answer) = raw(&gate, body, "application/json").await;
        assert_eq!(
            (got, answer["error"]["code"].as_str().unwrap_or("none")),
            (status, code),
            "{what}: {answer}"
        );
        assert!(answer["error"]["message"].is_string(), "{what}");
        assert!(answer.to_string().len() < 4096, "{what}: an error is small, whatever came in");
    }
    let (status, answer) = raw(&gate, "{\"input\":{}}", "text/plain").await;
    assert_eq!((status, &answer["error"]["code"]), (415, &json!("unsupported_media_type")));
    for (kind, expected) in [
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=\"UTF-8\"", 200),
        ("application/json; charset=utf-16", 415),
        ("application/json; boundary=x; charset=latin1", 415),
    ] {
        assert_eq!(raw(&gate, "{\"input\":{}}", kind).await.0, expected, "{kind}");
    }
    let (_, twice) = raw(&gate, "{\"input\":{\"a\":[{\"to\":1,\"to\":2}]}}", "application/json").await;
    assert_eq!(twice["error"]["message"], "the input says `to` twice");
    gate.verify().await;
}

#[tokio::test]
async fn addresses_made_to_hurt_are_not_found_or_refused() {
    let gate = TestGate::start().await;
    for (path, status) in [
        ("/api/v1/tools/..%2f..%2fetc%2fpasswd", 404),
        ("/api/v1/tools/core__%00", 404),
        ("/api/v1/tools/%ff%fe", 404),
        ("/api/v1/tools/%F0%9F%92%A5", 404),
        ("/api/v1/invocations/inv_zzz", 404),
        ("/api/v1/invocations/inv_00000000000000000000000000000000", 404),
        ("/api/v1/sessions/ses_00000000000000000000000000000000/events", 404),
        ("/api/v1/invocations?limit=0", 400),
        ("/api/v1/invocations?limit=1000000", 400),
        ("/api/v1/invocations?limit=-1", 400),
        ("/api/v1/invocations?cursor=x", 400),
        ("/api/v1/invocations?status=done", 400),
        ("/api/v1/invocations?since=yesterday", 400),
        ("/api/v1/invocations?no_such=1", 400),
        ("/api/v1/tools?cursor=%27%3B%20DROP%20TABLE%20tools", 200),
        ("/api/v1/nothing", 404),
    ] {
        let (got, body) = gate.get(path).await;
        assert_eq!(got, status, "{path}: {body}");
        if got != 200 {
            assert!(body["error"]["code"].is_string(), "{path}: {body}");
        }
    }
    let (status, body) = gate.send(Some(ADMIN), "DELETE", "/api/v1/tools", None, &[]).await;
    assert_eq!((status, &body["error"]["code"]), (405, &json!("method_not_allowed")));
    for wait in ["-1", "301", "NaN", "inf", "1e9", "x"] {
        let (status, _) = gate.post(&format!("{PATH}?wait={wait}"), json!({ "input": {} })).await;
        assert_eq!(status, 400, "wait={wait}");
    }
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused_everywhere() {
    let gate = TestGate::start().await;
    for path in ["/", "/healthz", "/readyz", "/metrics", "/api/v1/tools", "/api/v1/openapi.json", "/nothing"]
    {
        let (status, _) = gate.send(Some(ADMIN), "GET", path, None, &[("host", "evil.example")]).await;
        assert_eq!(status, 403, "{path}");
        for origin in ["http://evil.example", "null", "http://localhost:1"] {
            let (status, _) = gate.send(Some(ADMIN), "GET", path, None, &[("origin", origin)]).await;
            assert_eq!(status, 403, "{path} from {origin}");
        }
    }
    let answer = gate
        .client
        .request(reqwest::Method::OPTIONS, format!("{}{PATH}", gate.url))
        .header("origin", "http://evil.example")
        .header("access-control-request-method", "POST")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 403);
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}

fn impatient() -> ServerSettings {
    ServerSettings {
        body_timeout: Duration::from_millis(300),
        header_timeout: Duration::from_millis(300),
        max_connections: 8,
        ..ServerSettings::default()
    }
}

#[tokio::test]
async fn slow_clients_are_let_go() {
    let gate = TestGate::with(impatient(), Policies::default_set().0).await;
    let address = gate.url.strip_prefix("http://").unwrap();

    let mut slow_headers = TcpStream::connect(address).await.unwrap();
    slow_headers.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\nx-").await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), slow_headers.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();

    let mut slow_body = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ADMIN}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    slow_body.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read =
        tokio::time::timeout(Duration::from_secs(5), slow_body.read(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("request_timeout"), "{answer}");
}

#[tokio::test]
async fn many_idle_connections_do_not_shut_others_out_for_long() {
    let gate = TestGate::with(impatient(), Policies::default_set().0).await;
    let address = gate.url.strip_prefix("http://").unwrap().to_owned();
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(TcpStream::connect(&address).await.unwrap());
    }
    // The idle ones are let go when their patience is over; then there is room.
    let (status, _) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn headers_made_to_hurt_are_refused() {
    let gate = TestGate::start().await;
    for value in
        ["", "Bearer", "Bearer ", "Basic abc", "Bearer \u{e9}", &format!("Bearer {}", "x".repeat(10_000))]
    {
        let request = gate.client.get(format!("{}/api/v1/tools", gate.url));
        let answer = request.header("authorization", value).send().await.unwrap();
        assert_eq!(answer.status(), 401, "{value:.20}");
        let challenge = if value.len() > 100 { "Bearer error=\"invalid_token\"" } else { "Bearer" };
        assert_eq!(answer.headers()["www-authenticate"], challenge, "{value:.20}");
    }
    for (method, path) in [("GET", "/api/v1/me"), ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")] {
        for second in [ADMIN, "another"] {
            let request = gate.client.request(method.parse().unwrap(), format!("{}{path}", gate.url));
            let request = request.bearer_auth(ADMIN).header("authorization", format!("Bearer {second}"));
            let answer = request.json(&json!({})).send().await.unwrap();
            assert_eq!(answer.status(), 400, "{method} {path}: which of the two is meant is not guessed");
        }
    }
    for (encoding, status) in [("gzip", 415), ("identity", 200), ("identity, br", 415)] {
        let request = gate.client.post(format!("{}/api/v1/tools/core__get_current_time/invoke", gate.url));
        let request = request.bearer_auth(ADMIN).header("content-encoding", encoding).json(&json!({}));
        assert_eq!(request.send().await.unwrap().status(), status, "{encoding}");
    }
    let huge =
        gate.client.get(format!("{}/healthz", gate.url)).header("x-huge", "x".repeat(200_000)).send().await;
    assert!(huge.is_err() || huge.unwrap().status() == 431);
    let (status, _) = gate.get("/api/v1/me").await;
    assert_eq!(status, 200);
}

/// Clients that hang up while the store is being asked take nothing along.
#[tokio::test]
async fn callers_who_hang_up_do_not_use_up_the_store() {
    let gate = TestGate::start().await;
    // A key that has worked is not held up by wrong ones from the same address.
    assert_eq!(gate.get("/api/v1/me").await.0, 200);
    let address = gate.url.strip_prefix("http://").unwrap().to_owned();
    for round in 0..200 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!(
            "GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {round:064}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        if round % 3 == 0 {
            tokio::task::yield_now().await;
        }
        drop(stream);
    }
    for _ in 0..8 {
        let (status, _) = gate.get("/api/v1/invocations").await;
        assert_eq!(status, 200);
    }
}

#[tokio::test]
async fn refused_calls_are_limited_and_leave_little_behind() {
    let gate = TestGate::start().await;
    let large = json!({ "input": { "timezone": "x".repeat(200_000), "y": 1 } });
    let (status, call) = gate.post(PATH, large).await;
    assert_eq!(status, 422);
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!(row["input"], Value::Null, "a large refused input is not kept");
}

#[tokio::test]
async fn a_parameter_that_is_wrong_is_named() {
    let gate = TestGate::start().await;
    for (path, message) in [
        ("invocations?limit=-1", "the parameter `limit` of the address can't be read"),
        ("invocations?limt=1", "`limt` is no parameter of this address"),
        ("invocations?limit=1&limit=2", "`limit` may come only once"),
        ("audit/events?limt=1", "`limt` is no parameter of this address"),
        ("entities/user?limt=1", "`limt` is no parameter of this address"),
    ] {
        let (status, body) = gate.get(&format!("/api/v1/{path}")).await;
        assert_eq!((status, body["error"]["message"].as_str().unwrap()), (400, message), "{path}");
    }
    // A value is not told back.
    let (_, body) = gate.get("/api/v1/invocations?limit=hush").await;
    assert!(!body.to_string().contains("hush"), "{body}");
}

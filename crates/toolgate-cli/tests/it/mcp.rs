//! The MCP door of the real binary: over standard input and output, and on three nodes that know nothing of each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gate::{Gate, KEY, finish, serve, toolgate};

const MASTER: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PATIENCE: Duration = Duration::from_secs(60);

/// A client at the other end of standard input and output.
pub(crate) struct OverStdio {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl OverStdio {
    pub(crate) fn start(args: &[&str], envs: &[(&str, &str)]) -> Self {
        let mut command = toolgate();
        command.arg("mcp").args(args).envs(envs.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { input: child.stdin.take(), child, lines }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next message; every line must be one.
    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"))
    }

    pub(crate) fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn open(&mut self, capabilities: Value) -> Value {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "a test", "version": "1" } });
        let opened = self.ask(0, "initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        opened
    }
}

impl Drop for OverStdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn modern(params: Value) -> Value {
    let mut params = params;
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

/// Both eras, progress, mistakes, and the end of standard input.
fn walk(mut client: OverStdio) {
    let opened = client.open(json!({}));
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
    let listed = client.ask(1, "tools/list", json!({}));
    assert!(listed["result"]["tools"].as_array().unwrap().len() > 5);
    let clock = json!({ "name": "core__get_current_time", "arguments": {} });
    let old = client.ask(2, "tools/call", clock.clone());
    assert_eq!(old["result"]["structuredContent"]["timezone"], "UTC", "{old}");
    let new = client.ask(3, "tools/call", modern(clock));
    assert_eq!(new["result"]["resultType"], "complete", "{new}");
    let unknown = client.ask(4, "tools/call", modern(json!({ "name": "n\u{f6} such" })));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    writeln!(client.input.as_mut().unwrap(), "not json").unwrap();
    assert_eq!(client.next()["error"]["code"], -32700);
    drop(client.input.take());
    assert!(client.child.wait().unwrap().success(), "it ends with its input");
    assert!(client.lines.recv().is_err(), "and says nothing more");
}

#[test]
fn standard_input_leads_to_a_gate_elsewhere() {
    let gate = serve(&[], &[]);
    walk(OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]));
    let mut client = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]);
    let slow = json!({ "name": "fixture__slow_read", "arguments": { "milliseconds": 300, "reports": 2 },
        "_meta": { "progressToken": "p" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": modern(slow) }));
    assert_eq!(client.next()["method"], "notifications/progress");
    assert_eq!(client.next()["method"], "notifications/progress");
    assert_eq!(client.next()["id"], 9);
    let mut nobody = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", "wrong")]);
    let refused = nobody.ask(1, "tools/list", modern(json!({})));
    assert_eq!(refused["error"]["data"]["code"], "unauthenticated", "{refused}");
    let mut away = OverStdio::start(&["--url", "http://127.0.0.1:9"], &[]);
    let refused = away.ask(1, "tools/list", modern(json!({})));
    assert_eq!(refused["error"]["data"]["code"], "unavailable", "{refused}");
}

#[test]
fn several_messages_on_a_line_are_answered_on_one() {
    let gate = serve(&[], &[]);
    let mut client = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]);
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    client.open(json!({}));
    client.send(&json!([ping(1)]));
    assert_eq!(client.next()["error"]["message"], "batches are not taken", "its version has none");
    let params = json!({ "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": { "name": "a test", "version": "1" } });
    let mut client = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]);
    assert_eq!(client.ask(0, "initialize", params)["result"]["protocolVersion"], "2025-03-26");
    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]));
    let slow = json!({ "name": "fixture__slow_read", "arguments": { "milliseconds": 300, "reports": 1 },
        "_meta": { "progressToken": "p" } });
    client.send(
        &json!([ping(1), { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": slow }, ping(3)]),
    );
    assert_eq!(client.next()["method"], "notifications/progress", "what comes before is not kept back");
    let answers = client.next();
    let mut ids: Vec<_> = answers.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3], "{answers}");
    assert!(answers.as_array().unwrap().iter().all(|one| one.get("result").is_some()), "{answers}");
    client.send(&json!([]));
    assert_eq!(client.next()["error"]["code"], -32600);
}

/// A way to a gate that breaks off once, right after the first progress came through. Returns its address.
fn breaking_way(gate: &Gate) -> String {
    let to = gate.url.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let broken = Arc::new(AtomicBool::new(false));
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let (Ok(server), broken) = (TcpStream::connect(&to), Arc::clone(&broken)) else { return };
            let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from_client, &mut to_server);
                let _ = to_server.shutdown(Shutdown::Write);
            });
            std::thread::spawn(move || {
                let (mut server, mut client) = (server, client);
                let mut bytes = [0; 16 * 1024];
                while let Ok(read @ 1..) = server.read(&mut bytes) {
                    if client.write_all(&bytes[..read]).is_err() {
                        break;
                    }
                    let progress = String::from_utf8_lossy(&bytes[..read]).contains("notifications/progress");
                    if progress && !broken.swap(true, Ordering::SeqCst) {
                        break;
                    }
                }
                let _ = (server.shutdown(Shutdown::Both), client.shutdown(Shutdown::Both));
            });
        }
    });
    address
}

#[test]
fn a_way_that_breaks_off_in_the_middle_of_a_call_loses_nothing() {
    let gate = serve(&[], &[]);
    let mut client = OverStdio::start(&["--url", &breaking_way(&gate)], &[("TOOLGATE_KEY", KEY)]);
    client.open(json!({}));
    let slow = json!({ "name": "fixture__slow_read", "arguments": { "milliseconds": 2_000, "reports": 5 },
        "_meta": { "progressToken": "p" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": slow }));
    let mut told = Vec::new();
    let answer = loop {
        let message = client.next();
        if message["id"] == 9 {
            break message;
        }
        told.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(answer["result"]["structuredContent"]["milliseconds"], 2_000, "{answer}");
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    let ran = gate.run(&["invocation", "list", "--json"]);
    assert_eq!(ran.stdout.matches("\"fixture__slow_read\"").count(), 1, "{ran:?}");
}

#[test]
fn standard_input_leads_to_local_data() {
    let data = tempfile::TempDir::new().unwrap();
    let path = data.path().to_str().unwrap();
    walk(OverStdio::start(&["--data", path], &[]));
    let mut command = toolgate();
    command.args(["mcp", "--data", path, "--as", "user:nobody"]);
    let ran = finish(command, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("there is no `user:nobody` in this data"), "{ran:?}");
}

/// One node's MCP endpoint.
struct Node<'a>(&'a Gate);

impl Node<'_> {
    fn post(&self, body: &Value, session: &str) -> wire::Answer {
        wire::post(&self.0.url, body, session)
    }

    /// Goes on after an event of a stream that broke off, wherever that was.
    fn after(&self, last: &str, session: &str) -> wire::Answer {
        wire::get(&self.0.url, last, session)
    }
}

/// Just enough HTTP to see headers and streams as they come.
mod wire {
    use super::{BufRead, BufReader, KEY, PATIENCE, Read, TcpStream, Value, Write};

    pub(super) struct Answer {
        pub(super) status: u16,
        pub(super) session: String,
        /// The id of the last event.
        pub(super) last: String,
        reader: BufReader<TcpStream>,
        length: Option<usize>,
    }

    pub(super) fn post(url: &str, body: &Value, session: &str) -> Answer {
        let body = body.to_string();
        let named = if session.is_empty() { String::new() } else { format!("mcp-session-id: {session}\r\n") };
        let headers = format!("content-type: application/json\r\n{named}content-length: {}\r\n", body.len());
        send(url, "POST", &headers, &body)
    }

    pub(super) fn get(url: &str, last: &str, session: &str) -> Answer {
        let headers = format!("mcp-session-id: {session}\r\nlast-event-id: {last}\r\n");
        send(url, "GET", &headers, "")
    }

    fn send(url: &str, method: &str, headers: &str, body: &str) -> Answer {
        let address = url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\n\
             accept: application/json, text/event-stream\r\n{headers}connection: close\r\n\r\n{body}",
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let (mut session, mut length) = (String::new(), None);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                None => break,
                Some(("mcp-session-id", id)) => id.clone_into(&mut session),
                Some(("content-length", text)) => length = text.parse().ok(),
                Some(_) => {}
            }
        }
        Answer { status, session, last: String::new(), reader, length }
    }

    impl Answer {
        /// The next message of a stream, or the one that is the body.
        pub(super) fn next(&mut self) -> Value {
            if let Some(length) = self.length {
                let mut body = vec![0; length];
                self.reader.read_exact(&mut body).unwrap();
                return serde_json::from_slice(&body).unwrap();
            }
            loop {
                let mut line = String::new();
                assert!(self.reader.read_line(&mut line).unwrap() > 0, "the stream ended");
                if let Some(id) = line.strip_prefix("id: ") {
                    id.trim_end().clone_into(&mut self.last);
                }
                // A piece without a message only says where to go on.
                if let Some(data) = line.strip_prefix("data: ").filter(|data| !data.trim().is_empty()) {
                    return serde_json::from_str(data).unwrap();
                }
            }
        }
    }
}

#[test]
fn three_nodes_serve_one_session_between_them() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(toolgate_testkit::shared_postgres().create_database());
    let start = || serve(&["--database-url", &database], &[("TOOLGATE_MASTER_KEY", MASTER)]);
    let gates = [start(), start(), start()];
    let [one, two, three] = [Node(&gates[0]), Node(&gates[1]), Node(&gates[2])];
    let request = |id: i64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "a test", "version": "1" } });
    let mut opened = one.post(&request(0, "initialize", opening), "");
    let session = opened.session.clone();
    assert_eq!((opened.status, session.is_empty()), (200, false), "{}", opened.next());
    let mut listed = two.post(&request(1, "tools/list", json!({})), &session);
    assert!(listed.next()["result"]["tools"].is_array());
    // Asked on the second node, answered on the third; the second sees it by following the call.
    let transfer = json!({ "name": "fixture__transfer", "arguments": { "amount": 3, "to": "ada" } });
    let mut called = two.post(&request(2, "tools/call", transfer), &session);
    let asked = called.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"],
        "result": { "action": "accept", "content": { "decision": "approve" } } });
    assert_eq!(three.post(&answer, &session).status, 202);
    let done = called.next();
    assert_eq!(
        (&done["id"], &done["result"]["structuredContent"]["amount"]),
        (&json!(2), &json!(3)),
        "{done}"
    );
    assert_eq!(one.post(&answer, &session).status, 202, "a second answer, elsewhere, changes nothing");
    let ran = gates[0].run(&["invocation", "list", "--json"]);
    assert_eq!(ran.stdout.matches("\"fixture__transfer\"").count(), 1, "{ran:?}");
    gates[0].ok(&["audit", "verify"]);
}

#[test]
fn a_call_is_stopped_and_a_broken_stream_taken_up_at_any_of_three_nodes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(toolgate_testkit::shared_postgres().create_database());
    let start = || serve(&["--database-url", &database], &[("TOOLGATE_MASTER_KEY", MASTER)]);
    let gates = [start(), start(), start()];
    let [one, two, three] = [Node(&gates[0]), Node(&gates[1]), Node(&gates[2])];
    let request = |id: &str, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "a test", "version": "1" } });
    let session = one.post(&request("open", "initialize", opening), "").session;
    let slow = |milliseconds: u64, reports: u64| {
        json!({ "name": "fixture__slow_read", "_meta": { "progressToken": "p" },
            "arguments": { "milliseconds": milliseconds, "reports": reports } })
    };

    // Runs on the first, is called off at the third.
    let mut called = one.post(&request("long", "tools/call", slow(60_000, 100)), &session);
    assert_eq!(called.next()["method"], "notifications/progress");
    let stop =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "long" } });
    assert_eq!(three.post(&stop, &session).status, 202);
    let last = loop {
        let message = called.next();
        if message["id"] == "long" {
            break message;
        }
    };
    assert_eq!(last["result"]["_meta"]["toolgate/error"]["code"], "cancelled", "{last}");

    // Begins on the second; its stream breaks off and goes on at the third, then at the first.
    let mut called = two.post(&request("told", "tools/call", slow(6_000, 12)), &session);
    let mut told = vec![called.next()["params"]["progress"].as_f64().unwrap()];
    let first = called.last.clone();
    drop(called);
    let mut called = three.after(&first, &session);
    assert_eq!(called.status, 200);
    told.push(called.next()["params"]["progress"].as_f64().unwrap());
    let second = called.last.clone();
    drop(called);
    let mut called = one.after(&second, &session);
    let answer = loop {
        let message = called.next();
        if message["id"] == "told" {
            break message;
        }
        told.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(answer["result"]["structuredContent"]["milliseconds"], 6_000, "{answer}");
    assert_eq!(told.len(), 12, "each report once, in order: {told:?}");
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    let ran = gates[0].run(&["invocation", "list", "--json"]);
    assert_eq!(ran.stdout.matches("\"fixture__slow_read\"").count(), 2, "nothing ran twice: {ran:?}");
    gates[0].ok(&["audit", "verify"]);
}

#[test]
fn fixtures_of_the_suite_stay_on_this_machine() {
    let data = tempfile::TempDir::new().unwrap();
    let mut command = toolgate();
    command.args(["serve", "--listen", "0.0.0.0:0", "--mcp-conformance", "--data"]).arg(data.path());
    let ran = finish(command, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("listen on a loopback address"), "{ran:?}");
}

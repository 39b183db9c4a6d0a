//! A small MCP server over standard input and output whose tools stand in a file: `scripted-mcp TOOLS.json`. It speaks
//! the protocol with a handshake, reads the file again at each listing, and tells when it changed. `echo` tools answer
//! with their arguments; `fail` tools with an error; `hang` tools never; `exit` tools end the process; `answer` tools
//! with the `result` that stands beside, sent as it is written where it is a text.

use std::io::{BufRead, Write};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "tools.json".to_owned());
    let watched = path.clone();
    std::thread::spawn(move || {
        let mut seen = changed_at(&watched);
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let now = changed_at(&watched);
            if now != seen {
                seen = now;
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
            }
        }
    });
    for line in std::io::stdin().lock().lines() {
        match line {
            Ok(line) => answer(&path, &line),
            Err(_) => return,
        }
    }
}

fn changed_at(path: &str) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn send(message: &Value) {
    write(&message.to_string());
}

fn write(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn tools(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn answer(path: &str, line: &str) {
    let Ok(request) = serde_json::from_str::<Value>(line) else { return };
    let Some(id) = request.get("id").cloned() else { return };
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "scripted", "version": "1.0.0" },
        }),
        "ping" => json!({}),
        "tools/list" => {
            let shown = tools(path).into_iter().map(|mut tool| {
                if let Some(fields) = tool.as_object_mut() {
                    fields.remove("does");
                    fields.remove("result");
                }
                tool
            });
            json!({ "tools": shown.collect::<Vec<_>>() })
        }
        "tools/call" => {
            let called = tools(path).into_iter().find(|tool| tool["name"] == request["params"]["name"]);
            let arguments = &request["params"]["arguments"];
            match called.as_ref().and_then(|tool| tool["does"].as_str()).unwrap_or("echo") {
                "fail" => {
                    json!({ "isError": true, "content": [{ "type": "text", "text": "it did not work" }] })
                }
                "answer" => match called.map(|tool| tool["result"].clone()).unwrap_or_default() {
                    Value::String(text) => {
                        return write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#));
                    }
                    result => result,
                },
                "hang" => return,
                "exit" => std::process::exit(3),
                _ => json!({
                    "content": [{ "type": "text", "text": arguments.to_string() }],
                    "structuredContent": arguments,
                }),
            }
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

//! The MCP door: both eras, who gets in, what is seen, what waits for a person, and what strangers try.

mod approval;
mod auth;
mod batch;
mod call;
mod endpoint;
mod give_up;
mod hostile;
mod legacy;
mod listen;
mod question;
mod resume;
mod server_question;
mod task;
mod unread;
mod wire;

use futures::StreamExt;
use serde_json::{Value, json};

use crate::gate::TestGate;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const BOTH: &str = "application/json, text/event-stream";

/// What came back: the status, the headers, and every message in order.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) messages: Vec<Value>,
}

impl Answer {
    pub(crate) fn last(&self) -> &Value {
        self.messages.last().unwrap_or(&Value::Null)
    }

    pub(crate) fn result(&self) -> &Value {
        let last = self.last();
        assert!(last.get("result").is_some(), "{} {last}", self.status);
        &last["result"]
    }

    pub(crate) fn error(&self) -> (u16, i64, &str) {
        let error = &self.last()["error"];
        (self.status, error["code"].as_i64().unwrap_or(0), error["data"]["code"].as_str().unwrap_or("none"))
    }
}

/// A client of the modern era.
pub(crate) struct Modern<'a> {
    pub(crate) gate: &'a TestGate,
    pub(crate) key: &'a str,
    pub(crate) path: &'a str,
    pub(crate) capabilities: Value,
}

impl<'a> Modern<'a> {
    pub(crate) fn new(gate: &'a TestGate, key: &'a str) -> Self {
        Self { gate, key, path: "/mcp", capabilities: json!({}) }
    }

    pub(crate) fn can(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    pub(crate) fn at(mut self, path: &'a str) -> Self {
        self.path = path;
        self
    }

    pub(crate) fn body(&self, id: Value, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    pub(crate) fn request(&self, body: &Value) -> reqwest::RequestBuilder {
        let method = body["method"].as_str().unwrap();
        let mut request = self
            .gate
            .client
            .post(format!("{}{}", self.gate.url, self.path))
            .bearer_auth(self.key)
            .header("accept", BOTH)
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method)
            .json(body);
        let name = ["name", "uri", "taskId"].iter().find_map(|field| body["params"][field].as_str());
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        request
    }

    pub(crate) async fn send(&self, method: &str, params: Value) -> Answer {
        read(self.request(&self.body(json!(1), method, params)).send().await.unwrap()).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let listed = self.send("tools/list", json!({})).await;
        let tools = listed.result()["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A client of the handshake era.
pub(crate) struct Legacy<'a> {
    pub(crate) gate: &'a TestGate,
    pub(crate) key: &'a str,
    pub(crate) session: String,
    pub(crate) opened: Value,
}

impl<'a> Legacy<'a> {
    pub(crate) async fn open(gate: &'a TestGate, key: &'a str, capabilities: Value) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "a test", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(key).header("accept", BOTH);
        let answer = read(request.json(&body).send().await.unwrap()).await;
        let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        Self { gate, key, session, opened: answer.result().clone() }
    }

    pub(crate) fn request(&self, body: &Value) -> reqwest::RequestBuilder {
        self.gate
            .client
            .post(format!("{}/mcp", self.gate.url))
            .bearer_auth(self.key)
            .header("accept", BOTH)
            .header("mcp-protocol-version", "2025-11-25")
            .header("mcp-session-id", &self.session)
            .json(body)
    }

    pub(crate) async fn send(&self, method: &str, params: Value) -> Answer {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        read(self.request(&body).send().await.unwrap()).await
    }

    pub(crate) async fn tell(&self, body: Value) -> u16 {
        self.request(&body).send().await.unwrap().status().as_u16()
    }
}

/// Reads an answer to its end, be it one message or a stream of them.
pub(crate) async fn read(response: reqwest::Response) -> Answer {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let text = response.text().await.unwrap();
    let messages = match kind.starts_with("text/event-stream") {
        true => text.lines().filter_map(data).map(parse).collect(),
        false => serde_json::from_str(&text).into_iter().collect(),
    };
    Answer { status, headers, messages }
}

/// The message in a line of a stream. A piece without one only says where to go on.
fn data(line: &str) -> Option<&str> {
    line.strip_prefix("data: ").filter(|data| !data.is_empty())
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The messages of a stream, one by one.
pub(crate) struct Messages {
    body: std::pin::Pin<Box<dyn futures::Stream<Item = Result<bytes::Bytes, reqwest::Error>> + Send>>,
    text: String,
    /// The id of the last event that came, with a message or without.
    pub(crate) last: Option<String>,
}

impl Messages {
    pub(crate) fn of(response: reqwest::Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Self { body: Box::pin(response.bytes_stream()), text: String::new(), last: None }
    }

    /// Waits for the first event that says where to go on, and leaves what comes with it unread.
    pub(crate) async fn mark(&mut self) -> String {
        loop {
            let id = self.text.lines().find_map(|line| line.strip_prefix("id: ").map(str::to_owned));
            if let Some(id) = id.filter(|_| self.text.contains("\n\n")) {
                return id;
            }
            let part = self.body.next().await.unwrap().unwrap();
            self.text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }

    /// The next message; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let message = block.lines().find_map(data).map(parse);
                let id = block.lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
                self.last = id.or(self.last.take());
                self.text = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            let part = self.body.next().await?.ok()?;
            self.text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }
}

/// A form filled in.
pub(crate) fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

//! Lines in, messages to a gate, lines out.

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::{Post, Reply, Way};

/// The longest line.
const MAX_LINE: u64 = 16 << 20;
/// How long answers under way get when nothing more comes in.
const PATIENCE: Duration = Duration::from_secs(30);
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A session of the handshake era.
#[derive(Debug, Clone)]
struct Session {
    id: String,
    version: String,
}

struct Bridge<W> {
    way: W,
    out: mpsc::Sender<String>,
    session: Mutex<Option<Session>>,
    /// Requests under way, by id as JSON.
    running: Mutex<HashMap<String, AbortHandle>>,
    /// What of a tool's arguments travels in headers too, as far as tools were listed.
    params: Mutex<HashMap<String, Vec<toolgate_mcp::ParamHeader>>>,
}

/// Serves until standard input ends.
pub(super) async fn run(way: impl Way) -> anyhow::Result<()> {
    let (out, lines) = mpsc::channel::<String>(256);
    let (sender, mut input) = mpsc::channel(16);
    // Standard input and output block; each has a thread of its own.
    std::thread::spawn(move || read_lines(&sender));
    let writing = tokio::task::spawn_blocking(move || write_lines(lines));
    let bridge = Arc::new(Bridge {
        way,
        out,
        session: Mutex::default(),
        running: Mutex::default(),
        params: Mutex::default(),
    });
    let (mut tasks, mut streams) = (JoinSet::new(), JoinSet::new());
    while let Some(line) = input.recv().await {
        match line {
            Line::TooLong => {
                let said =
                    error(&Value::Null, -32600, "payload_too_large", "a line is too long", "send less");
                bridge.say(said).await;
                break;
            }
            Line::Text(text) => match serde_json::from_slice::<Value>(&text) {
                Ok(message) => bridge.take(message, &mut tasks, &mut streams).await,
                Err(_) => {
                    let hint = "send one message a line";
                    let said = error(&Value::Null, -32700, "invalid_json", "the line is not JSON", hint);
                    bridge.say(said).await;
                }
            },
        }
        while tasks.try_join_next().is_some() {}
    }
    let _ = tokio::time::timeout(PATIENCE, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    streams.shutdown().await;
    bridge.end_session().await;
    drop(bridge);
    let _ = writing.await;
    Ok(())
}

enum Line {
    Text(Vec<u8>),
    TooLong,
}

fn read_lines(lines: &mpsc::Sender<Line>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(read) if read as u64 > MAX_LINE => {
                let _ = lines.blocking_send(Line::TooLong);
                return;
            }
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => {
                if lines.blocking_send(Line::Text(line)).is_err() {
                    return;
                }
            }
        }
    }
}

fn write_lines(mut lines: mpsc::Receiver<String>) {
    let mut output = std::io::stdout().lock();
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

impl<W: Way> Bridge<W> {
    async fn take(self: &Arc<Self>, message: Value, tasks: &mut JoinSet<()>, streams: &mut JoinSet<()>) {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let id = message.get("id").cloned();
        match (method.as_str(), id) {
            // Everything after it needs the session it begins.
            ("initialize", Some(id)) => self.ask(message, id).await,
            ("notifications/cancelled", None) => {
                let asked = message["params"]["requestId"].to_string();
                let running = lock(&self.running).get(&asked).cloned();
                if lock(&self.session).is_some() {
                    self.tell(message).await;
                } else if let Some(running) = running {
                    // Closing the stream is how a modern client says so.
                    running.abort();
                }
            }
            ("notifications/initialized", None) => {
                self.tell(message).await;
                let bridge = Arc::clone(self);
                streams.spawn(async move { bridge.listen().await });
            }
            (_, None) => self.tell(message).await,
            ("subscriptions/listen", Some(id)) => self.start(message, id, streams),
            // A client's answer to a question comes in while the request that led to it is under way.
            ("", Some(_)) => self.tell(message).await,
            (_, Some(id)) => self.start(message, id, tasks),
        }
    }

    fn start(self: &Arc<Self>, message: Value, id: Value, tasks: &mut JoinSet<()>) {
        let bridge = Arc::clone(self);
        let key = id.to_string();
        let name = key.clone();
        // Held while it starts, so that what ends at once is not noted as running after that.
        let mut running = lock(&self.running);
        let task = tasks.spawn(async move {
            bridge.ask(message, id).await;
            lock(&bridge.running).remove(&name);
        });
        running.insert(key, task);
    }

    /// Sends a request and passes on everything that comes back.
    async fn ask(&self, message: Value, id: Value) {
        let tool_list = message["method"] == "tools/list";
        let opening = message["method"] == "initialize";
        let reply = match self.way.send(self.post(message)).await {
            Ok(reply) => reply,
            Err(cause) => {
                let hint = "check that the gate runs and that TOOLGATE_URL names it";
                return self.say(error(&id, -32603, "unavailable", &cause.to_string(), hint)).await;
            }
        };
        let session = reply.session.clone();
        let (status, streams) = (reply.status, reply.streams);
        let mut answered = false;
        let mut messages = messages(reply);
        while let Some(text) = messages.next().await {
            let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
            let ours = value.get("id") == Some(&id) && value.get("method").is_none();
            if opening && let Some(session) = &session {
                let version = value["result"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
                *lock(&self.session) = Some(Session { id: session.clone(), version });
            }
            if tool_list && ours {
                self.note_tools(&value);
            }
            answered |= ours;
            let shown =
                if streams || value.get("jsonrpc").is_some() { value } else { refused(&id, status, &value) };
            let shown =
                if shown.get("error").is_some() && !ours && !streams { with_id(shown, &id) } else { shown };
            answered |= shown.get("id") == Some(&id);
            self.say(shown).await;
        }
        if !answered {
            let hint = "send the request again";
            self.say(error(&id, -32603, "unavailable", "the gate broke off", hint)).await;
        }
    }

    /// Sends what wants no answer.
    async fn tell(&self, message: Value) {
        if let Err(cause) = self.way.send(self.post(message)).await {
            tracing::debug!(error = %cause, "a notification was not delivered");
        }
    }

    /// Passes on what the open stream of a session tells.
    async fn listen(&self) {
        let post = Post { method: "GET", headers: self.session_headers(), body: None };
        if let Ok(reply) = self.way.send(post).await
            && reply.streams
        {
            let mut messages = messages(reply);
            while let Some(text) = messages.next().await {
                if let Ok(value) = serde_json::from_str::<Value>(&text) {
                    self.say(value).await;
                }
            }
        }
    }

    async fn end_session(&self) {
        let headers = self.session_headers();
        if !headers.is_empty() {
            let _ = self.way.send(Post { method: "DELETE", headers, body: None }).await;
        }
    }

    fn post(&self, message: Value) -> Post {
        let params = &message["params"];
        let mut headers = match params["_meta"][VERSION].as_str() {
            Some(version) => vec![
                ("mcp-protocol-version".to_owned(), version.to_owned()),
                ("mcp-method".to_owned(), message["method"].as_str().unwrap_or_default().to_owned()),
            ],
            None => self.session_headers(),
        };
        if params["_meta"][VERSION].is_string() {
            let field = match message["method"].as_str() {
                Some("tools/call" | "prompts/get") => "name",
                Some("resources/read") => "uri",
                Some("tasks/get" | "tasks/update" | "tasks/cancel") => "taskId",
                _ => "",
            };
            if let Some(name) = params[field].as_str() {
                headers.push(("mcp-name".to_owned(), encoded(name)));
                for param in lock(&self.params).get(name).into_iter().flatten() {
                    let value = param.path.iter().try_fold(&params["arguments"], |value, key| value.get(key));
                    let text = match value {
                        Some(Value::String(text)) => encoded(text),
                        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
                        _ => continue,
                    };
                    headers.push((param.header.clone(), text));
                }
            }
        }
        Post { method: "POST", headers, body: Some(message) }
    }

    fn session_headers(&self) -> Vec<(String, String)> {
        match &*lock(&self.session) {
            None => Vec::new(),
            Some(session) => vec![
                ("mcp-session-id".to_owned(), session.id.clone()),
                ("mcp-protocol-version".to_owned(), session.version.clone()),
            ],
        }
    }

    fn note_tools(&self, answer: &Value) {
        let mut params = lock(&self.params);
        for tool in answer["result"]["tools"].as_array().into_iter().flatten() {
            let found = toolgate_mcp::param_headers(&tool["inputSchema"]);
            if let Some(name) = tool["name"].as_str().filter(|_| !found.is_empty()) {
                params.insert(name.to_owned(), found);
            }
        }
    }

    async fn say(&self, message: Value) {
        let _ = self.out.send(message.to_string()).await;
    }
}

/// The messages in a reply: one, or those of a stream.
fn messages(reply: Reply) -> futures::stream::BoxStream<'static, String> {
    if reply.streams {
        let state = (reply.body, Vec::<u8>::new());
        return futures::stream::unfold(state, |(mut body, mut text)| async move {
            loop {
                while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                    let block: Vec<u8> = text.drain(..end + 2).collect();
                    let data: Vec<_> = String::from_utf8_lossy(&block)
                        .lines()
                        .filter_map(|line| {
                            line.strip_prefix("data:").map(|data| data.trim_start().to_owned())
                        })
                        .collect();
                    if !data.is_empty() {
                        return Some((data.join("\n"), (body, text)));
                    }
                }
                text.extend(body.next().await?.ok()?);
            }
        })
        .boxed();
    }
    futures::stream::once(async move {
        let parts: Vec<_> = reply.body.collect().await;
        let bytes: Vec<u8> = parts.into_iter().filter_map(Result::ok).flatten().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    })
    .boxed()
}

/// A refusal that is no message, as one.
fn refused(id: &Value, status: u16, body: &Value) -> Value {
    let field = |name: &str| body["error"][name].as_str();
    let message = field("message").map_or_else(|| format!("the gate answered {status}"), str::to_owned);
    let hint = match status {
        401 => "set TOOLGATE_KEY to your key",
        _ => field("hint").unwrap_or("check that TOOLGATE_URL names a gate"),
    };
    error(id, -32603, field("code").unwrap_or("unavailable"), &message, hint)
}

fn with_id(mut message: Value, id: &Value) -> Value {
    message["id"] = id.clone();
    message
}

fn error(id: &Value, code: i64, ours: &str, message: &str, hint: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id,
        "error": { "code": code, "message": message, "data": { "code": ours, "hint": hint } },
    })
}

/// A value as a header can carry it.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Lines in, messages to a gate, lines out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::lines::{self, Line};
use super::refusal::{error, refused, with_id};
use super::{Post, Reply, Way, pieces};

/// How long answers under way get when nothing more comes in.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a stream that broke off is taken up, and after how long.
const TRIES: u32 = 5;
const RETRY: Duration = Duration::from_millis(500);
/// How long after its end the open stream of a session is opened again.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);
const INITIALIZED: &str = "notifications/initialized";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A session of the handshake era.
#[derive(Debug, Clone)]
struct Session {
    id: String,
    version: String,
}

pub(super) struct Bridge<W> {
    pub(super) way: W,
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
    std::thread::spawn(move || lines::read(&sender));
    let writing = tokio::task::spawn_blocking(move || lines::write(lines));
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

impl<W: Way> Bridge<W> {
    async fn take(self: &Arc<Self>, message: Value, tasks: &mut JoinSet<()>, streams: &mut JoinSet<()>) {
        let message = match message {
            Value::Array(messages) => {
                if messages.iter().any(|message| message["method"] == INITIALIZED) {
                    self.start_listening(streams);
                }
                let bridge = Arc::clone(self);
                tasks.spawn(async move { bridge.ask_all(messages).await });
                return;
            }
            message => message,
        };
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
            (INITIALIZED, None) => {
                self.tell(message).await;
                self.start_listening(streams);
            }
            (_, None) => self.tell(message).await,
            ("subscriptions/listen", Some(id)) => self.start(message, id, streams),
            // A client's answer to a question comes in while the request that led to it is under way.
            ("", Some(_)) => self.tell(message).await,
            (_, Some(id)) => self.start(message, id, tasks),
        }
    }

    fn start_listening(self: &Arc<Self>, streams: &mut JoinSet<()>) {
        let bridge = Arc::clone(self);
        streams.spawn(async move { bridge.listen().await });
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
        if opening && let Some(session) = &reply.session {
            *lock(&self.session) = Some(Session { id: session.clone(), version: String::new() });
        }
        let mut last = None;
        let mut answered = self.pass_on(reply, &id, tool_list, &mut last).await;
        // In the handshake era a stream that broke off goes on where it was.
        for _ in 0..TRIES {
            let Some(after) = last.clone().filter(|_| !answered) else { break };
            tokio::time::sleep(RETRY).await;
            let mut headers = self.session_headers();
            headers.push(("last-event-id".to_owned(), after));
            match self.way.send(Post { method: "GET", headers, body: None }).await {
                Ok(reply) if reply.streams => answered = self.pass_on(reply, &id, tool_list, &mut last).await,
                Ok(_) => break,
                Err(cause) => tracing::debug!(error = %cause, "a stream was not taken up"),
            }
        }
        if !answered {
            let hint = "send the request again";
            self.say(error(&id, -32603, "unavailable", "the gate broke off", hint)).await;
        }
    }

    /// Passes on everything in a reply; true when the request was answered. `last` is where to go on when it was not.
    async fn pass_on(&self, reply: Reply, id: &Value, tool_list: bool, last: &mut Option<String>) -> bool {
        let (status, streams) = (reply.status, reply.streams);
        let mut answered = false;
        let mut pieces = pieces::of(reply);
        while let Some(piece) = pieces.next().await {
            *last = piece.event.or(last.take());
            let text = piece.text;
            let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
            let ours = value.get("id") == Some(id) && value.get("method").is_none();
            let version = value["result"]["protocolVersion"].as_str();
            if let (Some(version), Some(session)) = (version.filter(|_| ours), &mut *lock(&self.session))
                && session.version.is_empty()
            {
                version.clone_into(&mut session.version);
            }
            if tool_list && ours {
                self.note_tools(&value);
            }
            answered |= ours;
            let shown =
                if streams || value.get("jsonrpc").is_some() { value } else { refused(id, status, &value) };
            let shown =
                if shown.get("error").is_some() && !ours && !streams { with_id(shown, id) } else { shown };
            answered |= shown.get("id") == Some(id);
            self.say(shown).await;
        }
        answered
    }

    /// Sends what wants no answer.
    async fn tell(&self, message: Value) {
        if let Err(cause) = self.way.send(self.post(message)).await {
            tracing::debug!(error = %cause, "a notification was not delivered");
        }
    }

    /// Passes on what the open stream of a session tells, from where it broke off when it does.
    async fn listen(&self) {
        let mut last: Option<String> = None;
        loop {
            let mut headers = self.session_headers();
            headers.extend(last.clone().map(|last| ("last-event-id".to_owned(), last)));
            match self.way.send(Post { method: "GET", headers, body: None }).await {
                Ok(reply) if reply.streams => {
                    let mut pieces = pieces::of(reply);
                    while let Some(piece) = pieces.next().await {
                        last = piece.event.or(last);
                        if let Ok(value) = serde_json::from_str::<Value>(&piece.text) {
                            self.say(value).await;
                        }
                    }
                }
                // Its session is over, or its caller may listen no more.
                Ok(_) => return,
                Err(_) => {}
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    async fn end_session(&self) {
        let headers = self.session_headers();
        if !headers.is_empty() {
            let _ = self.way.send(Post { method: "DELETE", headers, body: None }).await;
        }
    }

    pub(super) fn post(&self, message: Value) -> Post {
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

    pub(super) async fn say(&self, message: Value) {
        let _ = self.out.send(message.to_string()).await;
    }
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

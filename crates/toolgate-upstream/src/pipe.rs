//! Lines of JSON to and from a server's process.
//!
//! The library has such a transport as well. Ours answers a request whose answer can't be taken with an error, where
//! that one would let it wait; and it lets an answer to a question that was given up go by.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use toolgate_core::number::has_wide_integer;

use crate::child::{Process, Started};
use crate::fault::{BadAnswer, BadAnswers};
use crate::measure::{answered, too_deep};
use crate::task::kept_whole;

/// How much of a line that is too long is kept to learn what it answers.
const EDGE: usize = 512;

/// The two ends of a process.
pub(crate) struct Pipe {
    process: Process,
    writer: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    reader: BufReader<ChildStdout>,
    line: Vec<u8>,
    /// The end of a line whose middle was dropped; none while the line fits.
    tail: Option<VecDeque<u8>>,
    most: usize,
    open: Arc<Mutex<Open>>,
    bad: BadAnswers,
    /// Errors of our own that wait to be received.
    ready: VecDeque<ServerJsonRpcMessage>,
}

/// Requests without an answer.
#[derive(Default)]
struct Open {
    waiting: HashSet<RequestId>,
    given_up: HashSet<RequestId>,
}

impl Pipe {
    pub(crate) fn new(started: Started, most: usize, bad: BadAnswers) -> Self {
        Self {
            process: started.process,
            writer: Arc::new(tokio::sync::Mutex::new(Some(started.stdin))),
            reader: BufReader::new(started.stdout),
            line: Vec::new(),
            tail: None,
            most,
            open: Arc::default(),
            bad,
            ready: VecDeque::new(),
        }
    }

    /// Reads on until a line is whole. What was read so far stays in `self`: the future may be dropped at any time.
    async fn read_line(&mut self) -> Option<()> {
        loop {
            let available = self.reader.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            let part = &available[..taken];
            match &mut self.tail {
                None if self.line.len() + part.len() <= self.most => self.line.extend_from_slice(part),
                None => {
                    self.line.extend_from_slice(part);
                    self.tail = Some(self.line.iter().rev().take(EDGE).rev().copied().collect());
                    self.line.truncate(EDGE);
                    self.line.shrink_to(EDGE);
                }
                Some(tail) => {
                    tail.extend(part);
                    let over = tail.len().saturating_sub(EDGE);
                    tail.drain(..over);
                }
            }
            self.reader.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Some(());
            }
        }
    }

    /// The message of the line that was read, if it is one for us.
    fn message(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        if let Some(tail) = self.tail.take() {
            let tail: Vec<u8> = tail.into();
            self.fail(answered(&line, &tail), BadAnswer::TooLarge);
            return self.ready.pop_front();
        }
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // Programs that talk to people on the same line are common enough to let it go by.
        if !text.starts_with(b"{") {
            return None;
        }
        let message = match too_deep(text) {
            true => None,
            false => serde_json::from_slice::<ServerJsonRpcMessage>(&kept_whole(text)).ok(),
        };
        let Some(message) = message else {
            self.fail(id_of(text), BadAnswer::Unreadable);
            return self.ready.pop_front();
        };
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            // Some servers give a number back as text.
            let id = match id {
                RequestId::String(text) => text.parse().map_or_else(|_| id.clone(), RequestId::Number),
                RequestId::Number(_) => id.clone(),
            };
            if has_wide_integer(text) {
                self.bad.note(id.clone(), BadAnswer::Inexact);
            }
            open.waiting.remove(&id);
            if open.given_up.remove(&id) {
                return None;
            }
        }
        Some(message)
    }

    /// Fails the request that an answer was for. Of an answer that does not say, each request may be the one: none
    /// of them is left to wait for what went by.
    fn fail(&mut self, id: Option<i64>, answer: BadAnswer) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let failed: Vec<RequestId> = match id.map(RequestId::Number) {
            Some(id) => open.waiting.take(&id).into_iter().collect(),
            None if answer == BadAnswer::TooLarge => open.waiting.drain().collect(),
            // A broken line that says nothing may be no answer at all.
            None => Vec::new(),
        };
        drop(open);
        for id in failed {
            self.bad.note(id.clone(), answer);
            let error = ErrorData::invalid_request("the answer can't be taken", None);
            self.ready.push_back(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }
}

/// The id of a message that can't be read as a whole. Skipping over a value needs no stack and no text.
pub(crate) fn id_of(text: &[u8]) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Head {
        id: Option<i64>,
    }
    match serde_json::from_slice::<Head>(text) {
        Ok(head) => head.id,
        Err(_) => {
            let edge = text.len().min(EDGE);
            answered(&text[..edge], &text[text.len() - edge..])
        }
    }
}

impl Transport<RoleClient> for Pipe {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &item {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            // The older handshake begins when the newer one had no answer in time. A slow server answers both.
            if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                let waiting: Vec<_> = open.waiting.drain().collect();
                open.given_up.extend(waiting);
            }
            open.waiting.insert(request.id.clone());
        }
        if let ClientJsonRpcMessage::Notification(notification) = &item
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(id);
        }
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            // Its own task, so that a caller who leaves does not leave half a line behind.
            let written = tokio::spawn(async move {
                let mut writer = writer.lock().await;
                let Some(stdin) = writer.as_mut() else {
                    return Err(std::io::ErrorKind::NotConnected.into());
                };
                stdin.write_all(&line).await?;
                stdin.flush().await
            });
            written.await.map_err(std::io::Error::other)?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            self.read_line().await?;
            if let Some(message) = self.message() {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A process that does not read may hold the writer; it is ended all the same.
        if let Ok(mut writer) = self.writer.try_lock() {
            drop(writer.take());
        }
        self.process.end().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rmcp::model::{DiscoverRequest, DiscoverRequestParams, InitializeRequest, InitializeRequestParams};

    use super::*;
    use crate::child::{Stderr, start};
    use crate::settings::Settings;

    fn pipe(output: &str, most: usize) -> Pipe {
        // Writes what it is told, then reads until nobody is there.
        let script = format!("process.stdout.write({}); process.stdin.resume()", serde_json::json!(output));
        let args = ["-e".to_owned(), script];
        let started =
            start("node", &args, &BTreeMap::new(), &[], Stderr::default(), &Settings::default()).unwrap();
        Pipe::new(started, most, BadAnswers::default())
    }

    fn id(message: Option<ServerJsonRpcMessage>) -> Option<RequestId> {
        match message? {
            ServerJsonRpcMessage::Response(response) => Some(response.id),
            ServerJsonRpcMessage::Error(error) => error.id,
            _ => None,
        }
    }

    async fn ask(pipe: &mut Pipe, request: ClientRequest, id: i64) {
        pipe.send(ClientJsonRpcMessage::request(request, RequestId::Number(id))).await.unwrap();
    }

    fn discover() -> ClientRequest {
        ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {}))
    }

    #[tokio::test]
    async fn the_late_answer_of_a_slow_server_goes_by() {
        let late = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#;
        let wanted = r#"{"jsonrpc":"2.0","id":"1","result":{"x":1}}"#;
        let mut pipe = pipe(&format!("{late}\n{wanted}\n"), 1_000);
        ask(&mut pipe, discover(), 0).await;
        let begin = InitializeRequestParams::default();
        ask(&mut pipe, ClientRequest::InitializeRequest(InitializeRequest::new(begin)), 1).await;
        assert_eq!(id(pipe.receive().await), Some(RequestId::String("1".into())));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_fails_its_request() {
        let long = format!(r#"{{"result":{{"x":"{}"}},"jsonrpc":"2.0","id":7}}"#, "x".repeat(100_000));
        let mut pipe = pipe(&format!("{long}\n"), 1_000);
        ask(&mut pipe, discover(), 6).await;
        ask(&mut pipe, discover(), 7).await;
        assert_eq!(id(pipe.receive().await), Some(RequestId::Number(7)));
        assert_eq!(pipe.bad.take(&RequestId::Number(7)), Some(BadAnswer::TooLarge));
        assert_eq!(pipe.bad.take(&RequestId::Number(6)), None);
    }
}

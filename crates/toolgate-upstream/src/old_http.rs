//! The HTTP transport of 2024-11-05: a stream on which the server speaks, and an address, named there first, that takes what
//! we say. Bounds, credentials and faults are those of the door.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::HeaderMap;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};
use sse_stream::Sse;
use toolgate_core::number::has_wide_integer;
use url::Url;

use crate::door::{Door, Failed};
use crate::events::{is_too_large, raw_events};
use crate::fault::{BadAnswer, BadAnswers, HttpFault};
use crate::measure::too_deep;
use crate::pipe::id_of;
use crate::task::kept_whole;

/// How long a server may take to name the address.
const NAMED_WITHIN: Duration = Duration::from_secs(10);
const LONGEST_ADDRESS: usize = 4 * 1024;

/// A connection over the older transport.
pub(crate) struct OldHttp {
    door: Door,
    headers: HeaderMap,
    /// Where what we say goes.
    endpoint: Arc<str>,
    events: BoxStream<'static, Result<Sse, SseError>>,
    waiting: Waiting,
    ready: VecDeque<ServerJsonRpcMessage>,
    ended: bool,
    bad: BadAnswers,
}

/// Requests that have no answer yet.
#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<HashSet<RequestId>>>);

impl Waiting {
    fn open(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OldHttp {
    /// Opens the stream and waits for the address. The caller has checked where the stream is.
    pub(crate) async fn open(door: Door, target: &Url, headers: HeaderMap) -> Result<Self, Failed> {
        let (most, bad) = door.bounds();
        let bad = bad.clone();
        let named = async {
            let response = door.listen(target.as_str(), &headers).await?;
            let mut events = raw_events(response, most);
            while let Some(Ok(event)) = events.next().await {
                if event.event.as_deref() == Some("endpoint") {
                    let endpoint = endpoint(target, event.data.as_deref().unwrap_or_default());
                    return Ok((endpoint.map_err(not_sent)?, events));
                }
            }
            Err(not_sent("its stream ended before it had said where to"))
        };
        let (endpoint, events) = tokio::time::timeout(NAMED_WITHIN, named)
            .await
            .unwrap_or_else(|_| Err(not_sent("it does not say where to send what is asked of it")))?;
        let (waiting, ready) = (Waiting::default(), VecDeque::new());
        Ok(Self { door, headers, endpoint, events, waiting, ready, ended: false, bad })
    }

    /// The message of an event, if it is one for us.
    fn message(&mut self, event: Sse) -> Option<ServerJsonRpcMessage> {
        let named = event.event.as_deref().is_none_or(|name| name.is_empty() || name == "message");
        let text = event.data.filter(|_| named)?;
        let text = text.as_bytes();
        let message = match too_deep(text) {
            true => None,
            false => serde_json::from_slice::<ServerJsonRpcMessage>(&kept_whole(text)).ok(),
        };
        let Some(message) = message else {
            // What is nobody's answer goes by.
            let id = id_of(text).map(RequestId::Number).filter(|id| self.waiting.open().remove(id))?;
            return Some(self.failed(id, BadAnswer::Unreadable));
        };
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            if has_wide_integer(text) {
                self.bad.note(id.clone(), BadAnswer::Inexact);
            }
            self.waiting.open().remove(id);
        }
        Some(message)
    }

    fn failed(&self, id: RequestId, answer: BadAnswer) -> ServerJsonRpcMessage {
        self.bad.note(id.clone(), answer);
        ServerJsonRpcMessage::error(ErrorData::invalid_request("the answer can't be taken", None), Some(id))
    }

    /// Ends a stream that can't be read on. Whose answer it was that is too large, nobody can say.
    fn end(&mut self, error: &SseError) {
        self.ended = true;
        if is_too_large(error) {
            let waiting = std::mem::take(&mut *self.waiting.open());
            self.ready = waiting.into_iter().map(|id| self.failed(id, BadAnswer::TooLarge)).collect();
        }
    }
}

/// The address that a server names, if it is of its own origin: another's would be told what was meant for this one.
fn endpoint(target: &Url, named: &str) -> Result<Arc<str>, &'static str> {
    let named = target.join(named.trim()).ok().filter(|url| url.as_str().len() <= LONGEST_ADDRESS);
    let named = named.ok_or("it names no address to send to")?;
    if named.origin() != target.origin() || !named.username().is_empty() || named.password().is_some() {
        return Err("it wants what is asked of it sent to another origin, which is not done");
    }
    Ok(named.as_str().into())
}

fn not_sent(why: &str) -> Failed {
    StreamableHttpError::Client(HttpFault::NotSent(why.to_owned()))
}

impl Transport<RoleClient> for OldHttp {
    type Error = Failed;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &item {
            self.waiting.open().insert(request.id.clone());
        }
        if let ClientJsonRpcMessage::Notification(notification) = &item
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.waiting.open().remove(id);
        }
        let (door, endpoint, headers) = (self.door.clone(), Arc::clone(&self.endpoint), self.headers.clone());
        async move {
            let body = serde_json::to_vec(&item)?;
            door.tell(&endpoint, &headers, body.into()).await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.ended {
                return None;
            }
            match self.events.next().await {
                None => self.ended = true,
                Some(Err(error)) => self.end(&error),
                Some(Ok(event)) => {
                    if let Some(message) = self.message(event) {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.ended = true;
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_same_origin_are_told_anything() {
        let target = Url::parse("https://mcp.example:8443/a/sse").unwrap();
        let check = |named: &str, expected: Option<&str>| {
            assert_eq!(endpoint(&target, named).ok().as_deref(), expected, "{named}");
        };
        check("/messages?sessionId=1", Some("https://mcp.example:8443/messages?sessionId=1"));
        check("messages", Some("https://mcp.example:8443/a/messages"));
        check("https://mcp.example:8443/m", Some("https://mcp.example:8443/m"));
        for bad in [
            "https://evil.example/m",
            "//evil.example/m",
            "http://mcp.example:8443/m",
            "https://mcp.example/m",
            "https://a:b@mcp.example:8443/m",
            "file:///etc/passwd",
        ] {
            check(bad, None);
        }
    }
}

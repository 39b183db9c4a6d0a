//! A stream of events from a server, read within bounds.

use std::borrow::Cow;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{BoxStream, Stream};
use reqwest::Response;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};
use toolgate_core::number::has_wide_integer;

use crate::fault::{BadAnswer, BadAnswers};
use crate::measure::too_deep;
use crate::task::kept_whole;

/// How many times the largest message one answer may take with all that comes before it.
const MESSAGES_IN_ALL: usize = 4;

/// When a stream that ended is taken up again, in milliseconds.
const SOONEST_RETRY: u64 = 100;
const LATEST_RETRY: u64 = 30_000;

#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("the stream is larger than we read")]
    TooLarge,
    #[error("the stream broke")]
    Broken,
}

/// The events of a response. For the answer to a request, what can't be taken ends the stream with an error to that
/// request; other streams just end.
pub(crate) fn events(
    response: Response,
    id: Option<RequestId>,
    most: usize,
    bad: BadAnswers,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let in_all = id.is_some().then(|| most.saturating_mul(MESSAGES_IN_ALL));
    let bytes = bounded(response.bytes_stream(), most, in_all);
    let events = SseStream::from_bytes_stream(bytes.boxed());
    let checked = events.scan(false, move |ended, event| {
        if *ended {
            return std::future::ready(None);
        }
        let fault = match &event {
            Ok(event) if event.data.as_ref().is_some_and(|data| too_deep(data.as_bytes())) => {
                Some(BadAnswer::Unreadable)
            }
            Ok(event) => {
                // Whether that matters is for those to say who asked.
                if let (Some(id), Some(data)) = (&id, &event.data)
                    && has_wide_integer(data.as_bytes())
                    && data.contains("\"result\"")
                {
                    bad.note(id.clone(), BadAnswer::Inexact);
                }
                None
            }
            Err(SseError::Body(cause)) => match cause.downcast_ref() {
                Some(Unread::TooLarge) => Some(BadAnswer::TooLarge),
                // One that broke may be taken up again where it stopped.
                Some(Unread::Broken) | None => None,
            },
            Err(SseError::Utf8Parse(_)) => Some(BadAnswer::Unreadable),
            Err(_) => None,
        };
        let Some(fault) = fault else {
            return std::future::ready(Some(event.map(patient).map(only_messages)));
        };
        *ended = true;
        let Some(id) = &id else { return std::future::ready(None) };
        bad.note(id.clone(), fault);
        let error = ErrorData::invalid_request("the answer can't be taken", None);
        let message = ServerJsonRpcMessage::error(error, Some(id.clone()));
        let data = serde_json::to_string(&message).ok();
        std::future::ready(data.map(|data| Ok(Sse::default().data(data))))
    });
    checked.boxed()
}

/// The events of a stream that belongs to no request, as they are: each within bounds, the first that is not ends it.
pub(crate) fn raw_events(response: Response, most: usize) -> BoxStream<'static, Result<Sse, SseError>> {
    SseStream::from_bytes_stream(bounded(response.bytes_stream(), most, None).boxed()).boxed()
}

/// Whether a stream ended because an event is larger than we read.
pub(crate) fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if matches!(cause.downcast_ref(), Some(Unread::TooLarge)))
}

/// A server that wants us back at once, again and again, is not obeyed.
fn patient(mut event: Sse) -> Sse {
    event.retry = event.retry.map(|millis| millis.clamp(SOONEST_RETRY, LATEST_RETRY));
    event
}

/// Events of other names, and what is no message, are somebody else's: signs of life, most often.
fn only_messages(mut event: Sse) -> Sse {
    let named = event.event.as_deref().is_none_or(|name| name.is_empty() || name == "message");
    let message = |data: &String| serde_json::from_str::<Message>(data).is_ok();
    event.data = event.data.filter(message).filter(|_| named);
    if let Some(Cow::Owned(rewritten)) = event.data.as_ref().map(|data| kept_whole(data.as_bytes())) {
        event.data = String::from_utf8(rewritten).ok();
    }
    event
}

/// Whatever has what every message has.
#[derive(serde::Deserialize)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: serde::de::IgnoredAny,
}

fn bounded(
    bytes: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
    most: usize,
    in_all: Option<usize>,
) -> impl Stream<Item = Result<Bytes, Unread>> + Send + 'static {
    bytes.scan((Event::default(), 0usize), move |(event, total), chunk| {
        std::future::ready(Some(match chunk {
            Ok(chunk) => {
                *total = total.saturating_add(chunk.len());
                let fits = event.fits(&chunk, most) && in_all.is_none_or(|in_all| *total <= in_all);
                if fits { Ok(chunk) } else { Err(Unread::TooLarge) }
            }
            Err(_) => Err(Unread::Broken),
        }))
    })
}

/// How much of one event has come.
#[derive(Default)]
struct Event {
    size: usize,
    line: usize,
}

impl Event {
    fn fits(&mut self, chunk: &[u8], most: usize) -> bool {
        for byte in chunk {
            match byte {
                // An empty line ends an event. Of the two characters a line may end in, the second looks like one.
                b'\n' | b'\r' if self.line == 0 => self.size = 0,
                b'\n' => {
                    self.line = 0;
                }
                b'\r' => {}
                _ => {
                    self.line += 1;
                    self.size += 1;
                    if self.size > most {
                        return false;
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_are_taken() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let taken = |name: Option<&str>, data: &str| {
            let mut event = Sse::default().data(data.to_owned());
            event.event = name.map(str::to_owned);
            only_messages(event).data.is_some()
        };
        assert!(taken(None, message) && taken(Some("message"), message) && taken(Some(""), message));
        assert!(!taken(Some("ping"), message) && !taken(Some("endpoint"), "/messages?id=1"));
        assert!(!taken(None, "{}") && !taken(None, "ok") && !taken(None, "[]"));
    }

    #[test]
    fn events_are_measured_one_by_one() {
        let mut event = Event::default();
        assert!(event.fits(b"data: 0123\n\ndata: 4567\r\n\r\ndata: 89", 10));
        assert!(event.fits(b"01\n", 10));
        assert!(!event.fits(b"id: 1", 10));
    }
}

//! Answers as streams of events (`text/event-stream`).

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use toolgate_mcp::{Id, Told};

use super::job::Work;
use super::keep::keeping;
use super::places::Place;

/// How often a silent stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of messages that ends with an answer, or when nobody may listen any more.
pub(super) struct Flow {
    pub(super) messages: mpsc::UnboundedReceiver<Told>,
    pub(super) work: Option<Work>,
    pub(super) last: Option<Told>,
    pub(super) first: Option<Told>,
    pub(super) id: Id,
    pub(super) guard: Option<DropGuard>,
    /// Given back when the stream ends.
    pub(super) _place: Option<Place>,
}

impl Flow {
    /// What is told next; none after the answer.
    pub(super) async fn next(&mut self) -> Option<Told> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if let Some(work) = &mut self.work {
            let done = tokio::select! {
                biased;
                Some(message) = self.messages.recv() => return Some(message),
                done = work => done,
            };
            self.work = None;
            self.guard.take().map(DropGuard::disarm);
            self.last = Some(done.told(&self.id));
        }
        // What was said just before the answer comes before it.
        if let Ok(message) = self.messages.try_recv() {
            return Some(message);
        }
        self.last.take()
    }

    /// Whether the answer has been told.
    pub(super) const fn is_over(&self) -> bool {
        self.work.is_none() && self.last.is_none()
    }
}

/// A stream that ends with an answer, as a response.
pub(super) fn sse(flow: Flow) -> Response {
    sse_of(stream::unfold(Some(flow), |flow| async move {
        let mut flow = flow?;
        let told = flow.next().await?;
        // The call goes on without the stream.
        let flow = told.closes.is_none().then_some(flow);
        Some((told, flow))
    }))
}

/// A stream as a response.
pub(super) fn sse_of(pieces: impl Stream<Item = Told> + Send + 'static) -> Response {
    let events = stream::unfold(Box::pin(pieces), |mut pieces| async move {
        let bytes = match tokio::time::timeout(KEEP_ALIVE, pieces.next()).await {
            Ok(told) => unread(told?),
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((Ok::<_, Infallible>(bytes), pieces))
    });
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        (header::CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(events)).into_response()
}

/// A piece as bytes, whose room is given back when they are with the client, or lost.
fn unread(mut told: Told) -> Bytes {
    let kept = told.kept.take();
    keeping(event(told), kept)
}

/// A piece as an event. Written by hand: a piece without a message is one whose data is empty, which axum leaves out and
/// clients must see to know where to go on.
fn event(told: Told) -> String {
    let message = told.message.unwrap_or_default();
    let mut text = String::with_capacity(message.len() + 64);
    if let Some(id) = told.event {
        text.push_str(&format!("id: {id}\n"));
    }
    if let Some(retry) = told.closes {
        text.push_str(&format!("retry: {}\n", retry.as_millis()));
    }
    if !message.is_empty() {
        text.push_str("event: message\n");
    }
    // Outside of texts JSON has no use for the one, and the other begins a line of its own.
    for line in message.split('\n') {
        text.push_str("data: ");
        match line.contains('\r') {
            true => text.push_str(&line.replace('\r', " ")),
            false => text.push_str(line),
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_events() {
        let told = |message: Option<&str>, event: Option<&str>, closes| Told {
            message: message.map(str::to_owned),
            event: event.map(str::to_owned),
            closes,
            kept: None,
        };
        assert_eq!(event(told(Some("{}"), None, None)), "event: message\ndata: {}\n\n");
        assert_eq!(event(told(None, Some("l.a"), None)), "id: l.a\ndata: \n\n");
        let closing = told(None, Some("c.1.-.x"), Some(Duration::from_millis(500)));
        assert_eq!(event(closing), "id: c.1.-.x\nretry: 500\ndata: \n\n");
        let forged = told(Some("{\r\n\n\"a\": 1}"), None, None);
        assert_eq!(event(forged), "event: message\ndata: { \ndata: \ndata: \"a\": 1}\n\n");
    }
}

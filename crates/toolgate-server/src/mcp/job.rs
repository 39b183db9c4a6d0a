//! One request under way: answered at once as JSON, or as a stream as soon as there is something to say before the
//! answer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;
use toolgate_core::{Actor, Timestamp};
use toolgate_mcp::{Client, Exchange, Headers, Outbox, Reader, Request, RpcError, Selection, result_message};

use super::accept::Accepts;
use super::caller::Bearer;
use super::keep::{Done, keeping};
use super::refuse;
use super::sse::{Flow, sse};
use crate::ServerState;
use crate::auth::base_url;
use crate::door::Outside;

/// What is sent before the answer, and the answer.
pub(super) type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

/// Headers, as the protocol asks for them.
pub(super) struct HttpHeaders<'a>(pub(super) &'a HeaderMap);

impl Headers for HttpHeaders<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }
}

/// One request under way.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) state: ServerState,
    pub(super) parts: Parts,
    pub(super) actor: Actor,
    pub(super) client: Client,
    /// When the request came.
    pub(super) began: Timestamp,
    pub(super) session: Option<String>,
    pub(super) selection: Selection,
}

impl Job {
    /// Answers the request.
    pub(super) async fn answer(self, request: Request, accepts: Accepts) -> Response {
        let id = request.id.clone();
        let modern = self.client.is_modern();
        let listens = modern && request.method == "subscriptions/listen";
        let place = if listens { self.state.mcp.places.take(&self.actor) } else { None };
        if listens && place.is_none() {
            return refuse::door(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                "you have too many open streams",
                "close one, then try again",
            );
        }
        if listens && !accepts.stream {
            return refuse::door(
                StatusCode::NOT_ACCEPTABLE,
                "bad_request",
                "this answer is a stream",
                "send `Accept: application/json, text/event-stream`",
            );
        }
        // A stream ends with the server; a call that is under way is given its time.
        let gone = if listens { self.state.closing.child_token() } else { CancellationToken::new() };
        let reader = self.state.mcp.unread.reader(&self.actor);
        let (out, messages) = match accepts.stream {
            true => {
                let (out, messages) = Outbox::new(reader.clone());
                (out, Some(messages))
            }
            false => (Outbox::closed(), None),
        };
        let outside = Arc::new(AtomicU64::new(0));
        // In the modern era whoever closes the stream wants the answer no more; before, that meant nothing.
        let guard = modern.then(|| gone.clone().drop_guard());
        let mut work = self.work(request, out, reader, gone, Arc::clone(&outside));
        let Some(mut messages) = messages else {
            let done = work.await;
            guard.map(DropGuard::disarm);
            return plain(done, &id, &outside);
        };
        let first = tokio::select! {
            biased;
            done = &mut work => {
                guard.map(DropGuard::disarm);
                if messages.is_empty() && accepts.json {
                    return plain(done, &id, &outside);
                }
                let last = Some(done.told(&id));
                return sse(Flow { messages, work: None, last, first: None, id, guard: None, _place: place });
            }
            Some(first) = messages.recv() => first,
        };
        // A call must not stand still because its client does not read. Who only listens is told no faster than they read.
        let work = if listens { work } else { on_its_own(work) };
        sse(Flow { messages, work: Some(work), last: None, first: Some(first), id, guard, _place: place })
    }

    /// The request as one of several.
    pub(super) fn among_others(
        self,
        request: Request,
        accepts: Accepts,
        reader: &Reader,
        outside: &Arc<AtomicU64>,
    ) -> Flow {
        let id = request.id.clone();
        let (out, messages) = match accepts.stream {
            true => Outbox::new(reader.clone()),
            false => (Outbox::closed(), mpsc::unbounded_channel().1),
        };
        let work = self.work(request, out, reader.clone(), CancellationToken::new(), Arc::clone(outside));
        Flow { messages, work: Some(work), last: None, first: None, id, guard: None, _place: None }
    }

    fn work(
        self,
        request: Request,
        out: Outbox,
        reader: Reader,
        gone: CancellationToken,
        outside: Arc<AtomicU64>,
    ) -> Work {
        Box::pin(async move {
            let base = base_url(&self.state.settings, &self.parts.headers);
            let headers = HttpHeaders(&self.parts.headers);
            let id = request.id.clone();
            let exchange = Exchange {
                actor: &self.actor,
                client: &self.client,
                session: self.session.as_deref(),
                began: self.began,
                selection: &self.selection,
                id: &id,
                base: &base,
                headers: Some(&headers),
                out: &out,
                gone: &gone,
                outside: &outside,
            };
            let gate = &self.state.mcp.gate;
            if self.client.is_modern() && request.method == "subscriptions/listen" {
                let bearer = Bearer { state: self.state.clone(), parts: self.parts.clone() };
                return Done::to(&reader, gate.listen(&exchange, &request.params, &bearer).await);
            }
            Done::to(&reader, gate.answer(&exchange, request).await)
        })
    }
}

/// The same work on a task of its own, which ends where it is left.
fn on_its_own(work: Work) -> Work {
    let task = AbortOnDropHandle::new(tokio::spawn(work));
    Box::pin(async move {
        task.await.unwrap_or_else(|_| {
            let hint = "look the call up before you repeat it";
            let error = RpcError::coded(RpcError::INTERNAL, "internal", "the answer broke off", hint);
            Done { result: Err(error), kept: None }
        })
    })
}

fn plain(done: Done, id: &toolgate_mcp::Id, outside: &AtomicU64) -> Response {
    let mut response = match done.result {
        Ok(result) => {
            let body = keeping(result_message(id, &result), done.kept);
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(error) => refuse::rpc(&error, Some(id)),
    };
    let outside = Duration::from_micros(outside.load(Ordering::Relaxed));
    response.extensions_mut().insert(Outside(outside));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn a_call_goes_on_while_its_client_does_not_read() {
        let (tell, told) = oneshot::channel();
        let kept = on_its_own(Box::pin(async move {
            let _ = tell.send(());
            Done { result: Ok("{}".to_owned()), kept: None }
        }));
        // Nobody asks for the answer yet.
        told.await.unwrap();
        assert_eq!(kept.await.result.unwrap(), "{}");

        let (tell, told) = oneshot::channel::<()>();
        let left = on_its_own(Box::pin(async move {
            let _tell = tell;
            std::future::pending().await
        }));
        drop(left);
        assert!(told.await.is_err(), "what is left is dropped");
    }
}

//! Several messages in one body, for sessions that agreed on the version that has them. Each takes the path of one that
//! comes alone; the answers come as an array, or one by one on a stream as soon as there is something to say before them.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use toolgate_mcp::{Malformed, Message, Notification, RpcError, Told, is_modern, parse_batch};

use super::accept::Accepts;
use super::job::Job;
use super::keep::keeping;
use super::post::{self, Came};
use super::refuse;
use super::sse::{Flow, sse_of};
use crate::door::Outside;

/// How many requests of a batch are under way at once.
const AT_ONCE: usize = 8;
/// How many bytes of answers are held back for an array, where the client could read them from a stream by now.
const MOST_HELD: usize = 1024 * 1024;
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Takes several messages.
pub(super) async fn take(came: Came, bytes: &[u8], accepts: Accepts) -> Response {
    let Came { state, parts, actor, began } = came;
    let (client, session) = match post::legacy(&state, &parts.headers, &actor, None).await {
        Ok(known) => known,
        Err(refused) => return refused,
    };
    if session.is_none() || !client.sends_batches() {
        return not_taken(bytes);
    }
    if parts.headers.contains_key(IDEMPOTENCY_KEY) {
        return refuse::door(
            StatusCode::BAD_REQUEST,
            "bad_request",
            "one idempotency key can't stand for several messages",
            "name one for each call, as `toolgate/idempotency_key` in its `_meta`",
        );
    }
    let messages = match parse_batch(bytes) {
        Ok(messages) => messages,
        Err(malformed) => return refuse::rpc(&malformed.error, None),
    };
    let selection = match post::selection(&state, &parts, &actor).await {
        Ok(Some(selection)) => selection,
        Ok(None) => return refuse::no_endpoint(None),
        Err(cause) => return refuse::api(cause.into()),
    };
    let reader = state.mcp.unread.reader(&actor);
    let outside = Arc::new(AtomicU64::new(0));
    let job = Job { state, parts, actor, client, began, session, selection };
    let (mut told, mut flows) = (Vec::new(), Vec::new());
    let mut to_come = requests(&messages);
    for message in messages {
        if let Ok(Message::Request(request)) = &message {
            to_come.remove(&request.id.to_json());
        }
        match message {
            Err(malformed) => told.push(answer(malformed.error.to_message(malformed.id.as_ref()))),
            Ok(Message::Request(request)) if is_modern(&request, None) => {
                told.push(answer(other_era().to_message(Some(&request.id))));
            }
            Ok(Message::Request(request)) => {
                flows.push(job.clone().among_others(request, accepts, &reader, &outside));
            }
            // What is cancelled before it is asked for is something else of the same name, long over.
            Ok(Message::Notification(notification)) if speaks_of(&notification, &to_come) => {}
            Ok(Message::Notification(notification)) => {
                post::notice(&job.state, &job.parts.headers, &job.actor, &notification).await;
            }
            Ok(Message::Response(response)) => job.state.mcp.gate.take_response(&job.actor, response).await,
        }
    }
    if told.is_empty() && flows.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let all = stream::iter(flows).map(|flow| pieces(flow).boxed());
    answers(told, all.flatten_unordered(AT_ONCE).boxed(), accepts, &outside).await
}

/// The ids of all requests.
fn requests(messages: &[Result<Message, Box<Malformed>>]) -> HashSet<String> {
    let id = |message: &Result<Message, _>| match message {
        Ok(Message::Request(request)) => Some(request.id.to_json()),
        _ => None,
    };
    messages.iter().filter_map(id).collect()
}

fn speaks_of(notification: &Notification, requests: &HashSet<String>) -> bool {
    notification.params.get("requestId").is_some_and(|id| requests.contains(&id.to_string()))
}

/// What comes of one request of several.
enum Piece {
    /// Something before its answer.
    Message(Told),
    /// Its answer.
    Answer(Told),
}

/// Everything that comes of one request.
fn pieces(flow: Flow) -> impl Stream<Item = Piece> + Send {
    stream::unfold(flow, |mut flow| async move {
        // The mark of a piece would lead back to its own request alone, so a stream of several has none.
        let told = Told { event: None, closes: None, ..flow.next().await? };
        let piece = if flow.is_over() { Piece::Answer(told) } else { Piece::Message(told) };
        Some((piece, flow))
    })
}

/// Answers all: in an array when nothing is said before, else one by one.
async fn answers(
    mut told: Vec<Told>,
    mut pieces: BoxStream<'static, Piece>,
    accepts: Accepts,
    outside: &AtomicU64,
) -> Response {
    let most = if accepts.stream { MOST_HELD } else { usize::MAX };
    if accepts.json && all_answered(&mut told, &mut pieces, most).await {
        return array(told, outside);
    }
    // The calls must not stand still because their client does not read.
    let (sender, receiver) = mpsc::unbounded_channel();
    let task = AbortOnDropHandle::new(tokio::spawn(async move {
        while let Some(Piece::Message(told) | Piece::Answer(told)) = pieces.next().await {
            if sender.send(told).is_err() {
                return;
            }
        }
    }));
    let rest = stream::unfold((receiver, task), |(mut receiver, task)| async move {
        Some((receiver.recv().await?, (receiver, task)))
    });
    sse_of(stream::iter(told).chain(rest))
}

/// Gathers answers until all are there, or until something is said before one or so many bytes are; then they are not.
async fn all_answered(told: &mut Vec<Told>, pieces: &mut BoxStream<'static, Piece>, most: usize) -> bool {
    let mut held = 0;
    while let Some(piece) = pieces.next().await {
        match piece {
            Piece::Answer(answer) => {
                held += answer.message.as_ref().map_or(0, String::len);
                told.push(answer);
                if held > most {
                    return false;
                }
            }
            Piece::Message(message) => {
                told.push(message);
                return false;
            }
        }
    }
    true
}

/// All answers as one array. Each keeps its room until it is read.
fn array(told: Vec<Told>, outside: &AtomicU64) -> Response {
    let mut opens = "[";
    let mut parts: Vec<Bytes> = Vec::with_capacity(told.len() + 1);
    for answer in told {
        let text = answer.message.unwrap_or_default();
        parts.push(keeping(format!("{opens}{text}"), answer.kept));
        opens = ",";
    }
    parts.push(Bytes::from_static(b"]"));
    let body = Body::from_stream(stream::iter(parts.into_iter().map(Ok::<_, Infallible>)));
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    let outside = Duration::from_micros(outside.load(Ordering::Relaxed));
    response.extensions_mut().insert(Outside(outside));
    response
}

fn answer(message: String) -> Told {
    Told { message: Some(message), ..Told::default() }
}

/// The answer to whoever did not agree on a version that has batches.
fn not_taken(bytes: &[u8]) -> Response {
    match Message::parse(bytes) {
        Err(malformed) => refuse::rpc(&malformed.error, None),
        Ok(_) => refuse::no_session(None),
    }
}

fn other_era() -> RpcError {
    let hint = "send it on its own";
    RpcError::coded(
        RpcError::INVALID_REQUEST,
        "bad_request",
        "this message is of a version without batches",
        hint,
    )
}

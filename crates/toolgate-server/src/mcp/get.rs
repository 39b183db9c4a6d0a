//! GET: the streams of a session of the handshake era. The open one tells when the tools a caller may see have changed;
//! the stream of a request that broke off is taken up here, wherever it began.

use std::sync::atomic::AtomicU64;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use futures::stream;
use toolgate_core::Actor;
use toolgate_mcp::{Client, Exchange, Id, LastEvent, Outbox, Resumed, Selection};

use super::accept::Accepts;
use super::caller::{self, Bearer};
use super::job::Work;
use super::keep::Done;
use super::places::Place;
use super::session::{self, Named};
use super::sse::{Flow, sse, sse_of};
use super::{post, refuse};
use crate::ServerState;
use crate::auth::base_url;

const LAST_EVENT: &str = "last-event-id";

/// Opens the stream.
pub(super) async fn get(State(state): State<ServerState>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let actor = match caller::of(&state, &parts).await {
        Ok(actor) => actor,
        Err(refused) => return refused,
    };
    let (id, session) = match session::named(&state, &parts.headers, &actor).await {
        Named::Nothing => return refuse::method_not_allowed(),
        Named::Unknown => return refuse::no_session(None),
        Named::Open { id, session } => (id, session),
    };
    if !Accepts::of(&parts.headers).stream {
        return refuse::door(
            StatusCode::NOT_ACCEPTABLE,
            "bad_request",
            "this answer is a stream",
            "send `Accept: text/event-stream`",
        );
    }
    let selection = match post::selection(&state, &parts, &actor).await {
        Ok(Some(selection)) => selection,
        Ok(None) => return refuse::no_endpoint(None),
        Err(cause) => return refuse::api(cause.into()),
    };
    let Some(place) = state.mcp.places.take(&actor) else {
        return refuse::door(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            "you have too many open streams",
            "close one, then try again",
        );
    };
    let last = match parts.headers.get(LAST_EVENT).map(|value| value.to_str().unwrap_or_default()) {
        None | Some("") => None,
        Some(text) => match state.mcp.gate.last_event(&id, text) {
            Some(last) => Some(last),
            None => {
                return refuse::door(
                    StatusCode::BAD_REQUEST,
                    "bad_request",
                    "`Last-Event-ID` is not of a stream of this session",
                    "open a stream without it, or send the request again",
                );
            }
        },
    };
    let open = Open { state, parts, actor, client: session.client(), session: id, selection, place };
    match last {
        Some(LastEvent::Request(resumed)) => open.take_up(*resumed),
        Some(LastEvent::Listening(visible)) => open.listen(Some(visible)),
        None => open.listen(None),
    }
}

/// A stream about to be opened.
struct Open {
    state: ServerState,
    parts: Parts,
    actor: Actor,
    client: Client,
    session: String,
    selection: Selection,
    place: Place,
}

impl Open {
    /// Tells of change until nobody listens, or nobody may.
    fn listen(self, last: Option<u64>) -> Response {
        let Self { state, parts, actor, client, selection, place, .. } = self;
        let (out, messages) = Outbox::new(state.mcp.unread.reader(&actor));
        let gone = state.closing.child_token();
        let guard = gone.clone().drop_guard();
        let began = state.app.runner().parts().clock.now();
        let listening = Box::pin(async move {
            let (id, outside) = (Id::Number(0), AtomicU64::new(0));
            let exchange = Exchange {
                actor: &actor,
                client: &client,
                session: None,
                began,
                selection: &selection,
                id: &id,
                base: "",
                headers: None,
                out: &out,
                gone: &gone,
                outside: &outside,
            };
            let bearer = Bearer { state: state.clone(), parts };
            state.mcp.gate.listen_legacy(&exchange, &bearer, last).await;
        });
        sse_of(stream::unfold((messages, listening, guard, place), |mut flow| async move {
            tokio::select! {
                biased;
                Some(told) = flow.0.recv() => Some((told, flow)),
                () = &mut flow.1 => None,
            }
        }))
    }

    /// Tells what is still to be told of a request, and its answer.
    fn take_up(self, resumed: Resumed) -> Response {
        let Self { state, parts, actor, client, session, selection, place } = self;
        let reader = state.mcp.unread.reader(&actor);
        let (out, messages) = Outbox::new(reader.clone());
        let gone = state.closing.child_token();
        let request = resumed.request().clone();
        let id = request.clone();
        let guard = Some(gone.clone().drop_guard());
        let work: Work = Box::pin(async move {
            let (base, outside) = (base_url(&state.settings, &parts.headers), AtomicU64::new(0));
            let exchange = Exchange {
                actor: &actor,
                client: &client,
                session: Some(&session),
                began: resumed.began(),
                selection: &selection,
                id: &request,
                base: &base,
                headers: None,
                out: &out,
                gone: &gone,
                outside: &outside,
            };
            Done::to(&reader, state.mcp.gate.take_up(&exchange, &resumed).await)
        });
        sse(Flow { messages, work: Some(work), last: None, first: None, id, guard, _place: Some(place) })
    }
}

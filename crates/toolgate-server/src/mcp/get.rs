//! GET: the open stream of a session of the handshake era. It tells when the tools a caller may see have changed.

use std::convert::Infallible;
use std::sync::atomic::AtomicU64;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use futures::stream;
use toolgate_mcp::{Exchange, Id, Outbox};

use super::accept::Accepts;
use super::caller::{self, Bearer};
use super::job::{event, sse_of};
use super::session::{self, Named};
use super::{post, refuse};
use crate::ServerState;

/// Opens the stream.
pub(super) async fn get(State(state): State<ServerState>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let actor = match caller::of(&state, &parts).await {
        Ok(actor) => actor,
        Err(refused) => return refused,
    };
    let session = match session::named(&state, &parts.headers, &actor).await {
        Named::Nothing => return refuse::method_not_allowed(),
        Named::Unknown => return refuse::no_session(None),
        Named::Open { session, .. } => session,
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
    let (out, messages) = Outbox::new();
    let gone = state.closing.child_token();
    let guard = gone.clone().drop_guard();
    let client = session.client();
    let listening = Box::pin(async move {
        let (id, outside) = (Id::Number(0), AtomicU64::new(0));
        let exchange = Exchange {
            actor: &actor,
            client: &client,
            session: None,
            selection: &selection,
            id: &id,
            base: "",
            headers: None,
            out: &out,
            gone: &gone,
            outside: &outside,
        };
        let bearer = Bearer { state: state.clone(), parts };
        state.mcp.gate.listen_legacy(&exchange, &bearer).await;
    });
    let events = stream::unfold((messages, listening, guard, place), |mut flow| async move {
        tokio::select! {
            biased;
            Some(message) = flow.0.recv() => Some((Ok::<_, Infallible>(event(&message)), flow)),
            () = &mut flow.1 => None,
        }
    });
    sse_of(events)
}

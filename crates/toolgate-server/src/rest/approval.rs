//! Waiting calls: change, talk about, pass on; standing grants; the inbox.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use toolgate_api::{
    EditRequest, ErrorBody, GrantListView, GrantView, InboxView, InvocationView, ReassignRequest,
    RemarkRequest, RememberRequest, RememberWord, rfc3339,
};
use toolgate_app::{Assignee, Inbox, Remember, RememberArguments, Stored};
use toolgate_core::Actor;
use toolgate_core::grant::Grant;
use toolgate_core::id::{InvocationId, SessionId};
use utoipa::IntoParams;

use super::connection;
use super::document::NamePage;
use super::invocation::invocation_id;
use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId, Standing};

/// How late a change made on another node may be seen by the live count.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Changes the input of a waiting call without deciding on it. What was said before no longer counts.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/edit", tag = "approvals", params(("id" = String, Path)),
    request_body = EditRequest,
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn edit_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<EditRequest>,
) -> Result<Json<InvocationView>, ApiError> {
    let id = invocation_id(&id)?;
    let edited = state.app.edit_invocation(&actor, id, body.input, body.digest.as_deref()).await?;
    Ok(Json(edited.into()))
}

/// Asks back about a waiting call, or answers.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/remarks", tag = "approvals", params(("id" = String, Path)),
    request_body = RemarkRequest,
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn remark_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<RemarkRequest>,
) -> Result<Json<InvocationView>, ApiError> {
    let said = state.app.remark_invocation(&actor, invocation_id(&id)?, &body.text).await?;
    Ok(Json(said.into()))
}

/// Gives a waiting call to someone else to decide on: a person, or whoever holds a role. Who may decide stays as it is.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/reassign", tag = "approvals", params(("id" = String, Path)),
    request_body = ReassignRequest,
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn reassign_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<ReassignRequest>,
) -> Result<Json<InvocationView>, ApiError> {
    let to = match (body.to, body.role) {
        (Some(person), None) => Assignee::Person(parse_id(&person, "to")?),
        (None, Some(role)) => Assignee::Role(parse_id(&role, "role")?),
        (Some(_), Some(_)) | (None, None) => return Err(bad("name one of `to` and `role`")),
    };
    let given = state.app.reassign_invocation(&actor, invocation_id(&id)?, to).await?;
    Ok(Json(given.into()))
}

/// Lists standing grants and how often each was used: your own, or all for those who manage approvals.
#[utoipa::path(get, path = "/api/v1/grants", tag = "approvals", params(NamePage),
    responses((status = 200, body = GrantListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_grants(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<GrantListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_grants(&actor, page.cursor.as_deref(), limit).await?;
    let grants = found.into_iter().map(|(grant, used)| grant_view(grant, used)).collect();
    Ok(Json(GrantListView { grants, next_cursor }))
}

/// Shows a standing grant and how often it was used.
#[utoipa::path(get, path = "/api/v1/grants/{name}", tag = "approvals", params(("name" = String, Path)),
    responses((status = 200, body = GrantView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_grant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(name): PathId,
) -> Result<Json<GrantView>, ApiError> {
    let (grant, used) = state.app.read_grant(&actor, &name).await?;
    Ok(Json(grant_view(grant, used)))
}

/// Takes a standing grant back. The next such call asks again, on every node within a second.
#[utoipa::path(delete, path = "/api/v1/grants/{name}", tag = "approvals", params(("name" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn revoke_grant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(name): PathId,
) -> Result<StatusCode, ApiError> {
    state.app.revoke_grant(&actor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxQuery {
    /// `all`, `mine` (made by you or for you, or given to you), `group` (the rest of what you may decide on) or `decided`
    /// (what you decided on or said yes to).
    r#box: Option<String>,
    /// `next_cursor` of the page before, with `decided`.
    cursor: Option<String>,
    /// How many of what you decided, from 1 to 1000.
    limit: Option<u32>,
}

/// Shows what waits for you: calls you may decide on, and calls in doubt that you may settle. Or what you decided.
#[utoipa::path(get, path = "/api/v1/inbox", tag = "approvals", params(InboxQuery),
    responses((status = 200, body = InboxView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_inbox(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    asked: Result<Query<InboxQuery>, QueryRejection>,
) -> Result<Json<InboxView>, ApiError> {
    let asked = query(asked)?;
    let which = match asked.r#box.as_deref() {
        Some("decided") => return read_decided(&state, &actor, &asked).await.map(Json),
        None | Some("all") => Inbox::All,
        Some("mine") => Inbox::Mine,
        Some("group") => Inbox::Group,
        Some(_) => return Err(bad("`box` must be `all`, `mine`, `group` or `decided`")),
    };
    if asked.cursor.is_some() || asked.limit.is_some() {
        return Err(bad("`cursor` and `limit` go with `box=decided` only"));
    }
    let items = state.app.inbox(&actor, which).await?;
    let count = items.len() as u64;
    let items = items.into_iter().take(200).map(InvocationView::listed).collect();
    let chores = state.app.chores(&actor).await?;
    let connections = chores.connections.into_iter().map(connection::view).collect();
    Ok(Json(InboxView { items, connections, reviews: chores.reviews, count, next_cursor: None }))
}

async fn read_decided(state: &ServerState, actor: &Actor, asked: &InboxQuery) -> Result<InboxView, ApiError> {
    let after = asked.cursor.as_deref().map(|cursor| parse_id(cursor, "cursor")).transpose()?;
    let (items, next) = state.app.decided(actor, after, limit(asked.limit, 100)?).await?;
    Ok(InboxView {
        count: items.len() as u64,
        items: items.into_iter().map(InvocationView::listed).collect(),
        connections: Vec::new(),
        reviews: 0,
        next_cursor: next.map(|id| id.to_string()),
    })
}

/// Streams how much waits for you (server-sent events): an `inbox` event with the count, now and at every change.
#[utoipa::path(get, path = "/api/v1/inbox/events", tag = "approvals",
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn inbox_events(
    State(state): State<ServerState>,
    mut standing: Standing,
) -> Result<Response, ApiError> {
    let Caller(actor) = standing.caller(&state).await?;
    // Listens before it looks: what happens in between is news.
    let news = state.app.runner().watch();
    // Asked once here, so that a refusal is an error and not a broken stream.
    let first = waiting(&state, &actor).await?;
    let watch = Watch { news, state, standing, told: None, next: Some(first) };
    let counts = stream::unfold(watch, |mut watch| async move {
        loop {
            let waiting = match watch.next.take() {
                Some(first) => first,
                None => {
                    watch.rest().await?;
                    // Whoever may no longer come in hears no more.
                    let Caller(actor) = watch.standing.caller(&watch.state).await.ok()?;
                    waiting(&watch.state, &actor).await.ok()?
                }
            };
            if watch.told.as_ref() != Some(&waiting) {
                let count = waiting.calls.len() + waiting.chores;
                watch.told = Some(waiting);
                let event = SseEvent::default().event("inbox").data(format!("{{\"count\":{count}}}"));
                return Some((Ok::<_, Infallible>(event), watch));
            }
        }
    });
    Ok(Sse::new(counts).keep_alive(KeepAlive::default()).into_response())
}

/// What waits for a person, as far as it takes to tell that it changed.
#[derive(PartialEq, Eq)]
struct Waiting {
    /// Each call and its revision: a remark or an edit moves it.
    calls: Vec<(InvocationId, u64)>,
    /// How many dead connections, and one more when there is anything to review.
    chores: usize,
}

async fn waiting(state: &ServerState, actor: &Actor) -> Result<Waiting, ApiError> {
    let calls = state.app.inbox(actor, Inbox::All).await?;
    let calls = calls.iter().map(|call| (call.id(), call.revision)).collect();
    Ok(Waiting { calls, chores: state.app.chores(actor).await?.count() })
}

struct Watch {
    state: ServerState,
    standing: Standing,
    news: tokio::sync::broadcast::Receiver<SessionId>,
    told: Option<Waiting>,
    next: Option<Waiting>,
}

impl Watch {
    /// Waits for news, or a while; none when the server is going down.
    async fn rest(&mut self) -> Option<()> {
        tokio::select! {
            () = self.state.closing.cancelled() => return None,
            _ = tokio::time::timeout(LOOK_AGAIN, self.news.recv()) => {}
        }
        // Many changes at once are one look.
        tokio::time::sleep(Duration::from_millis(100)).await;
        while self.news.try_recv().is_ok() {}
        Some(())
    }
}

pub(crate) fn remember(body: RememberRequest) -> Result<Remember, ApiError> {
    let arguments = match (body.arguments, body.schema) {
        (RememberWord::Same, None) => RememberArguments::Same,
        (RememberWord::Any, None) => RememberArguments::Any,
        (RememberWord::Within, Some(schema)) => RememberArguments::Within(schema),
        (RememberWord::Within, None) => return Err(bad("`within` needs a `schema`")),
        (RememberWord::Same | RememberWord::Any, Some(_)) => {
            return Err(bad("`schema` goes with `arguments: within` only"));
        }
    };
    let expires_in = Duration::from_secs(body.expires_in_seconds);
    Ok(Remember { arguments, session_only: body.session_only, expires_in })
}

fn grant_view(found: Stored<Grant>, used: u64) -> GrantView {
    let grant = found.body;
    GrantView {
        name: found.name,
        tool: grant.tool.to_string(),
        actor: grant.actor.to_string(),
        subject: grant.subject.map(|subject| subject.to_string()),
        session_id: grant.session.map(|session| session.to_string()),
        arguments: grant.arguments,
        by: grant.by.to_string(),
        created_at: rfc3339(grant.created_at),
        expires_at: rfc3339(grant.expires_at),
        call_id: grant.call.to_string(),
        used,
    }
}

//! The page that asks someone who just signed in whether to link themselves with whom they were before. Both are named:
//! nobody is linked without having seen with whom.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::{DoorCode, SecretText};
use toolgate_app::{AppError, PendingLink, Secret};

use super::cookie::LINK;
use super::form::Form;
use super::page::{alert, escape, hidden, page};
use super::signed_in::Arriving;
use super::{SignedInCaller, csrf, location};
use crate::ServerState;
use crate::error::ApiError;

/// Shows who would be linked with whom.
pub(super) async fn ask(
    State(state): State<ServerState>,
    caller: Result<SignedInCaller, ApiError>,
    Arriving(arrival): Arriving,
    headers: HeaderMap,
) -> Response {
    let pending = async {
        let caller = caller?;
        let secret = secret(&headers)?;
        let pending = state.app.pending_tenant_link(&caller.actor, &arrival, &secret).await.map_err(told)?;
        Ok((caller, pending))
    };
    match pending.await {
        Ok((caller, pending)) => question(&caller, &pending),
        Err(cause) => not_linked(&cause),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    csrf: SecretText,
    answer: String,
}

/// Takes the person's answer, and forgets that it was asked.
pub(super) async fn decide(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    headers: HeaderMap,
    Form(form): Form<Answer>,
) -> Response {
    let decided = async {
        let cookie = arrival.cookie.as_ref().ok_or_else(nothing)?;
        csrf::check_token(form.csrf.into_inner().as_bytes(), cookie)?;
        let secret = secret(&headers)?;
        if form.answer != "link" {
            return state.app.drop_tenant_link(&secret).await.map_err(told);
        }
        let found = state.app.authenticate_cookie(cookie).await?;
        let (actor, _) = found.ok_or_else(nothing)?;
        state.app.finish_tenant_link(&actor, &arrival, &secret).await.map_err(told)
    };
    match decided.await {
        Ok(()) => {
            let headers = [(header::SET_COOKIE, LINK.clear()), (header::LOCATION, location("/"))];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(cause) => not_linked(&cause),
    }
}

fn secret(headers: &HeaderMap) -> Result<Secret, ApiError> {
    LINK.read(headers).ok_or_else(nothing)
}

fn told(cause: AppError) -> ApiError {
    match cause {
        AppError::TokenInvalid => nothing(),
        other => other.into(),
    }
}

fn nothing() -> ApiError {
    ApiError::door(DoorCode::TokenInvalid, "there is nothing to link, or not any more")
        .hint("begin again with `Add another organisation`; it waits for ten minutes, and works once")
}

fn question(caller: &SignedInCaller, pending: &PendingLink) -> Response {
    let main = format!(
        "<p>You are signed in to <strong>{here}</strong> as <strong>{me}</strong>. Before, you were signed in to \
         <strong>{there}</strong> as <strong>{them}</strong>.</p>\n\
         <p>Are both of them you? Once linked, you can switch between them without signing in again. The \
         administrators of both see that you are linked, and can end it.</p>\n\
         <form method=\"post\" action=\"/link\">\n{csrf}\
         <p><button name=\"answer\" value=\"link\">Yes, link them</button>\n\
         <button name=\"answer\" value=\"no\">No, keep them apart</button></p>\n</form>\n",
        here = escape(caller.actor.tenant.as_str()),
        me = escape(caller.actor.principal.name()),
        there = escape(pending.tenant.id.as_str()),
        them = escape(pending.principal.id.name()),
        csrf = hidden("csrf", &csrf::token(&caller.cookie)),
    );
    page(StatusCode::OK, "Link two organisations", &main)
}

fn not_linked(cause: &ApiError) -> Response {
    let main = format!("{}<p>Nothing was linked. <a href=\"/\">Go on</a></p>\n", alert(cause));
    page(cause.status(), "Link two organisations", &main)
}

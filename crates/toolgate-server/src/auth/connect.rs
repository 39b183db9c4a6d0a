//! The pages of someone who logs in at an outside service: the question, the way there, and the way back.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::{DoorCode, SecretText};
use toolgate_core::connection::{Owner, is_service};

use super::form::Form;
use super::page::{escape, failed, hidden, page};
use super::signed_in::{Arriving, SignedInCaller};
use super::{csrf, location};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::PathId;
use crate::rest::{bad, connection_callback};

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    shared: bool,
}

/// Asks whether to log in at a service.
pub(super) async fn ask(
    caller: Result<SignedInCaller, ApiError>,
    PathId(service): PathId,
    uri: Uri,
    query: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let Ok(caller) = caller else { return to_sign_in(&uri) };
    if !is_service(&service) {
        return failed(&ApiError::door(DoorCode::NotFound, "there is no such service"));
    }
    let shared = query.is_ok_and(|Query(asked)| asked.shared);
    let whose = if shared { "for everyone" } else { "for yourself" };
    let main = format!(
        "<p>Connect <strong>{service}</strong> {whose}, as {who}. You log in at the service itself; this gate keeps \
         what it gives, sealed, and shows it to nobody.</p>\n<form method=\"post\">\n{csrf}{shared}\
         <button type=\"submit\">Connect</button>\n</form>\n",
        service = escape(&service),
        who = escape(caller.actor.principal.as_str()),
        csrf = hidden("csrf", &csrf::token(&caller.cookie)),
        shared = hidden("shared", if shared { "true" } else { "false" }),
    );
    page(StatusCode::OK, "Connect a service", &main)
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    csrf: SecretText,
    #[serde(default)]
    shared: bool,
}

/// Shows the way to the service's authorization server. A link, and not a redirect: browsers let forms lead to our own
/// pages alone, and people should see where they are about to log in.
pub(super) async fn begin(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    PathId(service): PathId,
    headers: HeaderMap,
    Form(form): Form<Answer>,
) -> Response {
    let begun = async {
        let missing = || ApiError::door(DoorCode::Unauthenticated, "nobody is signed in with this browser");
        let cookie = arrival.cookie.ok_or_else(missing)?;
        csrf::check_token(form.csrf.into_inner().as_bytes(), &cookie)?;
        let (actor, _) = state.app.authenticate_cookie(&cookie).await?.ok_or_else(missing)?;
        let redirect_uri = connection_callback(&state, &headers);
        let url = state.app.connect_service(&actor, &service, form.shared, redirect_uri).await?;
        Ok::<_, ApiError>(url)
    };
    match begun.await {
        Ok(url) => {
            let host = url
                .split_once("://")
                .map_or("", |(_, rest)| rest.split(['/', '?']).next().unwrap_or_default());
            let main = format!(
                "<p>You log in at <strong>{}</strong> and come back here.</p>\n\
                 <p><a href=\"{}\" rel=\"noreferrer\">Go on</a></p>\n",
                escape(host),
                escape(&url)
            );
            page(StatusCode::OK, "Log in at the service", &main)
        }
        Err(cause) => failed(&cause),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Callback {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
    iss: Option<String>,
}

impl Callback {
    /// The code or, where there is none, what the server says instead.
    fn code(&mut self) -> Result<String, Option<String>> {
        let said = [self.error.take(), self.error_description.take()];
        let said: Vec<String> = said.into_iter().flatten().collect();
        self.code.take().ok_or_else(|| (!said.is_empty()).then(|| said.join(": ")))
    }
}

/// Takes a browser that comes back.
pub(super) async fn callback(
    State(state): State<ServerState>,
    caller: Result<SignedInCaller, ApiError>,
    uri: Uri,
    query: Result<Query<Callback>, QueryRejection>,
) -> Response {
    // Only who began it ends it, so it has to be clear who this is.
    let Ok(caller) = caller else { return to_sign_in(&uri) };
    let finished = async {
        let Query(mut back) = query.map_err(|_| bad("the address has a malformed parameter"))?;
        let code = back.code();
        let finished = state.app.finish_connection(&caller.actor, &back.state, code, back.iss).await?;
        Ok::<_, ApiError>(finished)
    };
    match finished.await {
        Ok(connection) => {
            let whose = match connection.owner {
                Owner::Shared => "for everyone",
                Owner::Person(_) => "for yourself",
            };
            let service = escape(&connection.service);
            let main =
                format!("<p><strong>{service}</strong> is connected {whose}. You can close this page.</p>\n");
            page(StatusCode::OK, "Connected", &main)
        }
        Err(cause) => failed(&cause),
    }
}

/// What authorization servers read about us.
pub(super) async fn client_metadata(State(state): State<ServerState>, headers: HeaderMap) -> Response {
    let redirect_uri = connection_callback(&state, &headers);
    let here = redirect_uri.trim_end_matches("/connections/callback");
    let mut description = toolgate_core::connection::client_description(&redirect_uri);
    description["client_id"] = format!("{here}/oauth/client-metadata.json").into();
    description["client_uri"] = here.into();
    ([(header::CACHE_CONTROL, "max-age=3600")], Json(description)).into_response()
}

fn to_sign_in(uri: &Uri) -> Response {
    let here = uri.path_and_query().map_or("/", |here| here.as_str());
    let to = format!("/sign-in?{}", serde_urlencoded::to_string([("return_to", here)]).unwrap_or_default());
    (StatusCode::SEE_OTHER, [(header::LOCATION, location(&to))]).into_response()
}

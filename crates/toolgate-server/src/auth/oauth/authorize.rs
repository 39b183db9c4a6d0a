//! The visit of a browser that an application sent: sign in if need be, read what is asked, decide, go back.

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::{DoorCode, SecretText};
use toolgate_app::{AppError, Authorization, AuthorizeFault, AuthorizeRequest, OauthCode, OauthError};
use toolgate_core::Actor;
use toolgate_core::oauth::OauthScope;

use super::super::cookie::SIGN_IN;
use super::super::form::Form;
use super::super::page::{alert, page};
use super::super::{SignedInCaller, base_url, csrf, location, safe_path};
use super::consent;
use super::parameters::Parameters;
use crate::ServerState;
use crate::error::ApiError;

/// Shows what an application asks for, after signing in where nobody is.
pub(super) async fn ask(
    State(state): State<ServerState>,
    caller: Result<SignedInCaller, ApiError>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    if !state.app.oauth_built_in() {
        return crate::error::unknown_route().await.into_response();
    }
    let query = query.unwrap_or_default();
    let Some(request) = requested(&query) else { return malformed() };
    let caller = match caller {
        Ok(caller) => caller,
        Err(cause) if cause.status() == StatusCode::UNAUTHORIZED => return sign_in_first(&query),
        Err(cause) => return refused(&cause),
    };
    let base = base_url(&state.settings, &headers);
    match state.app.check_authorization(&caller.actor, request, &base).await {
        Ok(authorization) => {
            let csrf = csrf::token(&caller.cookie);
            consent::page(&caller.actor, &authorization, &query, &csrf, "")
        }
        Err(fault) => not_asked(fault, &base),
    }
}

/// Takes the person's decision. What was asked is checked again: the page may be old, or someone else's.
pub(super) async fn decide(
    State(state): State<ServerState>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let decision = Decision::of(fields);
    let Some(request) = requested(&decision.request) else { return malformed() };
    let actor = match person(&state, &headers, decision.csrf).await {
        Ok(Some(actor)) => actor,
        Ok(None) => return sign_in_first(&decision.request),
        Err(cause) => return refused(&cause),
    };
    let base = base_url(&state.settings, &headers);
    let authorization = match state.app.check_authorization(&actor, request, &base).await {
        Ok(authorization) => authorization,
        Err(fault) => return not_asked(fault, &base),
    };
    if !decision.allow {
        let (uri, state) = (&authorization.redirect_uri, authorization.state.as_deref());
        return back_with(uri, state, &base, OauthCode::AccessDenied, "the person did not let it in");
    }
    match state.app.allow_oauth_client(&actor, &authorization, &decision.scopes).await {
        Ok(code) => back(&authorization, &base, code.reveal()),
        Err(cause @ AppError::Invalid { .. }) => {
            let csrf = SIGN_IN.read(&headers).map(|cookie| csrf::token(&cookie)).unwrap_or_default();
            consent::page(&actor, &authorization, &decision.request, &csrf, &alert(&cause.into()))
        }
        Err(cause) => refused(&cause.into()),
    }
}

/// What a person decided.
#[derive(Default)]
struct Decision {
    csrf: String,
    /// What the application asked for, as it came.
    request: String,
    allow: bool,
    scopes: Vec<OauthScope>,
}

impl Decision {
    fn of(fields: Vec<(String, String)>) -> Self {
        let mut decision = Self::default();
        let mut only_reads = false;
        for (name, value) in fields {
            match name.as_str() {
                "csrf" => decision.csrf = value,
                "request" => decision.request = value,
                "decision" => decision.allow = value == "allow",
                "scope" => decision.scopes.extend(OauthScope::from_text(&value)),
                "only_reads" => only_reads = true,
                _ => {}
            }
        }
        if only_reads {
            for scope in decision.scopes.iter_mut().filter(|scope| **scope == OauthScope::Tools) {
                *scope = OauthScope::ToolsRead;
            }
        }
        decision
    }
}

/// Who decides: whoever is signed in with this browser, if our own page sent the decision.
async fn person(state: &ServerState, headers: &HeaderMap, csrf: String) -> Result<Option<Actor>, ApiError> {
    let Some(cookie) = SIGN_IN.read(headers) else { return Ok(None) };
    csrf::check_token(SecretText::from(csrf).into_inner().as_bytes(), &cookie)?;
    let known = state.app.authenticate_cookie(&cookie).await?;
    Ok(known.map(|(actor, _)| actor))
}

fn requested(query: &str) -> Option<AuthorizeRequest> {
    let mut parameters = Parameters::parse(query.as_bytes())?;
    let mut take = |name| parameters.take(name);
    Some(AuthorizeRequest {
        client_id: take("client_id").unwrap_or_default(),
        redirect_uri: take("redirect_uri").unwrap_or_default(),
        response_type: take("response_type").unwrap_or_default(),
        code_challenge: take("code_challenge").unwrap_or_default(),
        code_challenge_method: take("code_challenge_method").unwrap_or_default(),
        scope: take("scope"),
        state: take("state"),
        resource: take("resource"),
    })
}

fn sign_in_first(query: &str) -> Response {
    let here = format!("/oauth/authorize?{query}");
    if safe_path(Some(&here)) != here {
        return malformed();
    }
    let query = serde_urlencoded::to_string([("return_to", &here)]).unwrap_or_default();
    (StatusCode::FOUND, [(header::LOCATION, location(&format!("/sign-in?{query}")))]).into_response()
}

fn not_asked(fault: AuthorizeFault, base: &str) -> Response {
    match fault {
        AuthorizeFault::Here(OauthError::App(cause)) => refused(&cause.into()),
        AuthorizeFault::Here(OauthError::Refused { description, .. }) => {
            refused(&ApiError::door(DoorCode::BadRequest, description).hint(
                "go back to the application that sent you here; its makers can tell what it should have asked",
            ))
        }
        AuthorizeFault::Back { redirect_uri, state, code, description } => {
            back_with(&redirect_uri, state.as_deref(), base, code, &description)
        }
    }
}

fn malformed() -> Response {
    refused(
        &ApiError::door(DoorCode::BadRequest, "what the application asks for can't be read")
            .hint("go back to the application that sent you here, and try again"),
    )
}

fn refused(cause: &ApiError) -> Response {
    page(cause.status(), "That did not work", &alert(cause))
}

fn back(authorization: &Authorization, base: &str, code: &str) -> Response {
    let mut answer = vec![("code", code)];
    answer.extend(authorization.state.as_deref().map(|state| ("state", state)));
    answer.push(("iss", base));
    sent_back(&authorization.redirect_uri, &answer)
}

fn back_with(uri: &str, state: Option<&str>, base: &str, code: OauthCode, why: &str) -> Response {
    let mut answer = vec![("error", code.as_str()), ("error_description", why)];
    answer.extend(state.map(|state| ("state", state)));
    answer.push(("iss", base));
    sent_back(uri, &answer)
}

/// Sends a browser back with an answer. The address was one the application named before.
fn sent_back(uri: &str, answer: &[(&str, &str)]) -> Response {
    let query = serde_urlencoded::to_string(answer).unwrap_or_default();
    let joint = if uri.contains('?') { '&' } else { '?' };
    // Not 307 or 308: the decision with its CSRF token must not be sent along.
    (StatusCode::SEE_OTHER, [(header::LOCATION, location(&format!("{uri}{joint}{query}")))]).into_response()
}

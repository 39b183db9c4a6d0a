//! The forms that people without the web UI sign in with. Each is a page by GET and the same page with what went wrong
//! by POST, or on to where they wanted to go.

use axum::extract::{FromRequest, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolgate_api::{DoorCode, SecretText};
use toolgate_app::{Acceptance, AppError, Password, Secret, SignedIn};

use super::cookie::SIGN_IN;
use super::page::{alert, escape, failed, field, hidden, page};
use super::sign_in::{DEFAULT_TENANT, show_methods};
use super::signed_in::{Arriving, SignedInCaller};
use super::{csrf, location, safe_path};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::read;

/// A form as browsers send it, from one of our own pages.
#[derive(Debug)]
pub(super) struct Form<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<ServerState> for Form<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Response> {
        let form = async {
            let headers = request.headers();
            // The door has checked what `Origin` says; a browser that says nothing at all is none we know.
            if !headers.contains_key(header::ORIGIN) && !headers.contains_key("sec-fetch-site") {
                return Err(ApiError::door(
                    DoorCode::CsrfFailed,
                    "the request does not say which page sent it",
                ));
            }
            csrf::from_our_pages(headers)?;
            let bytes = read(request, state).await?;
            serde_urlencoded::from_bytes(&bytes)
                .map_err(|_| ApiError::door(DoorCode::BadRequest, "the form lacks a field"))
        };
        form.await.map(Self).map_err(|cause| failed(&cause))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SignInQuery {
    tenant: Option<String>,
    return_to: Option<String>,
    /// Whether someone who is signed in wants to sign in somewhere else as well.
    add: Option<bool>,
}

pub(super) async fn sign_in_page(
    State(state): State<ServerState>,
    caller: Result<SignedInCaller, ApiError>,
    Query(query): Query<SignInQuery>,
) -> Response {
    if let Ok(caller) = caller.as_ref()
        && query.add != Some(true)
    {
        return signed_in_page(caller);
    }
    show_sign_in(&state, query.tenant.as_deref(), query.return_to.as_deref(), None).await
}

#[derive(Debug, Deserialize)]
pub(super) struct SignInForm {
    tenant: Option<String>,
    login: String,
    password: SecretText,
    return_to: Option<String>,
}

pub(super) async fn sign_in(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    Form(form): Form<SignInForm>,
) -> Response {
    let tenant = form.tenant.as_deref().unwrap_or(DEFAULT_TENANT);
    let password = Password::new(form.password.into_inner());
    match state.app.sign_in(tenant, form.login.trim(), password, &arrival).await {
        Ok(signed_in) => go_on(&signed_in, form.return_to.as_deref()),
        Err(cause) => show_sign_in(&state, Some(tenant), form.return_to.as_deref(), Some(cause.into())).await,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SignOutForm {
    csrf: SecretText,
}

pub(super) async fn sign_out(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    Form(form): Form<SignOutForm>,
) -> Response {
    if let Some(cookie) = &arrival.cookie {
        if let Err(cause) = csrf::check_token(form.csrf.into_inner().as_bytes(), cookie) {
            return failed(&cause);
        }
        if let Err(cause) = state.app.end_cookie(cookie).await {
            return failed(&cause.into());
        }
    }
    let headers = [(header::SET_COOKIE, SIGN_IN.clear()), (header::LOCATION, location("/sign-in"))];
    (StatusCode::SEE_OTHER, headers).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct LinkQuery {
    #[serde(default)]
    token: String,
}

pub(super) async fn set_up_page(Query(query): Query<LinkQuery>) -> Response {
    show_set_up(&query.token, None)
}

pub(super) async fn invite_page(Query(query): Query<LinkQuery>) -> Response {
    show_invite(&query.token, None)
}

#[derive(Debug, Deserialize)]
pub(super) struct LinkForm {
    token: SecretText,
    login: Option<String>,
    title: Option<String>,
    password: SecretText,
}

pub(super) async fn set_up(
    State(state): State<ServerState>,
    arriving: Arriving,
    Form(form): Form<LinkForm>,
) -> Response {
    accept(&state, arriving, form, show_set_up).await
}

pub(super) async fn accept_invite(
    State(state): State<ServerState>,
    arriving: Arriving,
    Form(mut form): Form<LinkForm>,
) -> Response {
    form.login = None;
    accept(&state, arriving, form, show_invite).await
}

async fn accept(
    state: &ServerState,
    Arriving(arrival): Arriving,
    form: LinkForm,
    again: fn(&str, Option<ApiError>) -> Response,
) -> Response {
    let text = form.token.into_inner();
    let accepted = match Secret::given(&text) {
        None => Err(AppError::TokenInvalid),
        Some(token) => {
            let password = Password::new(form.password.into_inner());
            let acceptance = Acceptance { token, login: form.login, password, title: form.title };
            state.app.accept(acceptance, &arrival).await
        }
    };
    match accepted {
        Ok(signed_in) => go_on(&signed_in, None),
        Err(cause) => again(&text, Some(cause.into())),
    }
}

fn go_on(signed_in: &SignedIn, return_to: Option<&str>) -> Response {
    let headers = [
        (header::SET_COOKIE, SIGN_IN.set(&signed_in.cookie)),
        (header::LOCATION, location(safe_path(return_to))),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

async fn show_sign_in(
    state: &ServerState,
    tenant: Option<&str>,
    return_to: Option<&str>,
    wrong: Option<ApiError>,
) -> Response {
    let (tenant, return_to) = (tenant.unwrap_or(DEFAULT_TENANT), safe_path(return_to));
    let methods = match state.app.sign_in_methods(tenant).await {
        Ok(methods) => show_methods(methods),
        Err(cause) => return failed(&cause.into()),
    };
    let mut main = wrong.as_ref().map(alert).unwrap_or_default();
    if methods.set_up_needed {
        main.push_str(
            "<p>Nobody can sign in yet: open the set-up link that the server printed when it started.</p>\n",
        );
    }
    if tenant != DEFAULT_TENANT {
        main.push_str(&format!("<p>To the tenant <strong>{}</strong>.</p>\n", escape(tenant)));
    }
    if return_to == "/link" {
        main.push_str("<p>Prove who you are there. You are asked next whether to link it.</p>\n");
    }
    main.push_str("<form method=\"post\" action=\"/sign-in\">\n");
    main.push_str(&hidden("tenant", tenant));
    main.push_str(&hidden("return_to", return_to));
    main.push_str(&field(
        "login",
        "Login",
        "text",
        "username",
        "required autofocus spellcheck=\"false\" autocapitalize=\"none\"",
    ));
    main.push_str(&field("password", "Password", "password", "current-password", "required"));
    main.push_str("<p><button>Sign in</button></p>\n</form>\n");
    for provider in methods.providers {
        let query = serde_urlencoded::to_string([("return_to", return_to)]).unwrap_or_default();
        let href = escape(&format!("{}?{query}", provider.start));
        main.push_str(&format!(
            "<p><a class=\"button\" href=\"{href}\">{}</a></p>\n",
            escape(&provider.title)
        ));
    }
    page(wrong.map_or(StatusCode::OK, |wrong| wrong.status()), "Sign in", &main)
}

fn signed_in_page(caller: &SignedInCaller) -> Response {
    let main = format!(
        "<p>You are signed in as <strong>{}</strong>.</p>\n\
         <form method=\"post\" action=\"/sign-out\">\n{}<p><button>Sign out</button></p>\n</form>\n",
        escape(caller.actor.principal.name()),
        hidden("csrf", &csrf::token(&caller.cookie))
    );
    page(StatusCode::OK, "Signed in", &main)
}

const NEW_PASSWORD: &str = "required minlength=\"12\" maxlength=\"256\" aria-describedby=\"rule\"";
const RULE: &str =
    "<p id=\"rule\"><small>At least 12 characters. A few unrelated words are easy to remember.</small></p>\n";

fn show_set_up(token: &str, wrong: Option<ApiError>) -> Response {
    let main = format!(
        "{}<p>Make the first administrator. This link works once.</p>\n\
         <form method=\"post\" action=\"/set-up\">\n{}{}{}{}{RULE}<p><button>Create and sign in</button></p>\n</form>\n",
        wrong.as_ref().map(alert).unwrap_or_default(),
        hidden("token", token),
        field(
            "login",
            "Login",
            "text",
            "username",
            "required value=\"admin\" spellcheck=\"false\" autocapitalize=\"none\""
        ),
        field("title", "Your name", "text", "name", "maxlength=\"200\""),
        field("password", "Password", "password", "new-password", NEW_PASSWORD),
    );
    page(wrong.map_or(StatusCode::OK, |wrong| wrong.status()), "Set up Toolgate", &main)
}

fn show_invite(token: &str, wrong: Option<ApiError>) -> Response {
    let main = format!(
        "{}<p>Choose a password. This link works once.</p>\n\
         <form method=\"post\" action=\"/invite\">\n{}{}{}{RULE}<p><button>Save and sign in</button></p>\n</form>\n",
        wrong.as_ref().map(alert).unwrap_or_default(),
        hidden("token", token),
        field("title", "Your name", "text", "name", "maxlength=\"200\""),
        field("password", "Password", "password", "new-password", NEW_PASSWORD),
    );
    page(wrong.map_or(StatusCode::OK, |wrong| wrong.status()), "You are invited", &main)
}

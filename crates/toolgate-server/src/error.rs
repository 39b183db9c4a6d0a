//! Errors on their way out: a stable code, a sentence, a hint.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::{CallView, DoorCode, ErrorBody, ErrorView};
use toolgate_app::{AppError, IdentityFault};
use toolgate_core::port::store::StoreError;
use toolgate_core::runner::RunError;
use toolgate_core::{CallError, ErrorCode};

/// What a handler answers when there is nothing to show.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    error: ErrorView,
    retry_after_seconds: Option<u64>,
    /// Whether a credential came along that does not work here.
    invalid_token: bool,
}

impl ApiError {
    pub(crate) fn door(code: DoorCode, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            error: ErrorView {
                code: code.as_str().to_owned(),
                message: message.into(),
                hint: None,
                details: None,
            },
            retry_after_seconds: None,
            invalid_token: false,
        }
    }

    pub(crate) fn call(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status: call_status(code),
            error: ErrorView {
                code: code.as_str().to_owned(),
                message: message.into(),
                hint: None,
                details: None,
            },
            retry_after_seconds: None,
            invalid_token: false,
        }
    }

    fn of_call(error: CallError) -> Self {
        let code = error.code;
        Self { error: error.into(), ..Self::call(code, "") }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) const fn view(&self) -> &ErrorView {
        &self.error
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    /// The same, where what came as a credential is no longer one, or is one for elsewhere: clients then get a new one
    /// instead of trying again.
    pub(crate) const fn invalid_token(mut self) -> Self {
        self.invalid_token = true;
        self
    }

    fn details(mut self, details: serde_json::Value) -> Self {
        self.error.details = Some(details);
        self
    }
}

/// What helps against an error of the door about which nothing closer was said.
const fn usual_hint(code: DoorCode) -> &'static str {
    match code {
        DoorCode::BadRequest => "see /api/v1/openapi.json for what this address takes",
        DoorCode::IdentityInvalid => "begin again at /sign-in",
        DoorCode::Unauthenticated => {
            "sign in again, or send a key that works as `Authorization: Bearer <key>`"
        }
        DoorCode::Forbidden | DoorCode::IdentityRefused => "ask someone who may, such as an administrator",
        DoorCode::HostNotAllowed => "name it with `--allow-host` if it is yours",
        DoorCode::OriginNotAllowed => "open Toolgate itself and try there",
        DoorCode::CsrfFailed => "send `csrf_token` of `GET /api/v1/auth/session` as `X-Toolgate-CSRF`",
        DoorCode::NotFound => "check the id; what belongs to someone else is not shown either",
        DoorCode::TokenInvalid => "ask for a new link; each works once, and for a while",
        DoorCode::MethodNotAllowed => "see /api/v1/openapi.json",
        DoorCode::RequestTimeout => "send it again, and faster",
        DoorCode::Conflict => "look again at how it stands now, then decide",
        DoorCode::StorageFull => {
            "remove files you no longer need, or ask whoever runs this server to raise `files.tenant_bytes`"
        }
        DoorCode::PayloadTooLarge => "send less at once",
        DoorCode::UnsupportedMediaType => "send `Content-Type: application/json`",
        DoorCode::PolicyInvalid => "`details.problems` says what is wrong where; nothing was saved",
        DoorCode::TooManyAttempts => "wait, then try again",
        DoorCode::Unread => "read the call's result by its id",
        DoorCode::Internal => "whoever runs this server finds the cause in its log",
        DoorCode::IdentityUnavailable | DoorCode::StoreUnavailable | DoorCode::ShuttingDown => {
            "try again in a moment"
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(mut self) -> Response {
        let code = self.status;
        if self.error.hint.is_none() {
            let door = DoorCode::ALL.iter().find(|door| door.as_str() == self.error.code);
            self.error.hint = door.map(|door| usual_hint(*door).to_owned());
        }
        let mut response = (self.status, Json(ErrorBody { error: self.error })).into_response();
        if code == StatusCode::UNAUTHORIZED {
            let challenge = if self.invalid_token { "Bearer error=\"invalid_token\"" } else { "Bearer" };
            let challenge = header::HeaderValue::from_static(challenge);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        let at_once = (code == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        if let Some(seconds) = self.retry_after_seconds.or(at_once) {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from(seconds));
        }
        response
    }
}

impl From<AppError> for ApiError {
    fn from(cause: AppError) -> Self {
        match cause {
            AppError::NotFound { .. } => Self::door(DoorCode::NotFound, cause.to_string())
                .hint("check the id; what belongs to someone else is not shown either"),
            AppError::Forbidden { message, rule, hint } => Self {
                error: ErrorView {
                    code: DoorCode::Forbidden.as_str().to_owned(),
                    message,
                    hint,
                    details: rule.map(|rule| serde_json::json!({ "rule": rule })),
                },
                ..Self::door(DoorCode::Forbidden, "")
            },
            AppError::Invalid { message, hint, details } => Self {
                error: ErrorView { code: DoorCode::BadRequest.as_str().to_owned(), message, hint, details },
                ..Self::door(DoorCode::BadRequest, "")
            },
            AppError::Policy(problems) => {
                let problems: Vec<_> = problems.0.into_iter().map(crate::rest::policy::problem).collect();
                Self::door(DoorCode::PolicyInvalid, "the policies can't be used")
                    .hint("`details.problems` says what is wrong where; nothing was saved")
                    .details(serde_json::json!({ "problems": problems }))
            }
            AppError::Unauthenticated { message } => Self::door(DoorCode::Unauthenticated, message)
                .hint("try again; whoever manages users can make you a link to choose a new password"),
            AppError::TooMany { retry_after_seconds } => Self {
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::door(DoorCode::TooManyAttempts, "this was tried too often")
                    .hint("wait, then try again")
                    .details(serde_json::json!({ "retry_after_seconds": retry_after_seconds }))
            },
            AppError::TooLarge { most } => Self::door(DoorCode::PayloadTooLarge, cause.to_string())
                .hint("send a smaller file, or ask whoever runs this server to raise `files.max_bytes`")
                .details(serde_json::json!({ "max_bytes": most })),
            AppError::WrongKind { .. } => Self::door(DoorCode::UnsupportedMediaType, cause.to_string()).hint(
                "choose another file; its name or its `Content-Type` has to say that it is one of these",
            ),
            AppError::StorageFull => {
                Self::door(DoorCode::StorageFull, "the files kept here take up all the room they may")
            }
            AppError::TokenInvalid => Self::door(DoorCode::TokenInvalid, cause.to_string())
                .hint("ask for a new link; each works once, and for a while"),
            AppError::Identity { fault, message } => identity(fault, message),
            AppError::Conflict { message } => Self::door(DoorCode::Conflict, message),
            AppError::Call(error) => {
                let wait =
                    error.details.as_ref().and_then(|details| details.get("retry_after_seconds")?.as_f64());
                let retry_after_seconds = wait.map(|wait| wait.ceil() as u64);
                Self { retry_after_seconds, ..Self::of_call(error) }
            }
            AppError::Run(RunError::UnknownSession(_)) => Self::door(DoorCode::NotFound, cause.to_string())
                .hint("leave `session_id` out, or make one with `POST /api/v1/sessions`"),
            AppError::Run(RunError::KeyReused { first }) => Self::call(
                ErrorCode::IdempotencyConflict,
                "this idempotency key came with another body before",
            )
            .hint("use a new key for a new call, or send the first body again")
            .details(serde_json::json!({ "first_call_id": first.to_string() })),
            AppError::Run(RunError::Refused(error)) => Self::of_call(error),
            AppError::Run(RunError::Draining) => {
                Self::door(DoorCode::ShuttingDown, "the server is shutting down")
                    .hint("try again in a moment")
            }
            AppError::Run(RunError::Store(StoreError::Conflict)) => {
                Self::door(DoorCode::Conflict, "it changed in the meantime").hint("look again, then decide")
            }
            AppError::Run(RunError::Store(cause)) | AppError::Store(cause) => store(&cause),
            other => {
                tracing::error!(error = %other, "an error without a face");
                Self::door(DoorCode::Internal, "something went wrong on our side")
            }
        }
    }
}

fn identity(fault: IdentityFault, message: &'static str) -> ApiError {
    let (code, hint) = match fault {
        IdentityFault::Invalid => (DoorCode::IdentityInvalid, "begin again at /sign-in"),
        IdentityFault::Refused => (DoorCode::IdentityRefused, "ask whoever manages users here"),
        IdentityFault::Unavailable => (DoorCode::IdentityUnavailable, "try again in a moment"),
    };
    ApiError::door(code, message).hint(hint)
}

fn store(cause: &StoreError) -> ApiError {
    match cause {
        StoreError::Refused(_) => {
            tracing::error!(error = %cause, "the store refused a change");
            ApiError::door(DoorCode::Internal, "the record refused the change")
        }
        _ => {
            tracing::error!(error = %chain(cause), "the store is not available");
            ApiError::door(DoorCode::StoreUnavailable, "the record can't be reached now")
                .hint("try again in a moment, with the same idempotency key")
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The HTTP status a call's end is shown with.
pub(crate) const fn call_status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::Unavailable => StatusCode::NOT_FOUND,
        ErrorCode::PolicyDenied | ErrorCode::AuthzDenied => StatusCode::FORBIDDEN,
        ErrorCode::InvalidJson => StatusCode::BAD_REQUEST,
        ErrorCode::Validation | ErrorCode::Execution => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::RateLimited | ErrorCode::BudgetExceeded => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::ResultTooLarge
        | ErrorCode::OutputInvalid
        | ErrorCode::RedactionFailed
        | ErrorCode::UpstreamFailed => StatusCode::BAD_GATEWAY,
        ErrorCode::IdempotencyConflict
        | ErrorCode::Cancelled
        | ErrorCode::ConnectionNeeded
        | ErrorCode::Rejected
        | ErrorCode::Expired
        | ErrorCode::InDoubt => StatusCode::CONFLICT,
        // A code added later is a fault here until someone chooses its status.
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// A call's result with the status that fits it: 200 when it ended well, 202 with a handle when it goes on.
pub(crate) fn call_response(view: CallView, error: Option<(ErrorCode, Option<f64>)>) -> Response {
    let status = match (&error, view.ok) {
        // Not a failure that invites another try, whatever broke it off.
        (Some(_), _) if view.status == "in_doubt" => StatusCode::CONFLICT,
        (Some((code, _)), _) => call_status(*code),
        (None, true) => StatusCode::OK,
        (None, false) => StatusCode::ACCEPTED,
    };
    let location = format!("/api/v1/invocations/{}", view.call_id);
    let mut response = (status, Json(view)).into_response();
    if let Ok(value) = header::HeaderValue::from_str(&location) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    if let Some((_, Some(seconds))) = error
        && let Ok(value) = header::HeaderValue::from_str(&format!("{seconds:.0}"))
    {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

pub(crate) async fn unknown_route() -> ApiError {
    ApiError::door(DoorCode::NotFound, "there is nothing at this address").hint("see /api/v1/openapi.json")
}

pub(crate) async fn wrong_method() -> ApiError {
    ApiError::door(DoorCode::MethodNotAllowed, "this address does not take this method")
        .hint("see /api/v1/openapi.json")
}

pub(crate) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a handler broke off");
    ApiError::door(DoorCode::Internal, "something went wrong on our side").into_response()
}

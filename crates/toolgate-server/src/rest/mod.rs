//! REST under `/api/v1`, one file per noun.

mod audit;
mod invocation;
mod session;
mod tool;

use axum::Json;
use axum::response::IntoResponse;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ServerState;

pub(crate) const DOCUMENT_PATH: &str = "/api/v1/openapi.json";

#[derive(OpenApi)]
#[openapi(info(
    title = "Toolgate",
    description = "Define a tool once; every call, whoever makes it, takes the same guarded, recorded path. \
                   Every response says in `Server-Timing` how long the gate itself took."
))]
struct Document;

pub(crate) fn routes() -> OpenApiRouter<ServerState> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(tool::list_tools))
        .routes(routes!(tool::read_tool))
        .routes(routes!(tool::invoke_tool))
        .routes(routes!(invocation::list_invocations))
        .routes(routes!(invocation::read_invocation))
        .routes(routes!(invocation::cancel_invocation))
        .routes(routes!(invocation::approve_invocation))
        .routes(routes!(invocation::reject_invocation))
        .routes(routes!(invocation::settle_invocation))
        .routes(routes!(session::create_session))
        .routes(routes!(session::read_session))
        .routes(routes!(session::session_events))
        .routes(routes!(audit::verify_audit))
        .routes(routes!(audit::export_audit))
        .routes(routes!(audit::me))
}

/// The OpenAPI document, made from the routes.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    finish_document(routes().into_openapi())
}

pub(crate) fn finish_document(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().security_schemes.insert("key".to_owned(), scheme.into());
    document.security = Some(vec![SecurityRequirement::new("key", Vec::<String>::new())]);
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    document
}

pub(crate) async fn show_document(document: utoipa::openapi::OpenApi) -> impl IntoResponse {
    Json(document)
}

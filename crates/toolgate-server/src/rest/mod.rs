//! REST under `/api/v1`, one file per noun.

mod audit;
mod invocation;
mod session;
mod tool;

use axum::Json;
use axum::response::IntoResponse;
use utoipa::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
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
    for operation in
        document.paths.paths.values_mut().flat_map(|path| [&mut path.get, &mut path.post]).flatten()
    {
        for parameter in operation.parameters.iter_mut().flatten() {
            let RefOr::T(parameter) = parameter else { continue };
            // A header that may be left out is described as one that may be `null`; a header can't be.
            parameter.schema = match parameter.name.as_str() {
                "Idempotency-Key" => Some(text_header("^[!-~]{1,255}$")),
                "Last-Event-ID" => Some(text_header("^[0-9]{1,18}$")),
                _ => continue,
            };
        }
    }
    document
}

fn text_header(pattern: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
}

pub(crate) async fn show_document(document: utoipa::openapi::OpenApi) -> impl IntoResponse {
    Json(document)
}

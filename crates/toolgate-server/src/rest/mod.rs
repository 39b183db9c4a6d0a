//! REST under `/api/v1`, one file per noun.

mod approval;
mod approval_rule;
mod assignment;
mod audit;
mod connection;
mod document;
mod entity;
mod event_list;
mod event_place;
mod file;
mod input_request;
mod invocation;
mod key;
mod kill;
mod limit;
mod notification;
mod oauth;
pub(crate) mod policy;
mod principal;
mod profile;
mod registry;
mod report;
mod role;
mod session;
mod share;
mod tenant;
mod tenant_link;
mod tool;
mod toolset;
mod upstream;
mod upstream_tool;
mod usage;

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bytes::Bytes;
use utoipa::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ServerState;

pub(crate) use connection::callback as connection_callback;
pub(crate) use tool::{bad, parse_id, query};

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
        .routes(routes!(input_request::read_input_request, input_request::answer_input_request))
        .routes(routes!(report::report_result))
        .routes(routes!(report::report_by_callback))
        .routes(routes!(report::make_links))
        .routes(routes!(approval::edit_invocation))
        .routes(routes!(approval::remark_invocation))
        .routes(routes!(approval::reassign_invocation))
        .routes(routes!(approval::list_grants))
        .routes(routes!(approval::read_grant, approval::revoke_grant))
        .routes(routes!(approval::read_inbox))
        .routes(routes!(approval::inbox_events))
        .routes(routes!(notification::list_notifications))
        .routes(routes!(notification::retry_notification))
        .routes(routes!(notification::test_channel))
        .routes(routes!(approval_rule::list_approval_rules))
        .routes(routes!(
            approval_rule::read_approval_rule,
            approval_rule::put_approval_rule,
            approval_rule::delete_approval_rule
        ))
        .routes(routes!(share::share_invocation, share::list_shares))
        .routes(routes!(share::revoke_share))
        .routes(routes!(usage::read_usage))
        .routes(routes!(session::create_session))
        .routes(routes!(session::read_session))
        .routes(routes!(session::session_events))
        .routes(routes!(audit::verify_audit))
        .routes(routes!(audit::export_audit))
        .routes(routes!(event_list::list_events))
        .routes(routes!(event_list::follow_events))
        .routes(routes!(audit::me))
        .merge(crate::auth::api_routes())
        .routes(routes!(policy::read_policy, policy::save_policy))
        .routes(routes!(policy::validate_policy))
        .routes(routes!(policy::policy_schema))
        .routes(routes!(policy::policy_versions))
        .routes(routes!(policy::policy_version))
        .routes(routes!(policy::diff_policy))
        .routes(routes!(policy::roll_back_policy))
        .routes(routes!(policy::explain_policy, policy::explain_call))
        .routes(routes!(policy::try_policy))
        .routes(routes!(tenant::list_tenants, tenant::create_tenant))
        .routes(routes!(tenant::read_tenant, tenant::update_tenant))
        .routes(routes!(tenant::recover_tenant))
        .routes(routes!(tenant_link::list_tenant_links))
        .routes(routes!(tenant_link::end_tenant_link))
        .routes(routes!(principal::list_principals, principal::create_principal))
        .routes(routes!(principal::read_principal, principal::update_principal))
        .routes(routes!(key::list_keys, key::create_key))
        .routes(routes!(key::read_key, key::revoke_key))
        .routes(routes!(key::rotate_key))
        .routes(routes!(oauth::list_oauth_clients, oauth::create_oauth_client))
        .routes(routes!(oauth::read_oauth_client, oauth::remove_oauth_client))
        .routes(routes!(oauth::list_oauth_grants))
        .routes(routes!(oauth::revoke_oauth_grant))
        .routes(routes!(role::list_roles))
        .routes(routes!(role::read_role, role::put_role, role::delete_role))
        .routes(routes!(entity::list_entity_types))
        .routes(routes!(entity::find_entities))
        .routes(routes!(toolset::list_toolsets))
        .routes(routes!(toolset::read_toolset, toolset::put_toolset, toolset::delete_toolset))
        .routes(routes!(upstream::list_upstreams))
        .routes(routes!(upstream::read_upstream, upstream::put_upstream, upstream::delete_upstream))
        .routes(routes!(upstream::enable_upstream))
        .routes(routes!(upstream::disable_upstream))
        .routes(routes!(upstream::test_upstream))
        .routes(routes!(upstream::refresh_upstream))
        .routes(routes!(upstream_tool::list_upstream_tools))
        .routes(routes!(upstream_tool::read_upstream_tool))
        .routes(routes!(upstream_tool::accept_upstream_tool))
        .routes(routes!(upstream_tool::refuse_upstream_tool))
        .routes(routes!(profile::list_profiles))
        .routes(routes!(profile::read_profile, profile::put_profile, profile::delete_profile))
        .routes(routes!(
            assignment::list_assignments,
            assignment::put_assignment,
            assignment::delete_assignment
        ))
        .routes(routes!(limit::list_limits))
        .routes(routes!(limit::read_limit, limit::put_limit, limit::delete_limit))
        .routes(routes!(connection::list_connections))
        .routes(routes!(connection::put_connection, connection::delete_connection))
        .routes(routes!(connection::connect_service))
        .routes(routes!(file::send_file, file::list_files))
        .routes(routes!(file::read_file, file::remove_file))
        .routes(routes!(file::file_content))
        .routes(routes!(file::invocation_files))
        .routes(routes!(file::invocation_file))
        .routes(routes!(kill::list_kills, kill::throw_kill, kill::lift_kill))
        .routes(routes!(registry::list_registry))
        .routes(routes!(registry::read_registry, registry::put_tool_setting, registry::delete_tool_setting))
}

/// The OpenAPI document, made from the routes.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    finish_document(routes().into_openapi())
}

fn finish_document(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().security_schemes.insert("key".to_owned(), scheme.into());
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
        "__Host-toolgate",
        "a browser's sign-in; changing requests also send `csrf_token` as `X-Toolgate-CSRF`",
    )));
    document.components.get_or_insert_default().security_schemes.insert("sign_in".to_owned(), cookie.into());
    document.security = Some(vec![
        SecurityRequirement::new("key", Vec::<String>::new()),
        SecurityRequirement::new("sign_in", Vec::<String>::new()),
    ]);
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    for operation in document
        .paths
        .paths
        .values_mut()
        .flat_map(|path| [&mut path.get, &mut path.post, &mut path.put, &mut path.patch, &mut path.delete])
        .flatten()
    {
        for parameter in operation.parameters.iter_mut().flatten() {
            let RefOr::T(parameter) = parameter else { continue };
            // A header that may be left out is described as one that may be `null`; a header can't be.
            parameter.schema = match parameter.name.as_str() {
                "Idempotency-Key" => Some(text_header("^[!-~]{1,255}$")),
                "If-Match" => Some(text_header("^\"[0-9]{1,18}\"$")),
                "If-None-Match" => Some(text_header("^\\*$")),
                "Last-Event-ID" => Some(text_header("^[0-9]{1,18}$")),
                _ => continue,
            };
        }
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response
                && response.description.is_empty()
            {
                response.description = described(status);
            }
        }
    }
    document
}

/// What an answer of this status is, where nothing else is said of it: the document is not valid without.
fn described(status: &str) -> String {
    let status = status.parse::<StatusCode>().ok().filter(|status| status.is_success());
    match status.and_then(|status| status.canonical_reason()) {
        Some(reason) => reason.to_owned(),
        None => "An error: a stable code, a sentence and a hint.".to_owned(),
    }
}

fn text_header(pattern: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
}

/// The document's text, made when it is first asked for: most gates never are, and as values it takes megabytes.
static TEXT: LazyLock<Bytes> = LazyLock::new(|| serde_json::to_vec(&document()).unwrap_or_default().into());

pub(crate) async fn show_document() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], TEXT.clone())
}

//! A person's tenants, over REST: which there are, going from one to the other, adding and leaving one.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::{
    AddTenantRequest, ErrorBody, OwnTenantListView, OwnTenantView, SignedInView, SwitchTenantRequest,
    TenantAddedView,
};
use toolgate_app::{OwnTenant, Reach};
use toolgate_core::id::TenantId;

use super::cookie::LINK;
use super::sign_in::welcome;
use super::signed_in::Arriving;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};
use crate::rest::parse_id;

/// Lists your tenants: the one you are in, and those you are linked with.
#[utoipa::path(get, path = "/api/v1/me/tenants", tag = "sign-in",
    responses((status = 200, body = OwnTenantListView), (status = "default", body = ErrorBody)))]
pub(super) async fn list_own_tenants(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    Arriving(arrival): Arriving,
) -> Result<Json<OwnTenantListView>, ApiError> {
    let all = state.app.own_tenants(&actor, &arrival).await?;
    Ok(Json(OwnTenantListView { tenants: all.into_iter().map(view).collect() }))
}

/// Goes on as your user in another of your tenants. Sets a new cookie; the old one works no more.
#[utoipa::path(post, path = "/api/v1/me/tenants/switch", tag = "sign-in", security(("sign_in" = [])),
    request_body = SwitchTenantRequest,
    responses((status = 200, body = SignedInView), (status = "default", body = ErrorBody)))]
pub(super) async fn switch_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    Arriving(arrival): Arriving,
    JsonBody(body): JsonBody<SwitchTenantRequest>,
) -> Result<Response, ApiError> {
    Ok(welcome(state.app.switch_tenant(&actor, &body.tenant, &arrival).await?))
}

/// Begins to link you with your user in another tenant: sign in there next, in this browser.
#[utoipa::path(post, path = "/api/v1/me/tenants/add", tag = "sign-in", security(("sign_in" = [])),
    request_body = AddTenantRequest,
    responses((status = 201, body = TenantAddedView), (status = "default", body = ErrorBody)))]
pub(super) async fn add_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    Arriving(arrival): Arriving,
    JsonBody(body): JsonBody<AddTenantRequest>,
) -> Result<Response, ApiError> {
    let tenant: TenantId = parse_id(&body.tenant, "tenant")?;
    let secret = state.app.begin_tenant_link(&actor, &arrival).await?;
    let query = [("tenant", tenant.as_str()), ("add", "true"), ("return_to", "/link")];
    let query = serde_urlencoded::to_string(query).unwrap_or_default();
    let view = TenantAddedView { sign_in: format!("/sign-in?{query}") };
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, LINK.set(&secret))], Json(view)).into_response())
}

/// Takes a tenant from your list: you are linked with your user there no more.
#[utoipa::path(delete, path = "/api/v1/me/tenants/{tenant}", tag = "sign-in", security(("sign_in" = [])),
    params(("tenant" = String, Path)), responses((status = 204), (status = "default", body = ErrorBody)))]
pub(super) async fn leave_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    Arriving(arrival): Arriving,
    PathId(tenant): PathId,
) -> Result<StatusCode, ApiError> {
    state.app.leave_tenant(&actor, &tenant, &arrival).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn view(own: OwnTenant) -> OwnTenantView {
    let access = match own.reach {
        Reach::Current => "current",
        Reach::Switch => "switch",
        Reach::SignIn => "sign_in",
        Reach::Closed => "closed",
    };
    OwnTenantView {
        id: own.tenant.id.to_string(),
        title: own.tenant.title,
        principal: own.principal.id.to_string(),
        current: own.reach == Reach::Current,
        access: access.to_owned(),
    }
}

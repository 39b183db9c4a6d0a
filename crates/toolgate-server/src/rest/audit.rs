//! The record as a whole, and who you are.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use toolgate_api::{AuditReportView, BrokenRecordView, ErrorBody, EventView, MeView};
use toolgate_app::AuditReport;

use crate::ServerState;
use crate::error::ApiError;
use crate::extract::Caller;

/// Checks every chain, every anchor, and every row against its events.
#[utoipa::path(post, path = "/api/v1/audit/verify", tag = "audit",
    responses((status = 200, body = AuditReportView), (status = "default", body = ErrorBody)))]
pub(crate) async fn verify_audit(
    State(state): State<ServerState>,
    Caller(actor): Caller,
) -> Result<Json<AuditReportView>, ApiError> {
    Ok(Json(report_view(state.app.verify_audit(&actor).await?)))
}

fn report_view(report: AuditReport) -> AuditReportView {
    AuditReportView {
        ok: report.first_broken.is_none(),
        sessions: report.sessions,
        events: report.events,
        anchors: report.anchors,
        invocations: report.invocations,
        first_broken: report.first_broken.map(|broken| BrokenRecordView {
            session_id: broken.session.map(|id| id.to_string()),
            seq: broken.seq,
            call_id: broken.invocation.map(|id| id.to_string()),
            what: broken.what,
        }),
    }
}

/// Exports all events as JSON lines, session by session.
#[utoipa::path(get, path = "/api/v1/audit/export", tag = "audit",
    responses((status = 200, content_type = "application/x-ndjson", body = String),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn export_audit(
    State(state): State<ServerState>,
    Caller(actor): Caller,
) -> Result<Response, ApiError> {
    // The first part is fetched here, so that a refusal is an error and not a broken stream.
    let first = state.app.export_audit(&actor, None).await?;
    let parts = stream::try_unfold(Some(first), move |part| {
        let (app, actor) = (state.app.clone(), actor.clone());
        async move {
            let Some((events, last)) = part else { return Ok::<_, std::io::Error>(None) };
            let mut lines = String::new();
            for event in &events {
                lines.push_str(&serde_json::to_string(&EventView::from(event)).unwrap_or_default());
                lines.push('\n');
            }
            let next = match last {
                Some(last) => {
                    Some(app.export_audit(&actor, Some(last)).await.map_err(std::io::Error::other)?)
                }
                None => None,
            };
            let next = next.filter(|(_, last)| last.is_some());
            Ok(Some((lines, next)))
        }
    });
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(parts)).into_response())
}

/// Says who your key speaks for.
#[utoipa::path(get, path = "/api/v1/me", tag = "audit",
    responses((status = 200, body = MeView), (status = "default", body = ErrorBody)))]
pub(crate) async fn me(Caller(actor): Caller) -> Json<MeView> {
    Json(MeView::from(&actor))
}

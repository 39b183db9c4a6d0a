//! Policies: read, check, save, compare, go back, explain, try.

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use toolgate_api::{
    ErrorBody, ExplainPolicyRequest, ExplainStepView, ExplanationView, PolicyCheckView, PolicyDiffView,
    PolicyProblemView, PolicySchemaView, PolicyTrialView, PolicyVersionListView, PolicyVersionView,
    PolicyView, RollbackPolicyRequest, SavePolicyRequest, TriedCallView, TriedVerdictView, TryPolicyRequest,
    ValidatePolicyRequest, rfc3339,
};
use toolgate_app::{AppError, ExplainRequest, Explanation, PolicyState, PolicyTrial, PolicyVersion};
use toolgate_core::port::gate::Verdict;
use toolgate_core::port::store::InvocationFilter;
use toolgate_policy::cedar::PolicyProblem;
use utoipa::IntoParams;

use super::invocation::moment;
use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Shows the policies in force.
#[utoipa::path(get, path = "/api/v1/policy", tag = "policy",
    responses((status = 200, body = PolicyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(state.app.read_policy(&actor).await?)))
}

/// Saves a text and brings it into force.
///
/// The text is strictly validated against the schema of `GET /api/v1/policy/schema` and the input schemas of the tools
/// it names. A text under which you could no longer manage policies is refused.
#[utoipa::path(put, path = "/api/v1/policy", tag = "policy", request_body = SavePolicyRequest,
    responses((status = 200, body = PolicyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn save_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<SavePolicyRequest>,
) -> Result<Json<PolicyView>, ApiError> {
    let saved = state.app.save_policy(&actor, &body.text, body.note, body.version).await?;
    Ok(Json(view(saved)))
}

/// Checks a text without saving it.
#[utoipa::path(post, path = "/api/v1/policy/validate", tag = "policy", request_body = ValidatePolicyRequest,
    responses((status = 200, body = PolicyCheckView), (status = "default", body = ErrorBody)))]
pub(crate) async fn validate_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<ValidatePolicyRequest>,
) -> Result<Json<PolicyCheckView>, ApiError> {
    let (problems, warnings) = match state.app.validate_policy(&actor, &body.text).await {
        Ok(warnings) => (Vec::new(), warnings),
        Err(AppError::Policy(problems)) => (problems.0, Vec::new()),
        Err(other) => return Err(other.into()),
    };
    Ok(Json(PolicyCheckView {
        ok: problems.is_empty(),
        problems: problems.into_iter().map(problem).collect(),
        warnings: warnings.into_iter().map(problem).collect(),
    }))
}

/// Shows the Cedar schema that policies are checked against.
#[utoipa::path(get, path = "/api/v1/policy/schema", tag = "policy",
    responses((status = 200, body = PolicySchemaView), (status = "default", body = ErrorBody)))]
pub(crate) async fn policy_schema(_caller: Caller) -> Json<PolicySchemaView> {
    Json(PolicySchemaView { schema: toolgate_policy::cedar::SCHEMA.to_owned() })
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionPage {
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<u64>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the versions of the policies, newest first.
#[utoipa::path(get, path = "/api/v1/policy/versions", tag = "policy", params(VersionPage),
    responses((status = 200, body = PolicyVersionListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn policy_versions(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<VersionPage>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<PolicyVersionListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 50)?;
    let mut versions = state.app.policy_versions(&actor, page.cursor, limit + 1).await?;
    let more = versions.len() > limit as usize;
    versions.truncate(limit as usize);
    let next_cursor = versions.last().filter(|_| more).map(|version| version.version.to_string());
    let versions = versions.into_iter().map(|version| version_view(PolicyVersion { text: None, ..version }));
    Ok(Json(PolicyVersionListView { versions: versions.collect(), next_cursor }))
}

/// Shows one version with its text; 0 is the policies every tenant starts with.
#[utoipa::path(get, path = "/api/v1/policy/versions/{version}", tag = "policy",
    params(("version" = u64, Path)),
    responses((status = 200, body = PolicyVersionView), (status = "default", body = ErrorBody)))]
pub(crate) async fn policy_version(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(version): PathId,
) -> Result<Json<PolicyVersionView>, ApiError> {
    let version = version.parse().map_err(|_| AppError::NotFound { what: "policy version" })?;
    Ok(Json(version_view(state.app.policy_version(&actor, version).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffQuery {
    /// The earlier version; 0 for the policies every tenant starts with.
    from: u64,
    /// The later version; left out, what is in force.
    to: Option<u64>,
}

/// Shows what changed from one version to another.
#[utoipa::path(get, path = "/api/v1/policy/diff", tag = "policy", params(DiffQuery),
    responses((status = 200, body = PolicyDiffView), (status = "default", body = ErrorBody)))]
pub(crate) async fn diff_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    asked: Result<Query<DiffQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<PolicyDiffView>, ApiError> {
    let asked = query(asked)?;
    Ok(Json(PolicyDiffView { diff: state.app.diff_policy(&actor, asked.from, asked.to).await? }))
}

/// Saves an earlier version again, as a new one.
#[utoipa::path(post, path = "/api/v1/policy/rollback", tag = "policy", request_body = RollbackPolicyRequest,
    responses((status = 200, body = PolicyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn roll_back_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<RollbackPolicyRequest>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(state.app.roll_back_policy(&actor, body.version).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainQuery {
    /// For whom; left out, for yourself.
    principal: Option<String>,
    /// Working for whom.
    subject: Option<String>,
    /// Which tool.
    tool: String,
}

/// Explains whether a call of a tool would run, ask or be refused, without looking at arguments.
#[utoipa::path(get, path = "/api/v1/policy/explain", tag = "policy", params(ExplainQuery),
    responses((status = 200, body = ExplanationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn explain_policy(
    state: State<ServerState>,
    caller: Caller,
    asked: Result<Query<ExplainQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<ExplanationView>, ApiError> {
    let ExplainQuery { principal, subject, tool } = query(asked)?;
    explain_call(
        state,
        caller,
        JsonBody(ExplainPolicyRequest {
            principal,
            subject,
            tool,
            input: None,
            labels: Vec::new(),
            at: None,
        }),
    )
    .await
}

/// Explains whether a call would run, ask or be refused, with every gate and the rule that decided there.
#[utoipa::path(post, path = "/api/v1/policy/explain", tag = "policy", request_body = ExplainPolicyRequest,
    responses((status = 200, body = ExplanationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn explain_call(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<ExplainPolicyRequest>,
) -> Result<Json<ExplanationView>, ApiError> {
    let request = ExplainRequest {
        principal: body.principal.map(|id| parse_id(&id, "principal")).transpose()?,
        subject: body.subject.map(|id| parse_id(&id, "subject")).transpose()?,
        tool: super::tool::tool_name(&body.tool)?,
        input: body.input,
        labels: body.labels,
        at: body.at.map(|at| moment(&at, "at")).transpose()?,
    };
    if request.labels.len() > 20 {
        return Err(bad("`labels` may have at most 20 entries"));
    }
    Ok(Json(explanation(state.app.explain(&actor, request).await?)))
}

/// Tries a draft on recorded calls and reports what would have come out otherwise.
#[utoipa::path(post, path = "/api/v1/policy/try", tag = "policy", request_body = TryPolicyRequest,
    responses((status = 200, body = PolicyTrialView), (status = "default", body = ErrorBody)))]
pub(crate) async fn try_policy(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<TryPolicyRequest>,
) -> Result<Json<PolicyTrialView>, ApiError> {
    let filter = InvocationFilter {
        tool: body.tool.map(|id| parse_id(&id, "tool")).transpose()?,
        actor: body.principal.map(|id| parse_id(&id, "principal")).transpose()?,
        ..InvocationFilter::default()
    };
    let most = body.limit.unwrap_or(200);
    if !(1..=1000).contains(&most) {
        return Err(bad("`limit` must be from 1 to 1000"));
    }
    Ok(Json(trial(state.app.try_policy(&actor, &body.text, filter, most).await?)))
}

fn view(state: PolicyState) -> PolicyView {
    let (saved_by, saved_at) = state.saved.unzip();
    PolicyView {
        text: state.text,
        version: state.version,
        note: state.note,
        saved_by: saved_by.map(|by| by.to_string()),
        saved_at: saved_at.map(rfc3339),
        warnings: state.warnings.into_iter().map(problem).collect(),
    }
}

pub(crate) fn problem(problem: PolicyProblem) -> PolicyProblemView {
    PolicyProblemView {
        policy: problem.policy,
        message: problem.message,
        hint: problem.hint,
        line: problem.line as u64,
        column: problem.column as u64,
    }
}

fn version_view(version: PolicyVersion) -> PolicyVersionView {
    PolicyVersionView {
        version: version.version,
        note: version.note,
        saved_by: version.by.to_string(),
        saved_at: rfc3339(version.at),
        text: version.text,
    }
}

fn explanation(explanation: Explanation) -> ExplanationView {
    ExplanationView {
        principal: explanation.principal.to_string(),
        tool: explanation.tool.to_string(),
        verdict: explanation.verdict.to_owned(),
        rule: explanation.rule,
        steps: explanation
            .steps
            .into_iter()
            .map(|step| ExplainStepView {
                gate: step.gate.to_owned(),
                verdict: step.verdict.to_owned(),
                rule: step.rule,
                reason: step.reason,
                hint: step.hint,
            })
            .collect(),
    }
}

fn trial(trial: PolicyTrial) -> PolicyTrialView {
    PolicyTrialView {
        calls: trial.calls,
        skipped: trial.skipped,
        same: trial.same,
        now_allowed: trial.now_allowed,
        now_asked: trial.now_asked,
        now_denied: trial.now_denied,
        changed: trial
            .changed
            .into_iter()
            .map(|call| TriedCallView {
                call_id: call.id.to_string(),
                tool: call.tool.to_string(),
                actor: call.actor.to_string(),
                at: rfc3339(call.at),
                before: tried(call.before),
                after: tried(call.after),
            })
            .collect(),
        warnings: trial.warnings.into_iter().map(problem).collect(),
    }
}

fn tried((verdict, rule): (Verdict, String)) -> TriedVerdictView {
    let verdict = match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
        Verdict::Hide => "hide",
    };
    TriedVerdictView { verdict: verdict.to_owned(), rule }
}

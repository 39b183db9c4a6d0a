//! Stages 1 to 6: everything that is decided before anything happens.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Runner;
use super::call::{Call, CallInput};
use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::contract::Effect;
use crate::error::{CallError, ErrorCode};
use crate::id::{ConnectionId, PrincipalKind, ToolName};
use crate::json::Bounds;
use crate::port::gate::{Decision, Permit, Verdict};

/// A call that may run, or may be put to a person.
pub(super) struct Admitted {
    pub(super) tool: Arc<BoundTool>,
    pub(super) input: Value,
    pub(super) connection: Option<ConnectionId>,
    pub(super) decision: Decision,
}

/// A call that was stopped, with what is known of it for the record.
pub(super) struct Stopped {
    pub(super) tool: Option<Arc<BoundTool>>,
    pub(super) input: Value,
    pub(super) rule: Option<String>,
    pub(super) error: CallError,
}

impl Runner {
    /// Stages 1 to 5.
    pub(super) fn admit(&self, call: &Call) -> Result<Admitted, Box<Stopped>> {
        let actor = &call.actor;
        let stop = |tool: Option<&Arc<BoundTool>>, rule: Option<String>, error: CallError| {
            // What never was JSON is not kept: the record holds JSON only.
            let input = match &call.input {
                CallInput::Value(value) if Bounds::INPUT.check(value).is_ok() => value.clone(),
                CallInput::Value(_) | CallInput::Text(_) => Value::Null,
            };
            Box::new(Stopped { tool: tool.cloned(), input, rule, error })
        };

        // 1: resolve.
        let catalog = self.0.tools.of(&actor.tenant);
        let tool = catalog
            .get(&call.tool)
            .filter(|tool| tool.offered_to(&actor.tenant))
            .ok_or_else(|| stop(None, None, unknown_tool(&call.tool)))?;

        // 2: policy.
        let decision = self.0.policy.decide(actor, &tool.contract);
        let rule = Some(decision.rule.clone());
        refuse_denied(&decision).map_err(|error| stop(Some(tool), rule.clone(), error))?;

        // 3: authorization.
        self.0
            .authorizer
            .authorize(actor, &tool.contract)
            .map_err(|error| stop(Some(tool), rule.clone(), error))?;

        // 4: connection.
        let connection = self
            .0
            .connections
            .check(actor, &tool.contract, call.connection)
            .map_err(|error| stop(Some(tool), rule.clone(), error))?;

        // 5: parse, validate, and decide again where a rule reads arguments.
        let input = parse(&call.input).map_err(|error| stop(Some(tool), rule.clone(), error))?;
        validate_input(tool, &input).map_err(|error| stop(Some(tool), rule.clone(), error))?;
        let decision = self.0.policy.decide_input(actor, &tool.contract, &input, &decision);
        refuse_denied(&decision).map_err(|error| stop(Some(tool), Some(decision.rule.clone()), error))?;

        Ok(Admitted { tool: Arc::clone(tool), input, connection, decision })
    }

    /// Stage 6.
    pub(super) fn limit(&self, actor: &Actor, admitted: &Admitted) -> Result<Permit, Box<Stopped>> {
        self.0.limiter.admit(actor, &admitted.tool.contract).map_err(|error| {
            Box::new(Stopped {
                tool: Some(Arc::clone(&admitted.tool)),
                input: admitted.input.clone(),
                rule: Some(admitted.decision.rule.clone()),
                error,
            })
        })
    }
}

impl Admitted {
    /// Why a person must decide, if one must. The strictest of policy, contract, database and the built-in guard.
    pub(super) fn needs_person(&self, actor: &Actor) -> Option<String> {
        if self.decision.verdict == Verdict::Ask {
            return Some(self.decision.reason.clone());
        }
        if self.tool.requires_approval {
            return Some("the tool always asks a person".to_owned());
        }
        // Invariant: no policy lets an agent or a service destroy anything by itself.
        if self.tool.contract.effect == Effect::Destructive && actor.principal.kind() != PrincipalKind::User {
            return Some("a destructive call by an agent or service always asks a person".to_owned());
        }
        None
    }
}

fn unknown_tool(id: &ToolName) -> CallError {
    CallError::new(ErrorCode::Unavailable, format!("no tool is named `{id}`"))
        .hint("list the tools you may call with `GET /api/v1/tools` or `toolgate tool list`")
}

fn refuse_denied(decision: &Decision) -> Result<(), CallError> {
    if decision.verdict != Verdict::Deny {
        return Ok(());
    }
    let mut error = CallError::new(ErrorCode::PolicyDenied, decision.reason.clone())
        .details(json!({ "rule": decision.rule }));
    error.hint.clone_from(&decision.hint);
    Err(error)
}

fn parse(input: &CallInput) -> Result<Value, CallError> {
    match input {
        CallInput::Value(value) => Ok(value.clone()),
        CallInput::Text(text) => serde_json::from_str(text).map_err(|cause| {
            let place =
                format!("the arguments are not JSON, at line {} column {}", cause.line(), cause.column());
            CallError::new(ErrorCode::InvalidJson, place).hint("send one JSON object")
        }),
    }
}

fn validate_input(tool: &BoundTool, input: &Value) -> Result<(), CallError> {
    // Depth first: a validator recurses, and values from memory can be deeper than the stack.
    Bounds::INPUT.check(input).map_err(|broken| {
        CallError::new(ErrorCode::Validation, format!("the input is too large: {broken}"))
            .hint("send less at once")
    })?;
    tool.input.validate(input).map_err(|violations| {
        let first =
            violations.first().map_or_else(String::new, |v| format!(": {} {}", place(&v.path), v.message));
        CallError::new(ErrorCode::Validation, format!("the input does not fit the tool's schema{first}"))
            .hint(format!("see `input_schema` of `{}`", tool.contract.id))
            .details(json!({ "violations": violations }))
    })
}

fn place(path: &str) -> String {
    if path.is_empty() { "the input".to_owned() } else { format!("`{path}`") }
}

//! Stages 1 to 6: everything that is decided before anything happens.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::{Call, CallInput};
use super::{Parts, Runner};
use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::contract::{Audience, Effect, Egress};
use crate::error::{CallError, ErrorCode};
use crate::id::{ConnectionId, PrincipalKind, ToolName};
use crate::json::Bounds;
use crate::number::{TOO_WIDE, has_wide_integer};
use crate::port::gate::{Admission, Ask, Decision, LimitError, Verdict};
use crate::port::store::StoreError;

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

/// A caller who may not use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// What the caller is told: that there is no such tool, or which rule stands in the way.
    pub error: CallError,
    /// The rule that decided; none where the caller may not know that there is one.
    pub rule: Option<String>,
    /// Whether the caller may not know that there is such a tool.
    pub hidden: bool,
}

impl Parts {
    /// The one predicate: may this caller use this tool, with some arguments at least? List, search, describe, call and
    /// apply all ask here, so what is listed is what can be called.
    ///
    /// # Errors
    /// Why not.
    pub fn permit(&self, ask: &Ask<'_>) -> Result<Decision, Denied> {
        let (actor, contract) = (ask.actor, &ask.tool.contract);
        let hidden = || Denied { error: unknown_tool(&contract.id), rule: None, hidden: true };
        // Invariant: what is internal never reaches a key, and no key reaches further than its scopes.
        let inside = contract.audience != Audience::Internal || actor.stands_inside();
        if !inside || !actor.scopes.reach(contract) {
            return Err(hidden());
        }
        let decision = self.policy.decide(ask);
        match decision.verdict {
            Verdict::Allow | Verdict::Ask => {}
            Verdict::Hide => return Err(hidden()),
            Verdict::Deny => return Err(Denied::by(&decision)),
        }
        self.authorizer.authorize(actor, contract).map_err(|error| Denied {
            error,
            rule: Some(decision.rule.to_string()),
            hidden: false,
        })?;
        Ok(decision)
    }
}

impl Denied {
    fn by(decision: &Decision) -> Self {
        let mut error = CallError::new(ErrorCode::PolicyDenied, decision.reason.clone())
            .details(json!({ "rule": decision.rule }));
        error.hint.clone_from(&decision.hint);
        Self { error, rule: Some(decision.rule.to_string()), hidden: false }
    }
}

impl Runner {
    /// Stages 1 to 5.
    pub(super) async fn admit(&self, call: &Call, labels: &[String]) -> Result<Admitted, Box<Stopped>> {
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
        let tool = catalog.get(&call.tool).ok_or_else(|| stop(None, None, unknown_tool(&call.tool)))?;
        let ask = self.ask(call, tool, labels);

        // 2 and 3: policy and authorization.
        let decision = self.0.parts.permit(&ask).map_err(|denied| {
            // To a caller who may not know of the tool, it answers as one that is not there, in the record too.
            let error = if denied.hidden { unknown_tool(&call.tool) } else { denied.error };
            stop((!denied.hidden).then_some(tool), denied.rule, error)
        })?;
        let rule = Some(decision.rule.to_string());

        // 4: connection, where there is one to speak of.
        let connection = if call.connection.is_some() || tool.needs_connection() {
            let found = self.0.connections.check(&ask, call.connection).await;
            found.map_err(|error| stop(Some(tool), rule_of(&error).or_else(|| rule.clone()), error))?
        } else {
            None
        };

        // 5: parse, validate, and decide again where a rule reads arguments.
        let input = parse(&call.input).map_err(|error| stop(Some(tool), rule.clone(), error))?;
        validate_input(tool, &input).map_err(|error| stop(Some(tool), rule.clone(), error))?;
        let decision = self.0.policy.decide_input(&ask, &input, &decision);
        if !decision.verdict.permits() {
            let denied = Denied::by(&decision);
            return Err(stop(Some(tool), denied.rule, denied.error));
        }

        Ok(Admitted { tool: Arc::clone(tool), input, connection, decision })
    }

    /// Stage 6.
    pub(super) async fn limit(
        &self,
        call: &Call,
        labels: &[String],
        admitted: &Admitted,
    ) -> Result<Result<Admission, Box<Stopped>>, StoreError> {
        let ask = self.ask(call, &admitted.tool, labels);
        let error = match self.0.limiter.admit(&ask).await {
            Ok(admission) => return Ok(Ok(admission)),
            Err(LimitError::Store(cause)) => return Err(cause),
            Err(LimitError::Used(error)) => error,
        };
        let rule = rule_of(&error).unwrap_or_else(|| admitted.decision.rule.to_string());
        Ok(Err(Box::new(Stopped {
            tool: Some(Arc::clone(&admitted.tool)),
            input: admitted.input.clone(),
            rule: Some(rule),
            error,
        })))
    }

    pub(super) fn ask<'a>(&self, call: &'a Call, tool: &'a BoundTool, labels: &'a [String]) -> Ask<'a> {
        let now = self.0.clock.now();
        Ask { actor: &call.actor, tool, session: call.session, labels, source: call.source, now }
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
        // Invariant: no policy lets an agent or a service destroy anything, or write outside, by itself.
        let risky =
            self.tool.contract.effect == Effect::Destructive || self.tool.contract.egress == Egress::Write;
        if risky && actor.principal.kind() != PrincipalKind::User {
            return Some("such a call by an agent or service always asks a person".to_owned());
        }
        None
    }
}

/// The rule that a refusal names itself.
fn rule_of(error: &CallError) -> Option<String> {
    Some(error.details.as_ref()?.get("rule")?.as_str()?.to_owned())
}

fn unknown_tool(id: &ToolName) -> CallError {
    CallError::new(ErrorCode::Unavailable, format!("no tool is named `{id}`"))
        .hint(
            "list the tools you may call with `GET /api/v1/tools` or `toolgate tool list`; one you may not see looks \
             like none",
        )
}

fn parse(input: &CallInput) -> Result<Value, CallError> {
    match input {
        CallInput::Value(value) => Ok(value.clone()),
        CallInput::Text(text) if has_wide_integer(text.as_bytes()) => {
            Err(CallError::new(ErrorCode::Validation, format!("the input {TOO_WIDE}"))
                .hint("write it as a text, if the tool takes one"))
        }
        CallInput::Text(text) => serde_json::from_str(text).map_err(|cause| {
            let place =
                format!("the arguments are not JSON, at line {} column {}", cause.line(), cause.column());
            CallError::new(ErrorCode::InvalidJson, place).hint("send one JSON object")
        }),
    }
}

impl BoundTool {
    /// Checks arguments against the tool's schema, within the bounds that hold for all.
    ///
    /// # Errors
    /// `validation`, with the violated places.
    pub fn check_input(&self, input: &Value) -> Result<(), CallError> {
        validate_input(self, input)
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

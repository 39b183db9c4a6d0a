//! The gates a call passes before it runs: policy, authorization, connection, limits.

use std::any::Any;

use serde_json::Value;

use crate::actor::Actor;
use crate::contract::ToolContract;
use crate::error::CallError;
use crate::id::ConnectionId;

/// What policy says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must decide.
    Ask,
    /// It may not run.
    Deny,
}

/// A verdict and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: String,
    /// Why, in one sentence.
    pub reason: String,
    /// What would change it.
    pub hint: Option<String>,
}

/// May this principal call this tool? Deny unless a rule says otherwise.
pub trait Policy: Send + Sync {
    /// Decides without looking at arguments. Cheap: it is asked on every call and for every listed tool.
    fn decide(&self, actor: &Actor, tool: &ToolContract) -> Decision;

    /// Decides again on the validated arguments, if any rule reads them. It can only be stricter than `decided`.
    fn decide_input(
        &self,
        _actor: &Actor,
        _tool: &ToolContract,
        _input: &Value,
        decided: &Decision,
    ) -> Decision {
        decided.clone()
    }
}

/// Does the actor, and the subject it works for, hold what the tool needs?
pub trait Authorizer: Send + Sync {
    /// Checks the access rules of the contract, and delegation when there is a subject.
    ///
    /// # Errors
    /// Which rule is missing, as `authz_denied`.
    fn authorize(&self, actor: &Actor, tool: &ToolContract) -> Result<(), CallError>;
}

/// May this call use the connection it asks for?
pub trait ConnectionGate: Send + Sync {
    /// Checks that the connection asked for is granted and requested, before anything is decrypted.
    ///
    /// # Errors
    /// Why not, as `policy_denied`.
    fn check(
        &self,
        actor: &Actor,
        tool: &ToolContract,
        connection: Option<ConnectionId>,
    ) -> Result<Option<ConnectionId>, CallError>;
}

/// Held while a call runs; dropping it gives its place back.
pub struct Permit(#[allow(dead_code, reason = "held only to be dropped")] Option<Box<dyn Any + Send + Sync>>);

impl Permit {
    /// A permit that gives something back when it is dropped.
    #[must_use]
    pub fn holding(place: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(place)))
    }

    /// A permit that holds nothing.
    #[must_use]
    pub const fn free() -> Self {
        Self(None)
    }
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Permit")
    }
}

/// Rate, cost and concurrency.
pub trait Limiter: Send + Sync {
    /// Asked before anything else, and before anything is recorded: may this principal call at all just now? Without
    /// this, calls that are refused would cost more than calls that run.
    ///
    /// # Errors
    /// `rate_limited`, with when to come back.
    fn knock(&self, _actor: &Actor) -> Result<(), CallError> {
        Ok(())
    }

    /// Takes a place for this call.
    ///
    /// # Errors
    /// `rate_limited` or `budget_exceeded`, with when to come back.
    fn admit(&self, actor: &Actor, tool: &ToolContract) -> Result<Permit, CallError>;
}

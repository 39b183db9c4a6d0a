//! The gates a call passes before it runs: policy, authorization, connection, limits.

use std::any::Any;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::contract::ToolContract;
use crate::document::Area;
use crate::error::CallError;
use crate::id::{ApiKeyId, ConnectionId, PrincipalId, SessionId, TenantId, ToolName};
use crate::invocation::Source;
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// A question about one tool: who asks, and under which circumstances. Arguments come later.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Who.
    pub actor: &'a Actor,
    /// About which tool.
    pub tool: &'a BoundTool,
    /// In which session; none when it is a new one, or when nobody calls yet.
    pub session: Option<SessionId>,
    /// What policy knows that session by.
    pub labels: &'a [String],
    /// Through which door.
    pub source: Source,
    /// When.
    pub now: Timestamp,
}

/// What policy says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must decide.
    Ask,
    /// It may not run.
    Deny,
    /// It may not run, and the caller may not know that there is such a tool.
    Hide,
}

impl Verdict {
    /// Whether it may run, now or when a person says so.
    #[must_use]
    pub const fn permits(self) -> bool {
        matches!(self, Self::Allow | Self::Ask)
    }
}

/// A verdict and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: Arc<str>,
    /// Why, in one sentence.
    pub reason: String,
    /// What would change it.
    pub hint: Option<String>,
}

impl Decision {
    /// A verdict by a rule; a plain "yes" needs no reason.
    #[must_use]
    pub fn new(verdict: Verdict, rule: impl Into<Arc<str>>, reason: impl Into<String>) -> Self {
        Self { verdict, rule: rule.into(), reason: reason.into(), hint: None }
    }

    /// The same with what would change it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A person's standing word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingGrant {
    /// The rule the record names: `grant: …`.
    pub rule: Arc<str>,
    /// Who gave it.
    pub by: PrincipalId,
}

/// Who has to decide, and in what time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewTerms {
    /// How many people must say yes.
    pub needed: u32,
    /// The roles whose holders may decide; none named means whoever policy lets.
    pub approvers: Vec<String>,
    /// How long until it is passed on.
    pub escalate_after: Option<Duration>,
    /// To which roles; none named means to whoever policy lets.
    pub escalate_to: Vec<String>,
    /// How long until it expires; none means the server's own patience.
    pub expires_after: Option<Duration>,
}

impl Default for ReviewTerms {
    fn default() -> Self {
        Self {
            needed: 1,
            approvers: Vec::new(),
            escalate_after: None,
            escalate_to: Vec::new(),
            expires_after: None,
        }
    }
}

/// Whose call a person is asked to decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whose {
    /// The decider's own call.
    pub own: bool,
    /// A call made on the decider's behalf.
    pub for_me: bool,
}

/// Who may do what. Deny unless a rule says otherwise.
pub trait Policy: Send + Sync {
    /// May this caller use this tool, with some arguments at least? Cheap: it is asked on every call and for every
    /// listed tool.
    fn decide(&self, ask: &Ask<'_>) -> Decision;

    /// Decides again on the validated arguments, if any rule reads them. It can only be stricter than `decided`.
    fn decide_input(&self, _ask: &Ask<'_>, _input: &Value, decided: &Decision) -> Decision {
        decided.clone()
    }

    /// May this person decide on a waiting call of this tool with these arguments?
    fn decide_approval(&self, ask: &Ask<'_>, whose: Whose, input: &Value) -> Decision;

    /// A person's standing word that lets such a call run without asking again, if there is one.
    fn standing_grant(&self, _ask: &Ask<'_>, _input: &Value) -> Option<StandingGrant> {
        None
    }

    /// Who has to decide on calls of this tool by this caller, beside what policy says.
    fn review_terms(&self, _ask: &Ask<'_>) -> ReviewTerms {
        ReviewTerms::default()
    }

    /// May this caller manage this area?
    fn decide_manage(&self, actor: &Actor, area: Area, now: Timestamp) -> Decision;

    /// Whether any rule of this tenant reads the labels of sessions; only then are they looked up.
    fn reads_labels(&self, _tenant: &TenantId) -> bool {
        false
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

/// Who principals are, from the server's own records.
#[async_trait]
pub trait Directory: Send + Sync {
    /// A principal as it stands now, working for `subject` if one is named, within the scopes of `key` if one is named;
    /// none when one of them is gone, switched off or revoked, or the principal no longer works for the subject.
    async fn actor(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        subject: Option<&PrincipalId>,
        key: Option<ApiKeyId>,
    ) -> Result<Option<Actor>, StoreError>;
}

/// May this call use the connection it needs?
#[async_trait]
pub trait ConnectionGate: Send + Sync {
    /// Finds the connection that the tool needs, and checks that it is the one asked for if one is, granted to the caller
    /// and permitted, before anything is decrypted. Not asked about calls that neither need one nor ask for one.
    ///
    /// # Errors
    /// Why not, as `policy_denied`; `connection_needed` where it has to be made first.
    async fn check(
        &self,
        ask: &Ask<'_>,
        asked_for: Option<ConnectionId>,
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

/// What the limits say of a call.
#[derive(Debug)]
pub enum Admission {
    /// It has its place.
    Granted(Permit),
    /// A measure is used up, and a person may let it through all the same.
    Ask {
        /// Which, as the rule that decided.
        rule: Arc<str>,
        /// Why, in one sentence.
        reason: String,
    },
}

/// Why a call gets no place.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// A measure is used up.
    #[error("{}", .0.message)]
    Used(CallError),
    /// What was used so far can't be read.
    #[error("what was used so far can't be read")]
    Store(#[from] StoreError),
}

/// What nodes that share a store measure together.
#[async_trait]
pub trait SharedMeters: Send + Sync {
    /// Takes one call from a rate of so many a minute (GCRA), for all nodes; or says how long until there is room.
    async fn take(&self, key: &str, per_minute: NonZeroU32) -> Result<Result<(), Duration>, StoreError>;
}

/// Rate, cost and concurrency.
#[async_trait]
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
    /// [`LimitError::Used`] with `rate_limited` or `budget_exceeded` and when to come back.
    async fn admit(&self, ask: &Ask<'_>) -> Result<Admission, LimitError>;

    /// Takes a place for a call that a person let through, perhaps long after it came: budgets that stop and places hold
    /// all the same. What asks has been asked, and rates were when it came.
    ///
    /// # Errors
    /// As `admit`.
    async fn admit_approved(&self, ask: &Ask<'_>) -> Result<Permit, LimitError>;

    /// Hears what a call has cost.
    fn charge(&self, _tenant: &TenantId, _principal: &PrincipalId, _tool: &ToolName, _micros: i64) {}
}

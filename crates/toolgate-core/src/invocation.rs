//! One call: its row, its states, and the only function that moves it.

use serde::{Deserialize, Serialize};

use crate::actor::Acting;
use crate::contract::{ContractVersion, Effect, Egress, text_form};
use crate::error::{CallError, ErrorCode};
use crate::event::{ChainHead, EventKind};
use crate::id::{
    ApiKeyId, IdempotencyKey, InvocationId, PrincipalId, SessionId, TenantId, ToolName, WorkerId,
};
use crate::json::JsonText;
use crate::review::{Review, ReviewStep};
use crate::time::Timestamp;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A person must decide, or has and it is about to run.
    Pending,
    /// It runs.
    Running,
    /// It waits for a person, a webhook or a connection.
    Waiting,
    /// It ended well.
    Completed,
    /// It stopped with an error.
    Failed,
    /// A person refused it.
    Rejected,
    /// It was cancelled.
    Cancelled,
    /// Nobody decided or answered in time.
    Expired,
    /// A write whose outcome was lost; a person must settle it.
    InDoubt,
}

/// Where a call's approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nobody needs to decide.
    NotRequired,
    /// Nobody has decided.
    Pending,
    /// A person said yes.
    Approved,
    /// A person said no.
    Rejected,
}

/// Through which door a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A person in the browser.
    Web,
    /// The agent loop.
    Agent,
    /// REST, and the CLI on top of it.
    Api,
    /// An MCP client.
    Mcp,
    /// The gate itself: a schedule, a composition step.
    System,
}

text_form!(Status {
    Pending = "pending",
    Running = "running",
    Waiting = "waiting",
    Completed = "completed",
    Failed = "failed",
    Rejected = "rejected",
    Cancelled = "cancelled",
    Expired = "expired",
    InDoubt = "in_doubt"
});
text_form!(Approval {
    NotRequired = "not_required",
    Pending = "pending",
    Approved = "approved",
    Rejected = "rejected"
});
text_form!(Source { Web = "web", Agent = "agent", Api = "api", Mcp = "mcp", System = "system" });

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Rejected,
        Self::Cancelled,
        Self::Expired,
        Self::InDoubt,
    ];

    /// Whether nothing can change it any more. `in_doubt` rests, but a person can still settle it.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Rejected | Self::Cancelled | Self::Expired)
    }

    /// Whether the machine has nothing more to do by itself.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        self.is_terminal() || matches!(self, Self::InDoubt)
    }
}

/// What is known of a call from its first moment and never changes. It stands in the call's first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The call's id.
    pub id: InvocationId,
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// The thread of work it belongs to.
    pub session: SessionId,
    /// The call that made this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<InvocationId>,
    /// The tool asked for.
    pub tool: ToolName,
    /// The contract it ran under; none when there is no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<ContractVersion>,
    /// What the tool does to state.
    pub effect: Effect,
    /// What leaves the house.
    pub egress: Egress,
    /// Whether the tool may run twice without harm.
    pub idempotent: bool,
    /// Who acts.
    pub actor: PrincipalId,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<PrincipalId>,
    /// The key it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ApiKeyId>,
    /// Through which door.
    pub source: Source,
    /// The input.
    pub input: JsonText,
    /// The key a repeat is known by, with the digest of the body it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// SHA-256 over the request, in hexadecimal; empty without a key.
    pub request_digest: String,
    /// The policy rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether a person must decide, as computed when the call came in.
    pub approval_required: bool,
    /// When the call came in.
    pub created_at: Timestamp,
}

impl Opened {
    /// Who acts, and for whom.
    #[must_use]
    pub fn acting(&self) -> Acting {
        Acting { principal: self.actor.clone(), subject: self.subject.clone() }
    }
}

/// One step in a call's life. Together with [`Opened`] the steps are the whole truth about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A person must decide before `deadline`.
    NeedsApproval {
        /// Why.
        reason: String,
        /// Until when.
        deadline: Timestamp,
        /// What they are asked to decide on.
        review: Option<Box<Review>>,
    },
    /// Something happened to it while it waits, short of a decision.
    ReviewChanged {
        /// What.
        step: ReviewStep,
    },
    /// A person let it run.
    Approved {
        /// What they said.
        reason: Option<String>,
    },
    /// A person refused it.
    Rejected {
        /// What they said.
        reason: String,
    },
    /// It begins to run on this worker.
    Started {
        /// Which try this is, from 1.
        attempt: u32,
        /// Who runs it.
        worker: WorkerId,
    },
    /// It reports progress or a part of its output.
    OutputAppended {
        /// The part.
        chunk: JsonText,
    },
    /// It waits for something outside until `deadline`.
    Waiting {
        /// For what.
        reason: String,
        /// Until when.
        deadline: Timestamp,
    },
    /// It ended well.
    Completed {
        /// The redacted result.
        output: JsonText,
        /// What it cost, in millionths of the tenant's unit.
        cost_micros: Option<i64>,
    },
    /// It stopped with an error.
    Failed {
        /// Which.
        error: CallError,
    },
    /// It was cancelled before it had an effect.
    Cancelled {
        /// Why.
        reason: Option<String>,
    },
    /// Nobody decided or answered in time.
    Expired,
    /// Its outcome is unknown.
    InDoubt {
        /// What is known.
        error: CallError,
    },
    /// Someone asks the running call to stop.
    CancelRequested {
        /// Why.
        reason: Option<String>,
    },
    /// A result that came too late to count.
    LateResult {
        /// Which try it came from.
        attempt: u32,
        /// The redacted result, if it ended well.
        output: Option<JsonText>,
        /// The error, if it did not.
        error: Option<CallError>,
    },
}

impl Step {
    /// The event this step is recorded as.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::NeedsApproval { .. } => EventKind::NeedsApproval,
            Self::ReviewChanged { .. } => EventKind::ReviewChanged,
            Self::Approved { .. } => EventKind::Approved,
            Self::Rejected { .. } => EventKind::Rejected,
            Self::Started { .. } => EventKind::Started,
            Self::OutputAppended { .. } => EventKind::OutputAppended,
            Self::Waiting { .. } => EventKind::Waiting,
            Self::Completed { .. } => EventKind::Completed,
            Self::Failed { .. } => EventKind::Failed,
            Self::Cancelled { .. } => EventKind::Cancelled,
            Self::Expired => EventKind::Expired,
            Self::InDoubt { .. } => EventKind::InDoubt,
            Self::CancelRequested { .. } => EventKind::CancelRequested,
            Self::LateResult { .. } => EventKind::LateResult,
        }
    }
}

/// A step that is not allowed where the call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a call that is {} may not take the step {}", from.map_or("new", Status::as_str), step.as_str())]
pub struct IllegalStep {
    /// Where it stands; none before its first step.
    pub from: Option<Status>,
    /// The step refused.
    pub step: EventKind,
}

/// One call, as its row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What never changes.
    pub opened: Opened,
    /// Where it stands.
    pub status: Status,
    /// Where its approval stands.
    pub approval: Approval,
    /// Who decided.
    pub decided_by: Option<PrincipalId>,
    /// Why it waits for a person; then what they said, or why it was cancelled.
    pub reason: Option<String>,
    /// The redacted result.
    pub output: Option<JsonText>,
    /// Why it stopped.
    pub error: Option<CallError>,
    /// What it cost, in millionths.
    pub cost_micros: Option<i64>,
    /// How often it was started.
    pub attempt: u32,
    /// Who ran it last.
    pub worker: Option<WorkerId>,
    /// Whether someone asked it to stop.
    pub cancel_requested: bool,
    /// How many events it has; a change names the number it saw.
    pub revision: u64,
    /// The numbers of its first and last event in the session.
    pub seqs: (i64, i64),
    /// When it last began to run.
    pub started_at: Option<Timestamp>,
    /// When it reached its outcome.
    pub completed_at: Option<Timestamp>,
    /// What a person is, or was, asked to decide on.
    pub review: Option<Box<Review>>,
    /// When the machine has to look at it again: a lease's end or a deadline. Not part of the record.
    pub due_at: Option<Timestamp>,
    /// Where its session's chain ended when this was written; lets a store append without reading. Not kept.
    pub head: Option<ChainHead>,
}

impl Invocation {
    /// A call at its first step.
    ///
    /// # Errors
    /// When a call may not begin like this.
    pub fn open(opened: Opened, by: &PrincipalId, step: &Step, at: Timestamp) -> Result<Self, IllegalStep> {
        let status = match step {
            Step::NeedsApproval { .. } => Status::Pending,
            Step::Started { .. } => Status::Running,
            // Stopped before it ran: refused by policy, input or limits.
            Step::Failed { .. } => Status::Failed,
            other => return Err(IllegalStep { from: None, step: other.kind() }),
        };
        let approval = if opened.approval_required { Approval::Pending } else { Approval::NotRequired };
        // Invariant: what needs a person never starts without one.
        if matches!(step, Step::NeedsApproval { .. }) != opened.approval_required
            && !matches!(step, Step::Failed { .. })
        {
            return Err(IllegalStep { from: None, step: step.kind() });
        }
        let mut invocation = Self {
            opened,
            status,
            approval,
            decided_by: None,
            reason: None,
            output: None,
            error: None,
            cost_micros: None,
            attempt: 0,
            worker: None,
            cancel_requested: false,
            revision: 0,
            seqs: (0, 0),
            started_at: None,
            completed_at: None,
            review: None,
            due_at: None,
            head: None,
        };
        invocation.take(status, by, step, at);
        Ok(invocation)
    }

    /// The call after one more step.
    ///
    /// # Errors
    /// When the step is not allowed where the call stands.
    pub fn apply(&self, by: &PrincipalId, step: &Step, at: Timestamp) -> Result<Self, IllegalStep> {
        let status = next_status(self.status, self.approval, step)
            .ok_or(IllegalStep { from: Some(self.status), step: step.kind() })?;
        // A later try must be numbered after the one before it, or a fence would not hold.
        if let Step::Started { attempt, .. } = step
            && *attempt != self.attempt + 1
        {
            return Err(IllegalStep { from: Some(self.status), step: step.kind() });
        }
        // Invariant: as many people as are needed said yes, each once, and of what would run now.
        if let Some(review) = &self.review {
            let again = !review.awaits(by);
            let short = review.votes.len() + 1 < review.needed as usize;
            let refused = match step {
                Step::Approved { .. } => again || short,
                Step::ReviewChanged { step: ReviewStep::Voted } => again,
                _ => false,
            };
            if refused {
                return Err(IllegalStep { from: Some(self.status), step: step.kind() });
            }
        }
        let mut next = self.clone();
        next.take(status, by, step, at);
        Ok(next)
    }

    fn take(&mut self, status: Status, by: &PrincipalId, step: &Step, at: Timestamp) {
        self.status = status;
        self.revision += 1;
        match step {
            Step::NeedsApproval { reason, deadline, review } => {
                self.reason = Some(reason.clone());
                self.review.clone_from(review);
                self.due_at =
                    Some(review.as_ref().and_then(|review| review.escalate_at).unwrap_or(*deadline));
            }
            Step::ReviewChanged { step } => {
                if let Some(review) = &self.review {
                    let next = review.after(step, by, at);
                    if matches!(step, ReviewStep::Escalated { .. }) {
                        self.due_at = Some(next.deadline);
                    }
                    self.review = Some(Box::new(next));
                }
            }
            Step::Waiting { deadline, .. } => self.due_at = Some(*deadline),
            Step::Approved { reason } => {
                self.approval = Approval::Approved;
                self.decided_by = Some(by.clone());
                self.reason.clone_from(reason);
            }
            Step::Rejected { reason } => {
                self.approval = Approval::Rejected;
                self.decided_by = Some(by.clone());
                self.reason = Some(reason.clone());
                self.error = Some(CallError::new(ErrorCode::Rejected, "a person refused this call"));
            }
            Step::Started { attempt, worker } => {
                self.attempt = *attempt;
                self.worker = Some(*worker);
                self.started_at = Some(at);
                self.error = None;
            }
            Step::Completed { output, cost_micros } => {
                self.output = Some(output.clone());
                self.cost_micros = *cost_micros;
                self.error = None;
            }
            Step::Failed { error } | Step::InDoubt { error } => self.error = Some(error.clone()),
            Step::Cancelled { reason } => {
                // While it waits for a person, what stands there is why it waits.
                if reason.is_some() || self.approval == Approval::Pending {
                    self.reason.clone_from(reason);
                }
                self.error = Some(CallError::new(ErrorCode::Cancelled, "the call was cancelled"));
            }
            Step::Expired => {
                if self.approval == Approval::Pending {
                    self.reason = None;
                }
                self.error = Some(CallError::new(ErrorCode::Expired, "nobody decided in time"));
            }
            Step::CancelRequested { reason } => {
                self.cancel_requested = true;
                if reason.is_some() {
                    self.reason.clone_from(reason);
                }
            }
            Step::OutputAppended { .. } | Step::LateResult { .. } => {}
        }
        if status.is_settled() {
            self.due_at = None;
            if self.completed_at.is_none() {
                self.completed_at = Some(at);
            }
        } else {
            self.completed_at = None;
        }
    }

    /// Whether a call may run again without harm after a crash.
    #[must_use]
    pub fn repeatable(&self) -> bool {
        self.opened.effect == Effect::Read || self.opened.idempotent
    }

    /// The input that runs, or ran: as asked for, or as a person changed it.
    #[must_use]
    pub fn input(&self) -> &JsonText {
        self.review.as_ref().and_then(|review| review.input.as_ref()).unwrap_or(&self.opened.input)
    }

    /// The call's id.
    #[must_use]
    pub const fn id(&self) -> InvocationId {
        self.opened.id
    }
}

/// The one table of moves. A step not written here is refused, so a new state starts out safe.
const fn next_status(status: Status, approval: Approval, step: &Step) -> Option<Status> {
    match (status, approval, step) {
        (Status::Pending, Approval::Pending, Step::Approved { .. }) => Some(Status::Pending),
        (Status::Pending, Approval::Pending, Step::ReviewChanged { .. }) => Some(Status::Pending),
        (Status::Pending, Approval::Pending, Step::Rejected { .. }) => Some(Status::Rejected),
        (Status::Pending, Approval::Approved, Step::Started { .. }) => Some(Status::Running),
        (Status::Pending, _, Step::Cancelled { .. }) => Some(Status::Cancelled),
        (Status::Pending, Approval::Pending, Step::Expired) => Some(Status::Expired),
        // Policy, input or limits may refuse an approved call when it is dispatched.
        (Status::Pending, Approval::Approved, Step::Failed { .. }) => Some(Status::Failed),

        (
            Status::Running,
            _,
            Step::Started { .. } | Step::OutputAppended { .. } | Step::CancelRequested { .. },
        ) => Some(Status::Running),
        (Status::Running, _, Step::Waiting { .. }) => Some(Status::Waiting),
        (Status::Running | Status::Waiting | Status::InDoubt, _, Step::Completed { .. }) => {
            Some(Status::Completed)
        }
        (Status::Running | Status::Waiting | Status::InDoubt, _, Step::Failed { .. }) => Some(Status::Failed),
        (Status::Running | Status::Waiting, _, Step::Cancelled { .. }) => Some(Status::Cancelled),
        (Status::Running | Status::Waiting, _, Step::InDoubt { .. }) => Some(Status::InDoubt),
        (Status::Waiting, _, Step::Expired) => Some(Status::Expired),
        // A person lets a call in doubt run once more.
        (Status::InDoubt, _, Step::Started { .. }) => Some(Status::Running),

        // What comes too late is kept and changes nothing.
        (
            Status::Completed
            | Status::Failed
            | Status::Rejected
            | Status::Cancelled
            | Status::Expired
            | Status::InDoubt
            | Status::Running,
            _,
            Step::LateResult { .. },
        ) => Some(status),
        _ => None,
    }
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;

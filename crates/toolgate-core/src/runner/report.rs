//! Results that come from outside, by call id.

use serde_json::Value;

use super::Runner;
use super::call::RunError;
use super::run::outcome_of;
use crate::error::{CallError, ErrorCode};
use crate::event::EventKind;
use crate::id::PrincipalId;
use crate::invocation::{Invocation, Status, Step};
use crate::port::store::StoreError;

/// What came of a call that was handed on.
#[derive(Debug, Clone)]
pub enum Report {
    /// It ended well.
    Completed {
        /// The result, as it came.
        result: Value,
        /// What it cost, in millionths.
        cost_micros: Option<i64>,
    },
    /// It did not.
    Failed {
        /// One safe sentence.
        message: String,
    },
}

/// What became of a report.
#[derive(Debug, Clone)]
pub enum Reported {
    /// It is the call's outcome.
    Taken(Invocation),
    /// The call had its outcome already: the report is kept as an event and changes nothing.
    Late(Invocation),
}

/// What becomes of a result that comes after the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// It is kept as an event.
    Kept,
    /// It is refused as a conflict: whoever reports had one try.
    Refused,
}

/// How many late results of one call are kept.
const MOST_LATE: usize = 3;

/// How often a report is tried again while the call moves.
const TRIES: usize = 8;

impl Runner {
    /// Takes the result of a call that was handed on. It is checked and redacted like any other. One that does not fit
    /// is refused and the call goes on waiting; one that comes after the outcome is kept and changes nothing.
    ///
    /// # Errors
    /// [`RunError::Refused`] with what is wrong with the result, or that the call does not wait for one.
    pub async fn report(
        &self,
        invocation: Invocation,
        by: &PrincipalId,
        report: &Report,
        late: Late,
    ) -> Result<Reported, RunError> {
        let (mut seen, late_is) = (invocation, late);
        for _ in 0..TRIES {
            let outcome = self.outcome(&seen, report)?;
            let (step, is_late) = match seen.status {
                Status::Waiting => (outcome, false),
                Status::Completed | Status::Failed | Status::Cancelled | Status::Expired => match late_is {
                    Late::Refused => return Err(RunError::Store(StoreError::Conflict)),
                    // A few tell what there is to know; more would only fill the record.
                    Late::Kept if self.late_results(&seen).await? >= MOST_LATE => {
                        return Ok(Reported::Late(seen));
                    }
                    Late::Kept => (late_result(seen.attempt, outcome), true),
                },
                Status::Pending | Status::Running | Status::Rejected | Status::InDoubt => {
                    return Err(RunError::Refused(not_waiting(seen.status)));
                }
            };
            match self.step(&seen, by, &step).await {
                Ok(row) if is_late => return Ok(Reported::Late(row)),
                Ok(row) => {
                    if let Step::Completed { cost_micros: Some(micros), .. } = step {
                        let opened = &row.opened;
                        self.0.limiter.charge(&opened.tenant, &opened.actor, &opened.tool, micros);
                    }
                    return Ok(Reported::Taken(row));
                }
                Err(StoreError::Conflict) => {
                    let opened = &seen.opened;
                    let found = self.0.store.get(&opened.tenant, opened.id).await.map_err(RunError::Store)?;
                    seen = found.ok_or(RunError::Store(StoreError::NotFound))?;
                }
                Err(other) => return Err(RunError::Store(other)),
            }
        }
        Err(RunError::Store(StoreError::Conflict))
    }

    async fn late_results(&self, invocation: &Invocation) -> Result<usize, RunError> {
        let events = self.0.store.invocation_events(invocation).await.map_err(RunError::Store)?;
        Ok(events.iter().filter(|event| event.draft.kind == EventKind::LateResult).count())
    }

    fn outcome(&self, invocation: &Invocation, report: &Report) -> Result<Step, RunError> {
        let (result, cost_micros) = match report {
            Report::Failed { message } => {
                return Ok(Step::Failed { error: CallError::new(ErrorCode::Execution, message.clone()) });
            }
            Report::Completed { result, cost_micros } => (result, *cost_micros),
        };
        let opened = &invocation.opened;
        let catalog = self.0.tools.of(&opened.tenant);
        let tool = catalog.get(&opened.tool).ok_or_else(|| {
            RunError::Refused(CallError::new(ErrorCode::Unavailable, "the tool is no longer there"))
        })?;
        match outcome_of(tool, result.clone().into(), tool.contract.limits.max_result_bytes, cost_micros) {
            Step::Failed { error } => Err(RunError::Refused(error)),
            outcome => Ok(outcome),
        }
    }
}

fn late_result(attempt: u32, outcome: Step) -> Step {
    match outcome {
        Step::Completed { output, .. } => Step::LateResult { attempt, output: Some(output), error: None },
        Step::Failed { error } => Step::LateResult { attempt, output: None, error: Some(error) },
        other => other,
    }
}

fn not_waiting(status: Status) -> CallError {
    CallError::new(
        ErrorCode::PolicyDenied,
        format!("the call is {}; it does not wait for a result from outside", status.as_str()),
    )
}

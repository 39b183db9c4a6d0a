//! What a crash, a lost worker or a waiting person left behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Runner;
use super::admit::Admitted;
use super::call::{Call, CallInput, CallResult, RunError};
use super::park::{caller_gone, connection_of};
use super::recorder::Recorder;
use super::run::Ready;
use crate::change::Change;
use crate::error::{CallError, ErrorCode};
use crate::grant::Grant;
use crate::id::{ConnectionId, InvocationId, PrincipalId, TenantId};
use crate::invocation::{Approval, Invocation, Status, Step};
use crate::port::gate::{LimitError, Permit};
use crate::port::store::StoreError;
use crate::review::{Review, ReviewStep};

/// How many overdue calls one sweep looks at.
const SWEEP: u32 = 100;

/// What a person says of a call in doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// It did happen.
    Done,
    /// It did not happen, or it does not count.
    Failed,
    /// Run it once more.
    RunAgain,
}

impl Runner {
    /// Looks after calls whose lease or deadline has passed. Any worker may do this at any time: each change is made
    /// by one of them only.
    ///
    /// # Errors
    /// When the store can't be read. What failed for one call is logged and tried again next time.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let due = self.0.store.due(self.0.clock.now(), SWEEP).await?;
        let mut handled = 0;
        for invocation in due {
            if self.0.flights.contains(invocation.id()) {
                continue;
            }
            let id = invocation.id();
            match self.look_after(invocation).await {
                Ok(()) => handled += 1,
                // Another worker was faster.
                Err(StoreError::Conflict) => {}
                Err(cause) => {
                    tracing::warn!(call = %id, error = %cause, "an overdue call could not be looked after")
                }
            }
        }
        Ok(handled)
    }

    async fn look_after(&self, invocation: Invocation) -> Result<(), StoreError> {
        let by = invocation.opened.actor.clone();
        match (invocation.status, invocation.approval) {
            (Status::Pending, Approval::Approved) => {
                self.redispatch(invocation);
                Ok(())
            }
            (Status::Pending, Approval::Pending) if self.to_be_passed_on(&invocation) => {
                // As it was said when it began to wait.
                let to =
                    invocation.review.as_ref().map(|review| review.escalate_to.clone()).unwrap_or_default();
                self.review(&invocation, &by, ReviewStep::Escalated { to }).await.map(drop)
            }
            (Status::Pending | Status::Waiting, _) => {
                self.step(&invocation, &by, &Step::Expired).await.map(drop)
            }
            (Status::Running, _) if !invocation.repeatable() => {
                tracing::warn!(call = %invocation.id(), tool = %invocation.opened.tool, "a write's outcome is unknown");
                let error =
                    CallError::new(ErrorCode::InDoubt, "the server stopped while this write was under way")
                        .hint("find out whether it happened, then settle it: done, failed or run again");
                self.step(&invocation, &by, &Step::InDoubt { error }).await.map(drop)
            }
            (Status::Running, _) if invocation.cancel_requested => {
                self.step(&invocation, &by, &Step::Cancelled { reason: None }).await.map(drop)
            }
            (Status::Running, _) if invocation.attempt >= self.0.settings.max_attempts => {
                let error = CallError::new(
                    ErrorCode::Execution,
                    format!("it was cut off {} times", invocation.attempt),
                );
                self.step(&invocation, &by, &Step::Failed { error }).await.map(drop)
            }
            (Status::Running, _) => {
                self.redispatch(invocation);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether nobody decided in time for a first look, and there is time left.
    fn to_be_passed_on(&self, invocation: &Invocation) -> bool {
        let now = self.0.clock.now();
        invocation
            .review
            .as_ref()
            .is_some_and(|review| review.escalate_at.is_some_and(|at| at <= now) && now < review.deadline)
    }

    fn redispatch(&self, invocation: Invocation) {
        let runner = self.clone();
        self.0.tasks.spawn(async move {
            let (id, by) = (invocation.id(), invocation.opened.actor.clone());
            if let Err(cause) = runner.dispatch(invocation, by, Duration::from_secs(3600)).await {
                tracing::warn!(call = %id, error = %cause, "a call could not be taken up again");
            }
        });
    }

    /// Runs a recorded call on the word of `by`: one that was approved, one in doubt that a person wants run again, or
    /// a repeatable one whose worker is gone. Policy and input are checked again first.
    ///
    /// # Errors
    /// When it could not be recorded, or another worker took it.
    pub async fn dispatch(
        &self,
        invocation: Invocation,
        by: PrincipalId,
        wait: Duration,
    ) -> Result<CallResult, RunError> {
        let until = Instant::now() + wait;
        let opened = &invocation.opened;
        let again = self.call_again(&invocation, invocation.input().to_value(), wait).await?;
        let Some((call, labels)) = again else {
            return self.stop_dispatch(&invocation, caller_gone()).await;
        };
        let admitted = match self.admit(&call, &labels).await {
            Ok(admitted) => admitted,
            Err(stopped) => return self.stop_dispatch(&invocation, stopped.error).await,
        };
        if let Err(stopped) = self.check_files(&call, &admitted).await.map_err(RunError::Store)? {
            return self.stop_dispatch(&invocation, stopped.error).await;
        }
        // Invariant: what a person approved is what runs. Another contract is another call.
        if invocation.approval == Approval::Approved
            && Some(&admitted.tool.version) != opened.tool_version.as_ref()
        {
            return self.stop_dispatch(&invocation, tool_changed()).await;
        }
        // Invariant: the digest a person decided on is the digest of what is about to run.
        if let Some(review) = &invocation.review
            && invocation.approval == Approval::Approved
        {
            let (contract, version) = (&admitted.tool.contract, Some(&admitted.tool.version));
            let preview = review.preview.as_ref();
            let digest =
                Review::digest_of(&contract.id, version, &admitted.input, admitted.connection, preview);
            if digest != review.digest {
                let error = CallError::new(ErrorCode::PolicyDenied, "this is not what a person approved")
                    .hint("make the call again, to be decided on as it is now");
                return self.stop_dispatch(&invocation, error).await;
            }
        }
        // Invariant: a call that a standing grant let run is judged as when it came. The grant may have been taken back
        // since, or whoever gave it may no longer decide.
        if was_granted(&invocation)
            && admitted.needs_person(&call.actor).is_some()
            && self.grant_for(&call, &labels, &admitted).await.map_err(RunError::Store)?.is_none()
        {
            let error = CallError::new(ErrorCode::PolicyDenied, "the grant that let it run stands no more")
                .hint("make the call again, for a person to decide on");
            return self.stop_dispatch(&invocation, error).await;
        }
        // Invariant: a rule that came to ask for a person in the meantime is obeyed.
        if invocation.approval == Approval::NotRequired && admitted.needs_person(&call.actor).is_some() {
            let error = CallError::new(ErrorCode::PolicyDenied, "policy now asks a person first");
            return self.stop_dispatch(&invocation, error).await;
        }
        let permit = match invocation.approval {
            // It was let in when it came; a crash is no reason to turn it away.
            Approval::NotRequired | Approval::Pending | Approval::Rejected => Permit::free(),
            Approval::Approved => {
                match self.place_for(&call, &labels, &admitted).await? {
                    Ok(permit) => permit,
                    // No place just now: it stays approved, and is taken up again when there may be one.
                    Err(error) if is_full(&error) => {
                        if self.waits_too_long(&invocation).await? {
                            return self.stop_dispatch(&invocation, no_place(error)).await;
                        }
                        // Others that are due should not wait behind it.
                        let later = self.0.clock.now().plus(NO_PLACE);
                        self.0.store.put_off(&invocation, later).await.map_err(RunError::Store)?;
                        return Ok(CallResult::of(&invocation));
                    }
                    Err(error) => return self.stop_dispatch(&invocation, error).await,
                }
            }
        };
        let ready = Ready {
            id: invocation.id(),
            session: opened.session,
            actor: call.actor,
            key: call.key,
            tool: admitted.tool,
            input: admitted.input,
            connection: admitted.connection,
            rule: admitted.decision.rule.to_string(),
            permit,
            recorder: Arc::new(Recorder::resume(self.clone(), invocation, by)),
            start_first: true,
        };
        self.launch(ready, until).await
    }

    /// A recorded call with this input, as its caller would make it today; none when they may no longer act.
    pub(super) async fn call_again(
        &self,
        invocation: &Invocation,
        input: serde_json::Value,
        wait: Duration,
    ) -> Result<Option<(Call, Arc<[String]>)>, RunError> {
        let opened = &invocation.opened;
        let directory = &self.0.directory;
        let known = directory.actor(&opened.tenant, &opened.actor, opened.subject.as_ref(), opened.key).await;
        let Some(actor) = known.map_err(RunError::Store)? else { return Ok(None) };
        let call = Call {
            actor,
            tool: opened.tool.clone(),
            input: CallInput::Value(input),
            session: Some(opened.session),
            parent: opened.parent,
            idempotency_key: opened.idempotency_key.clone(),
            connection: connection_of(invocation),
            key: opened.key,
            source: opened.source,
            wait,
            watch: None,
        };
        let labels = self.labels(&call).await.map_err(RunError::Store)?;
        Ok(Some((call, labels)))
    }

    /// Asks the limits for an approved call's place.
    async fn place_for(
        &self,
        call: &Call,
        labels: &[String],
        admitted: &Admitted,
    ) -> Result<Result<Permit, CallError>, RunError> {
        let ask = self.ask(call, &admitted.tool, labels);
        match self.0.limiter.admit_approved(&ask).await {
            Ok(permit) => Ok(Ok(permit)),
            Err(LimitError::Used(error)) => Ok(Err(error)),
            Err(LimitError::Store(cause)) => Err(RunError::Store(cause)),
        }
    }

    /// Whether an approved call has looked for a place for as long as it may.
    async fn waits_too_long(&self, invocation: &Invocation) -> Result<bool, RunError> {
        // Nothing happens to a call between the word that lets it run and its begin: its last event is that word.
        let (session, last) = (invocation.opened.session, invocation.seqs.1);
        let events = self.0.store.session_events(session, last - 1, 1).await.map_err(RunError::Store)?;
        let approved = events.first().map(|event| event.draft.at);
        Ok(approved.is_some_and(|at| self.0.clock.now() >= at.plus(self.0.settings.place_deadline)))
    }

    async fn stop_dispatch(&self, invocation: &Invocation, error: CallError) -> Result<CallResult, RunError> {
        // Whether it happened is still unknown: that it may not run again does not make it failed.
        if invocation.status == Status::InDoubt {
            return Err(RunError::Refused(error));
        }
        let by = invocation.opened.actor.clone();
        let row = self.step(invocation, &by, &Step::Failed { error }).await.map_err(RunError::Store)?;
        Ok(CallResult::of(&row))
    }

    /// Keeps this worker's calls from being taken over, and hears which of them someone wants stopped.
    ///
    /// # Errors
    /// When the store can't be reached.
    pub async fn renew_leases(&self) -> Result<(), StoreError> {
        let calls = self.0.flights.ids();
        if calls.is_empty() {
            return Ok(());
        }
        let until = self.0.clock.now().plus(self.0.settings.lease);
        for id in self.0.store.renew(self.0.worker, &calls, until).await? {
            self.0.flights.cancel(id);
        }
        Ok(())
    }

    /// The recorded calls that run in this process through an account at an outside service, and which.
    #[must_use]
    pub fn accounts_in_use(&self) -> Vec<(InvocationId, TenantId, ConnectionId)> {
        self.0.flights.accounts()
    }

    /// Asks a call to stop: one that waits is cancelled at once, one that runs is told.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it is over, or changed just now.
    pub async fn cancel(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        reason: Option<String>,
    ) -> Result<Invocation, StoreError> {
        let step = match invocation.status {
            Status::Pending | Status::Waiting => Step::Cancelled { reason },
            Status::Running if invocation.cancel_requested => return Ok(invocation.clone()),
            Status::Running => Step::CancelRequested { reason },
            Status::Completed
            | Status::Failed
            | Status::Rejected
            | Status::Cancelled
            | Status::Expired
            | Status::InDoubt => return Err(StoreError::Conflict),
        };
        let row = self.step(invocation, by, &step).await?;
        self.0.flights.cancel(row.id());
        Ok(row)
    }

    /// A person's word on a waiting call. An approved one is dispatched by whoever approved it, or found by its lease.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it no longer waits.
    pub async fn decide(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        approve: bool,
        reason: Option<String>,
    ) -> Result<Invocation, StoreError> {
        let change = self.decision(invocation, by, approve, reason)?;
        let row = self.0.store.advance(change).await?;
        self.announce(&row);
        Ok(row)
    }

    /// The same as a change, for whoever writes something along with it.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it no longer waits.
    pub fn decision(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        approve: bool,
        reason: Option<String>,
    ) -> Result<Change, StoreError> {
        let now = self.0.clock.now();
        let deadline = invocation.review.as_ref().map(|review| review.deadline).or(invocation.due_at);
        let overdue = deadline.is_some_and(|deadline| now >= deadline);
        if invocation.status != Status::Pending || invocation.approval != Approval::Pending || overdue {
            return Err(StoreError::Conflict);
        }
        let step = if approve {
            Step::Approved { reason }
        } else {
            Step::Rejected { reason: reason.unwrap_or_default() }
        };
        self.change_by(invocation, by, &step)
    }

    /// A person's word on a call in doubt.
    ///
    /// # Errors
    /// [`RunError::Store`] with a conflict when it is not in doubt.
    pub async fn settle(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        settlement: Settlement,
        wait: Duration,
    ) -> Result<CallResult, RunError> {
        if invocation.status != Status::InDoubt {
            return Err(RunError::Store(StoreError::Conflict));
        }
        let step = match settlement {
            Settlement::RunAgain => return self.dispatch(invocation.clone(), by.clone(), wait).await,
            Settlement::Done => Step::Completed {
                output: crate::json::JsonText::from_value(&serde_json::json!({ "settled_by": by.as_str() })),
                cost_micros: None,
            },
            Settlement::Failed => Step::Failed {
                error: CallError::new(ErrorCode::Execution, "a person settled this call as failed"),
            },
        };
        let row = self.step(invocation, by, &step).await.map_err(RunError::Store)?;
        Ok(CallResult::of(&row))
    }

    pub(super) async fn step(
        &self,
        seen: &Invocation,
        by: &PrincipalId,
        step: &Step,
    ) -> Result<Invocation, StoreError> {
        let row = self.0.store.advance(self.change_by(seen, by, step)?).await?;
        self.announce(&row);
        Ok(row)
    }

    fn change_by(&self, seen: &Invocation, by: &PrincipalId, step: &Step) -> Result<Change, StoreError> {
        let now = self.0.clock.now();
        let change = Change::step(seen, by, step, now).map_err(|_| StoreError::Conflict)?;
        Ok(match step {
            // Approved and not yet begun: whoever finds it after this moment takes it up.
            Step::Approved { .. } => change.due(now.plus(TAKE_UP)),
            // The row may have been read before its lease was renewed; writing that back would end it early.
            Step::CancelRequested { .. } => change.due(now.plus(self.0.settings.lease)),
            _ => change,
        })
    }
}

/// Whether a call was turned away only because others run.
fn is_full(error: &CallError) -> bool {
    error.details.as_ref().is_some_and(|details| details.get("concurrency").is_some())
}

/// Whether a standing grant let a call run, and not a person's word on just this one.
fn was_granted(invocation: &Invocation) -> bool {
    let rule = invocation.opened.rule.as_deref();
    invocation.approval == Approval::Approved
        && invocation.reason.as_deref() == rule
        && rule.is_some_and(|rule| rule.starts_with(&Grant::rule("")))
}

/// Approved, and others ran all the time.
fn no_place(error: CallError) -> CallError {
    CallError { message: format!("it was approved and found no place in time: {}", error.message), ..error }
        .hint("it did not run; make the call again when fewer run")
}

pub(super) fn tool_changed() -> CallError {
    CallError::new(ErrorCode::PolicyDenied, "the tool changed after this call began to wait")
        .hint("make the call again, to be decided on the tool as it is now")
}

/// How soon an approved call that found no place is tried again.
const NO_PLACE: Duration = Duration::from_secs(3);

/// How soon another worker takes up an approved call that its own has not begun.
const TAKE_UP: Duration = Duration::from_secs(5);

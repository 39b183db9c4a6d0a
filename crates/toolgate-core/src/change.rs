//! What a store is asked to write: a row and its events, made together so that neither can go alone.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::CallError;
use crate::event::{ChainHead, Event, EventDraft, EventKind};
use crate::id::{PrincipalId, WorkerId};
use crate::invocation::{IllegalStep, Invocation, Opened, Step};
use crate::json::JsonText;
use crate::review::{Review, ReviewStep};
use crate::time::Timestamp;

/// A new call: its row after its first steps, and their events.
#[derive(Debug, Clone)]
pub struct NewCall {
    invocation: Invocation,
    drafts: Vec<EventDraft>,
    session: SessionUse,
    may_be_written: bool,
}

/// One step of a known call: its row afterwards, and the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    next: Invocation,
    draft: EventDraft,
    seen: u64,
}

impl NewCall {
    /// Opens a call that a person let run beforehand: it waits and is approved in the same moment, by them.
    ///
    /// # Errors
    /// When a call may not begin like this.
    pub fn open_approved(
        opened: Opened,
        asked: &Step,
        approved: &Step,
        by: &PrincipalId,
        at: Timestamp,
        session: SessionUse,
    ) -> Result<Self, IllegalStep> {
        let mut new = Self::open_at(opened, &[(asked.clone(), at)], session)?;
        new.invocation = new.invocation.apply(by, approved, at)?;
        new.drafts.push(draft(&new.invocation, None, by, approved, at));
        Ok(new)
    }

    /// Opens a call and takes its first steps, all by the call's own actor at the same moment.
    ///
    /// # Errors
    /// When a call may not begin like this.
    pub fn open(
        opened: Opened,
        steps: &[Step],
        at: Timestamp,
        session: SessionUse,
    ) -> Result<Self, IllegalStep> {
        let steps: Vec<(Step, Timestamp)> = steps.iter().map(|step| (step.clone(), at)).collect();
        Self::open_at(opened, &steps, session)
    }

    /// The same, with a moment for each step.
    ///
    /// # Errors
    /// When a call may not begin like this.
    pub fn open_at(
        opened: Opened,
        steps: &[(Step, Timestamp)],
        session: SessionUse,
    ) -> Result<Self, IllegalStep> {
        let by = opened.actor.clone();
        let Some(((first, at), rest)) = steps.split_first() else {
            return Err(IllegalStep { from: None, step: EventKind::Failed });
        };
        let mut invocation = Invocation::open(opened, &by, first, *at)?;
        let mut drafts = vec![draft(&invocation, Some(&invocation.opened), &by, first, *at)];
        for (step, at) in rest {
            invocation = invocation.apply(&by, step, *at)?;
            drafts.push(draft(&invocation, None, &by, step, *at));
        }
        Ok(Self { invocation, drafts, session, may_be_written: false })
    }

    /// The same, with a moment by which someone must have looked after it.
    #[must_use]
    pub fn due(mut self, due_at: Timestamp) -> Self {
        let approved = self.invocation.approval == crate::invocation::Approval::Approved;
        if !self.invocation.status.is_settled() && (approved || self.invocation.due_at.is_none()) {
            self.invocation.due_at = Some(due_at);
        }
        self
    }

    /// The same, for a call that was offered to the store before and may have got through.
    #[must_use]
    pub fn offered_before(mut self) -> Self {
        self.may_be_written = true;
        self
    }

    /// Whether the store may have the call already. It looks for itself where this says so.
    #[must_use]
    pub const fn may_be_written(&self) -> bool {
        self.may_be_written
    }

    /// The row to insert.
    #[must_use]
    pub const fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// The events to append, in order.
    #[must_use]
    pub fn drafts(&self) -> &[EventDraft] {
        &self.drafts
    }

    /// Where the call's session comes from.
    #[must_use]
    pub const fn session(&self) -> &SessionUse {
        &self.session
    }

    /// The row as written, once its events stand between these places of the chain.
    #[must_use]
    pub fn written_between(&self, before: ChainHead, after: ChainHead) -> Invocation {
        let mut invocation = self.invocation.clone();
        (invocation.seqs, invocation.head) = ((before.seq + 1, after.seq), Some(after));
        invocation
    }

    /// The same, without a copy.
    #[must_use]
    pub fn into_written_between(mut self, before: ChainHead, after: ChainHead) -> Invocation {
        (self.invocation.seqs, self.invocation.head) = ((before.seq + 1, after.seq), Some(after));
        self.invocation
    }

    /// The row as written, once its events have their places.
    #[must_use]
    pub fn written(self, events: &[Event]) -> Invocation {
        let mut invocation = self.invocation;
        if let (Some(first), Some(last)) = (events.first(), events.last()) {
            invocation.seqs = (first.seq, last.seq);
            invocation.head = Some(last.head());
        }
        invocation
    }
}

/// Where a call's session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionUse {
    /// It is the call's own, made with it.
    New,
    /// It exists in the call's tenant and, where an owner is named, belongs to that owner.
    Existing {
        /// Who must own it; none for those who manage the tenant.
        owner: Option<PrincipalId>,
    },
}

impl Change {
    /// The step `step` by `by`, on the call as it was seen.
    ///
    /// # Errors
    /// When the step is not allowed where the call stands.
    pub fn step(
        seen: &Invocation,
        by: &PrincipalId,
        step: &Step,
        at: Timestamp,
    ) -> Result<Self, IllegalStep> {
        let next = seen.apply(by, step, at)?;
        let draft = draft(&next, None, by, step, at);
        Ok(Self { next, draft, seen: seen.revision })
    }

    /// The same, with a moment by which someone must have looked after it.
    #[must_use]
    pub fn due(mut self, due_at: Timestamp) -> Self {
        if !self.next.status.is_settled() {
            self.next.due_at = Some(due_at);
        }
        self
    }

    /// The row afterwards.
    #[must_use]
    pub const fn next(&self) -> &Invocation {
        &self.next
    }

    /// The event to append.
    #[must_use]
    pub const fn draft(&self) -> &EventDraft {
        &self.draft
    }

    /// The revision the row must still have.
    #[must_use]
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// The row as written, once its event has its place.
    #[must_use]
    pub fn written(self, event: &Event) -> Invocation {
        self.written_at(event.head())
    }

    /// The same, for an event that ends the chain here.
    #[must_use]
    pub fn written_at(&self, head: ChainHead) -> Invocation {
        let mut invocation = self.next.clone();
        (invocation.seqs.1, invocation.head) = (head.seq, Some(head));
        invocation
    }
}

/// What an event's `data` holds. One flat object for all kinds: what a kind does not have is left out.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Body<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<Cow<'a, Opened>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<WorkerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chunk: Option<Cow<'a, JsonText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Cow<'a, JsonText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_micros: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, CallError>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    review: Option<Box<Review>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<ReviewStep>,
}

fn draft(
    invocation: &Invocation,
    call: Option<&Opened>,
    by: &PrincipalId,
    step: &Step,
    at: Timestamp,
) -> EventDraft {
    let mut body = Body { call: call.map(Cow::Borrowed), ..Body::default() };
    match step {
        Step::NeedsApproval { reason, deadline, review } => {
            (body.reason, body.deadline, body.review) =
                (Some(reason.clone()), Some(*deadline), review.clone());
        }
        Step::ReviewChanged { step } => body.step = Some(step.clone()),
        Step::Waiting { reason, deadline } => {
            (body.reason, body.deadline) = (Some(reason.clone()), Some(*deadline));
        }
        Step::Approved { reason } | Step::Cancelled { reason } | Step::CancelRequested { reason } => {
            body.reason.clone_from(reason);
        }
        Step::Rejected { reason } => body.reason = Some(reason.clone()),
        Step::Started { attempt, worker } => (body.attempt, body.worker) = (Some(*attempt), Some(*worker)),
        Step::OutputAppended { chunk } => body.chunk = Some(Cow::Borrowed(chunk)),
        Step::Completed { output, cost_micros } => {
            (body.output, body.cost_micros) = (Some(Cow::Borrowed(output)), *cost_micros);
        }
        Step::Failed { error } | Step::InDoubt { error } => body.error = Some(Cow::Borrowed(error)),
        Step::Expired => {}
        Step::LateResult { attempt, output, error } => {
            body.attempt = Some(*attempt);
            (body.output, body.error) =
                (output.as_ref().map(Cow::Borrowed), error.as_ref().map(Cow::Borrowed));
        }
    }
    EventDraft {
        tenant: invocation.opened.tenant.clone(),
        session: invocation.opened.session,
        invocation: invocation.opened.id,
        kind: step.kind(),
        actor: by.clone(),
        at,
        // A body has only string keys and JSON inside, so it always has a JSON form.
        data: JsonText::from_serialize(&body)
            .unwrap_or_else(|_| JsonText::from_value(&serde_json::Value::Null)),
    }
}

/// An event that does not fit the ones before it.
#[derive(Debug, thiserror::Error)]
pub enum BadHistory {
    /// Its data can't be read.
    #[error("event {seq} can't be read")]
    Unreadable {
        /// Its number.
        seq: i64,
        /// Why.
        #[source]
        cause: Option<serde_json::Error>,
    },
    /// It is not allowed after the ones before it.
    #[error("event {seq} does not follow")]
    Illegal {
        /// Its number.
        seq: i64,
        /// Why.
        #[source]
        cause: IllegalStep,
    },
    /// There are no events.
    #[error("there are no events")]
    Empty,
}

/// Rebuilds a call's row from its events. What is not part of the record (leases) is left out.
///
/// # Errors
/// When the events are not one call's whole history.
pub fn fold(events: &[Event]) -> Result<Invocation, BadHistory> {
    let mut current: Option<Invocation> = None;
    for event in events {
        let (seq, at, by) = (event.seq, event.draft.at, &event.draft.actor);
        let body: Body<'_> = serde_json::from_str(event.draft.data.as_str())
            .map_err(|cause| BadHistory::Unreadable { seq, cause: Some(cause) })?;
        let opened = body.call.as_deref().cloned();
        let step = step_of(event.draft.kind, body).ok_or(BadHistory::Unreadable { seq, cause: None })?;
        let mut next = match (&current, opened) {
            (None, Some(opened)) => Invocation::open(opened, by, &step, at),
            (Some(invocation), None) => invocation.apply(by, &step, at),
            _ => return Err(BadHistory::Unreadable { seq, cause: None }),
        }
        .map_err(|cause| BadHistory::Illegal { seq, cause })?;
        next.seqs = (current.as_ref().map_or(seq, |invocation| invocation.seqs.0), seq);
        current = Some(next);
    }
    current.map(|invocation| recorded(&invocation)).ok_or(BadHistory::Empty)
}

/// The row as far as events record it, for comparing with what [`fold`] gives.
#[must_use]
pub fn recorded(invocation: &Invocation) -> Invocation {
    Invocation { due_at: None, head: None, ..invocation.clone() }
}

fn step_of(kind: EventKind, body: Body<'_>) -> Option<Step> {
    Some(match kind {
        EventKind::NeedsApproval => {
            Step::NeedsApproval { reason: body.reason?, deadline: body.deadline?, review: body.review }
        }
        EventKind::ReviewChanged => Step::ReviewChanged { step: body.step? },
        EventKind::Approved => Step::Approved { reason: body.reason },
        EventKind::Rejected => Step::Rejected { reason: body.reason? },
        EventKind::Started => Step::Started { attempt: body.attempt?, worker: body.worker? },
        EventKind::OutputAppended => Step::OutputAppended { chunk: body.chunk?.into_owned() },
        EventKind::Waiting => Step::Waiting { reason: body.reason?, deadline: body.deadline? },
        EventKind::Completed => {
            Step::Completed { output: body.output?.into_owned(), cost_micros: body.cost_micros }
        }
        EventKind::Failed => Step::Failed { error: body.error?.into_owned() },
        EventKind::Cancelled => Step::Cancelled { reason: body.reason },
        EventKind::Expired => Step::Expired,
        EventKind::InDoubt => Step::InDoubt { error: body.error?.into_owned() },
        EventKind::CancelRequested => Step::CancelRequested { reason: body.reason },
        EventKind::LateResult => Step::LateResult {
            attempt: body.attempt?,
            output: body.output.map(Cow::into_owned),
            error: body.error.map(Cow::into_owned),
        },
        // Not a step of any call.
        EventKind::AdminChanged => return None,
    })
}

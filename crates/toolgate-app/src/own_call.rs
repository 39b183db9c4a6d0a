//! What callers may do about their own calls that wait: confirm them, and answer their questions.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::id::{InvocationId, PrincipalKind, TenantId};
use toolgate_core::input_request::TOOL;
use toolgate_core::port::store::StoreError;
use toolgate_core::runner::{Late, Report, RunError};
use toolgate_core::{Actor, Approval, CallResult, Invocation, Status};

use crate::input_request::request_of;
use crate::{App, AppError, Snapshot};

impl App {
    /// Goes up whenever what is in force in some tenant has changed.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.snapshots.moves()
    }

    /// What is in force in a tenant: the same `Arc` until something changes.
    #[must_use]
    pub fn in_force(&self, tenant: &TenantId) -> Option<Arc<Snapshot>> {
        self.snapshots.get(tenant)
    }

    /// Whether this caller is a person who made this waiting call and may let it run by their word alone.
    pub async fn may_confirm(&self, actor: &Actor, invocation: &Invocation) -> bool {
        // Invariant: an agent or service never confirms its own call, and nobody does where more than one must decide.
        let alone = invocation.review.as_ref().is_none_or(|review| review.needed <= 1);
        actor.principal.kind() == PrincipalKind::User
            && invocation.opened.actor == actor.principal
            && invocation.status == Status::Pending
            && invocation.approval == Approval::Pending
            && alone
            && self.may_approve(actor, invocation).await
    }

    /// Whether a call of this caller's waits for the answer to a question to a person.
    #[must_use]
    pub fn asks_a_person(&self, actor: &Actor, invocation: &Invocation) -> bool {
        invocation.status == Status::Waiting
            && invocation.opened.tool.as_str() == TOOL
            && invocation.opened.acting() == actor.acting()
    }

    /// Takes the answer to a question that this caller's own call asks, from the person at the caller's side. Whoever
    /// asked has the link to answer it anyway; this is the same, without the page.
    ///
    /// # Errors
    /// "Not found" for any other call, a conflict when it was answered, what does not fit about the answer.
    pub async fn answer_own_request(
        &self,
        actor: &Actor,
        id: InvocationId,
        answer: &Value,
    ) -> Result<CallResult, AppError> {
        let row = self.read_invocation(actor, id).await?;
        // Invariant: an agent or service never answers in a person's name; for those there is the link.
        if actor.principal.kind() != PrincipalKind::User || !self.asks_a_person(actor, &row) {
            return Err(AppError::NotFound { what: "invocation" });
        }
        if !self.is_waited_for(&row).await? {
            return Err(AppError::Conflict { message: "nobody waits for the answer any more".to_owned() });
        }
        let answers = request_of(&row)?.answer(answer).map_err(AppError::invalid)?;
        let by = actor.principal.clone();
        let result = json!({ "kind": "input_request", "answers": answers });
        let report = Report::Completed { result, cost_micros: None };
        match self.runner.report(row, &by, &report, Late::Refused).await {
            Err(RunError::Store(StoreError::Conflict)) => {
                Err(AppError::Conflict { message: "the question was answered already".to_owned() })
            }
            Err(other) => Err(other.into()),
            Ok(_) => Ok(CallResult::of(&self.read_invocation(actor, id).await?)),
        }
    }
}

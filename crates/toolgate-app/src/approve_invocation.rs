//! A person's word on a waiting call.

use std::time::Duration;

use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::port::gate::{Ask, Whose};
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Approval, CallResult, Invocation};

use crate::{App, AppError};

impl App {
    /// Lets a waiting call run, and runs it. Policy and input are checked once more first.
    ///
    /// # Errors
    /// "Forbidden" for whoever may not decide, a conflict when the call no longer waits.
    pub async fn approve_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        reason: Option<String>,
        wait: Duration,
    ) -> Result<CallResult, AppError> {
        let invocation = self.waiting(actor, id).await?;
        let approved =
            self.runner.decide(&invocation, &actor.principal, true, reason).await.map_err(decided)?;
        match self.runner.dispatch(approved, actor.principal.clone(), wait).await {
            // Another worker was faster to begin it; it runs all the same.
            Err(toolgate_core::runner::RunError::Store(StoreError::Conflict)) => {
                Ok(CallResult::of(&self.read_invocation(actor, id).await?))
            }
            other => Ok(other?),
        }
    }

    /// Refuses a waiting call.
    ///
    /// # Errors
    /// As [`App::approve_invocation`].
    pub async fn reject_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        reason: String,
    ) -> Result<Invocation, AppError> {
        let invocation = self.waiting(actor, id).await?;
        self.runner.decide(&invocation, &actor.principal, false, Some(reason)).await.map_err(decided)
    }

    async fn waiting(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        // Invariant: only a person decides, never the agent or service that asks.
        if actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person may decide on a call"));
        }
        self.require_approval(actor, &invocation)?;
        if invocation.approval != Approval::Pending || invocation.status.is_settled() {
            return Err(AppError::Conflict {
                message: format!(
                    "the call is {}; it does not wait for a decision",
                    invocation.status.as_str()
                ),
            });
        }
        Ok(invocation)
    }
}

impl App {
    /// Asks policy whether this person may decide on this call.
    pub(crate) fn require_approval(&self, actor: &Actor, invocation: &Invocation) -> Result<(), AppError> {
        if !actor.scopes.may_approve() {
            return Err(AppError::Forbidden {
                message: "this key's scopes do not let it decide on calls".to_owned(),
                rule: Some("key scopes".to_owned()),
                hint: Some("use a key with the scope `approve`, or one without scopes".to_owned()),
            });
        }
        let opened = &invocation.opened;
        let parts = self.runner.parts();
        let catalog = parts.tools.of(&actor.tenant);
        // A tool that is gone can't be approved; its calls can be cancelled.
        let tool = catalog.get(&opened.tool).ok_or_else(|| AppError::Conflict {
            message: format!("the tool `{}` is no longer there; the call can only be cancelled", opened.tool),
        })?;
        let whose = Whose {
            own: opened.actor == actor.principal,
            for_me: opened.subject.as_ref() == Some(&actor.principal),
        };
        let ask = Ask { session: Some(opened.session), ..self.ask(actor, tool) };
        let decision = parts.policy.decide_approval(&ask, whose, &opened.input.to_value());
        if decision.verdict.permits() {
            return Ok(());
        }
        Err(AppError::Forbidden {
            message: decision.reason,
            rule: Some(decision.rule.to_string()),
            hint: decision.hint,
        })
    }

    /// Asks whether this caller has a say in this call, beside seeing it: it is theirs, or they may decide on it.
    pub(crate) fn require_say(&self, actor: &Actor, invocation: &Invocation) -> Result<(), AppError> {
        let opened = &invocation.opened;
        if actor.may_see(&opened.tenant, &opened.actor, opened.subject.as_ref()) {
            return Ok(());
        }
        self.require_approval(actor, invocation)
    }

    /// Whether this person may decide on this waiting call, and therefore see it.
    pub(crate) fn may_approve(&self, actor: &Actor, invocation: &Invocation) -> bool {
        actor.tenant == invocation.opened.tenant
            && actor.principal.kind() == PrincipalKind::User
            && invocation.approval == Approval::Pending
            && self.require_approval(actor, invocation).is_ok()
    }
}

fn decided(cause: StoreError) -> AppError {
    match cause {
        StoreError::Conflict => {
            AppError::Conflict { message: "the call was decided in the meantime".to_owned() }
        }
        other => other.into(),
    }
}

//! A person's word on a waiting call.

use std::time::Duration;

use toolgate_core::id::{InvocationId, PrincipalKind};
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
            return Err(AppError::Forbidden { message: "only a person may decide on a call" });
        }
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

fn decided(cause: StoreError) -> AppError {
    match cause {
        StoreError::Conflict => {
            AppError::Conflict { message: "the call was decided in the meantime".to_owned() }
        }
        other => other.into(),
    }
}

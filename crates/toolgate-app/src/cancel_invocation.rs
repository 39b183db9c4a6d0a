//! Stops a call that waits or runs.

use toolgate_core::id::InvocationId;
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Invocation};

use crate::{App, AppError};

impl App {
    /// Cancels a waiting call at once, and tells a running one to stop.
    ///
    /// # Errors
    /// "Forbidden" for whoever may only look, a conflict when the call is over.
    pub async fn cancel_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        reason: Option<String>,
    ) -> Result<Invocation, AppError> {
        // The call may take a step between being read and being cancelled; then it is looked at again.
        for _ in 0..8 {
            let invocation = self.read_invocation(actor, id).await?;
            self.require_say(actor, &invocation).await?;
            if invocation.status.is_settled() {
                let message =
                    format!("the call is {}; there is nothing to cancel", invocation.status.as_str());
                return Err(AppError::Conflict { message });
            }
            match self.runner.cancel(&invocation, &actor.principal, reason.clone()).await {
                Err(StoreError::Conflict) => {}
                other => return Ok(other?),
            }
        }
        Err(StoreError::Conflict.into())
    }
}

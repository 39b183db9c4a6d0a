//! A person's word on a write whose outcome was lost.

use std::time::Duration;

use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::{Actor, CallResult, Status};

use crate::{App, AppError};

pub use toolgate_core::runner::Settlement;

impl App {
    /// Settles a call in doubt: it happened, it did not, or run it once more.
    ///
    /// # Errors
    /// "Forbidden" for whoever is not a person or may only look, a conflict when the call is not in doubt.
    pub async fn settle_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        settlement: Settlement,
        wait: Duration,
    ) -> Result<CallResult, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        if actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person may settle a call"));
        }
        self.require_say(actor, &invocation).await?;
        if invocation.status != Status::InDoubt {
            return Err(AppError::Conflict {
                message: format!(
                    "the call is {}; only a call in doubt is settled",
                    invocation.status.as_str()
                ),
            });
        }
        Ok(self.runner.settle(&invocation, &actor.principal, settlement, wait).await?)
    }
}

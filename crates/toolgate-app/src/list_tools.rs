//! The tools a caller may see: the same question that is asked when one is called.

use std::sync::Arc;

use toolgate_core::BoundTool;
use toolgate_core::id::ToolName;
use toolgate_core::port::gate::Verdict;
use toolgate_core::{Actor, contract::Audience};

use crate::{App, AppError};

impl App {
    /// The tools this caller may call, ordered by id.
    #[must_use]
    pub fn list_tools(&self, actor: &Actor) -> Vec<Arc<BoundTool>> {
        let catalog = self.runner.parts().tools.of(&actor.tenant);
        catalog.tools().iter().filter(|tool| self.may_call(actor, tool)).cloned().collect()
    }

    /// One tool this caller may call, by id or alias.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what the caller may not see.
    pub fn read_tool(&self, actor: &Actor, id: &ToolName) -> Result<Arc<BoundTool>, AppError> {
        let catalog = self.runner.parts().tools.of(&actor.tenant);
        catalog
            .get(id)
            .filter(|tool| self.may_call(actor, tool))
            .cloned()
            .ok_or(AppError::NotFound { what: "tool" })
    }

    fn may_call(&self, actor: &Actor, tool: &BoundTool) -> bool {
        let parts = self.runner.parts();
        let internal = tool.contract.audience == Audience::Internal && actor.key.is_some();
        !internal
            && tool.offered_to(&actor.tenant)
            && parts.policy.decide(actor, &tool.contract).verdict != Verdict::Deny
            && parts.authorizer.authorize(actor, &tool.contract).is_ok()
    }
}

//! The tools a caller may see: the same question that is asked when one is called.

use std::sync::Arc;

use toolgate_core::actor::Credential;
use toolgate_core::id::ToolName;
use toolgate_core::port::gate::Ask;
use toolgate_core::{Actor, BoundTool, Source, ToolContract};

use crate::{App, AppError};

impl App {
    /// The tools this caller may call through this door, ordered by id: at most so many after this id. Only as many are asked about as it
    /// takes to find them.
    #[must_use]
    pub fn list_tools(
        &self,
        actor: &Actor,
        source: Source,
        after: &str,
        limit: usize,
    ) -> Vec<Arc<BoundTool>> {
        self.list_tools_of(actor, source, |_| true, after, limit)
    }

    /// The same for those of some kind.
    #[must_use]
    pub fn list_tools_of(
        &self,
        actor: &Actor,
        source: Source,
        wanted: impl Fn(&ToolContract) -> bool,
        after: &str,
        limit: usize,
    ) -> Vec<Arc<BoundTool>> {
        let parts = self.runner.parts();
        let catalog = parts.tools.of(&actor.tenant);
        let start = catalog.tools().partition_point(|tool| tool.contract.id.as_str() <= after);
        let permitted =
            |tool: &&Arc<BoundTool>| parts.permit(&Ask { source, ..self.ask(actor, tool) }).is_ok();
        let listed = catalog.tools()[start..].iter().filter(|tool| wanted(&tool.contract));
        listed.filter(permitted).take(limit).cloned().collect()
    }

    /// One tool this caller may call through this door, by id or alias.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what the caller may not call.
    pub fn read_tool(
        &self,
        actor: &Actor,
        source: Source,
        id: &ToolName,
    ) -> Result<Arc<BoundTool>, AppError> {
        let parts = self.runner.parts();
        let catalog = parts.tools.of(&actor.tenant);
        catalog
            .get(id)
            .filter(|tool| parts.permit(&Ask { source, ..self.ask(actor, tool) }).is_ok())
            .cloned()
            .ok_or(AppError::NotFound { what: "tool" })
    }

    /// The question of the one predicate, now and in no session in particular.
    pub(crate) fn ask<'a>(&self, actor: &'a Actor, tool: &'a BoundTool) -> Ask<'a> {
        Ask { actor, tool, session: None, labels: &[], source: source_of(actor), now: self.now() }
    }
}

/// The door a credential comes through.
#[must_use]
pub const fn source_of(actor: &Actor) -> Source {
    match actor.credential {
        Credential::SignIn(_) => Source::Web,
        Credential::Key(_) | Credential::Token(_) => Source::Api,
        Credential::Internal => Source::System,
    }
}

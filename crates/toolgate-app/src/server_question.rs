//! Questions that an MCP server puts to a person in the middle of a call. Each is a call below the one that asks.

use toolgate_core::contract::Binding;
use toolgate_core::id::{InvocationId, PrincipalId, PrincipalKind};
use toolgate_core::input_request::TOOL;
use toolgate_core::port::store::{InvocationFilter, Page, StoreError};
use toolgate_core::{Actor, Invocation, Source, Status};

use crate::{App, AppError};

/// How many open questions of one thread of work are looked through.
const MOST: u32 = 100;

impl App {
    /// The question that a running call asks a person just now, where its server asks one.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn question_of(&self, running: &Invocation) -> Result<Option<Invocation>, AppError> {
        if running.status != Status::Running || self.server_of(running).is_none() {
            return Ok(None);
        }
        let filter = InvocationFilter {
            tool: TOOL.parse().ok(),
            status: Some(Status::Waiting),
            session: Some(running.opened.session),
            ..InvocationFilter::default()
        };
        let page = Page { after: None, limit: MOST };
        let open = self.store().list(&running.opened.tenant, &filter, page).await?;
        Ok(open.into_iter().find(|row| asked_for(row) == Some(running.id()) && is_of_this_try(row, running)))
    }

    /// Refuses to answer what an MCP server asks in the caller's own call.
    ///
    /// # Errors
    /// "Not found" for any other call, a conflict when it was answered.
    pub async fn decline_own_request(&self, actor: &Actor, id: InvocationId) -> Result<(), AppError> {
        let row = self.read_invocation(actor, id).await?;
        // Invariant: an agent or service never speaks in a person's name, not even to refuse.
        if actor.principal.kind() != PrincipalKind::User || !self.asks_a_person(actor, &row) {
            return Err(AppError::NotFound { what: "invocation" });
        }
        self.decline(&row, &actor.principal).await
    }

    pub(crate) async fn decline(&self, row: &Invocation, by: &PrincipalId) -> Result<(), AppError> {
        if asked_for(row).is_none() {
            let message = "only a question of an MCP server can be declined".to_owned();
            return Err(AppError::Conflict { message });
        }
        match self.runner.cancel(row, by, Some("declined".to_owned())).await {
            Err(StoreError::Conflict) => Err(AppError::TokenInvalid),
            other => Ok(other.map(drop)?),
        }
    }

    /// Whether someone waits for the answer: a server does only while its call runs.
    pub(crate) async fn is_waited_for(&self, row: &Invocation) -> Result<bool, AppError> {
        let Some(asks) = asked_for(row) else { return Ok(true) };
        let running = self.store().get(&row.opened.tenant, asks).await?;
        Ok(running.is_some_and(|running| running.status == Status::Running && is_of_this_try(row, &running)))
    }

    /// The MCP server whose words a question is in, where one asks.
    pub(crate) async fn server_behind(&self, row: &Invocation) -> Result<Option<String>, AppError> {
        let Some(asks) = asked_for(row) else { return Ok(None) };
        let running = self.store().get(&row.opened.tenant, asks).await?;
        Ok(running.and_then(|running| self.server_of(&running)))
    }

    /// The MCP server that a call goes to.
    fn server_of(&self, row: &Invocation) -> Option<String> {
        let catalog = self.runner.parts().tools.of(&row.opened.tenant);
        match &catalog.get(&row.opened.tool)?.contract.execution {
            Binding::Mcp { upstream, .. } => Some(upstream.clone()),
            _ => None,
        }
    }
}

/// Whether a call still waits for the answer: one that was taken up anew, after its worker was lost, asks anew.
fn is_of_this_try(question: &Invocation, running: &Invocation) -> bool {
    running.started_at.is_none_or(|started| question.opened.created_at >= started)
}

/// The running call that a question is asked for by the gate itself; no door makes such calls.
fn asked_for(row: &Invocation) -> Option<InvocationId> {
    let opened = &row.opened;
    opened.parent.filter(|_| opened.source == Source::System && opened.tool.as_str() == TOOL)
}

//! Calls as they stand: one, with its events, or many.

use std::time::{Duration, Instant};

use toolgate_core::document::Area;
use toolgate_core::event::Event;
use toolgate_core::id::InvocationId;
use toolgate_core::port::store::{InvocationFilter, Page};
use toolgate_core::{Actor, Invocation};

use crate::{App, AppError};

/// Which calls to list.
#[derive(Debug, Clone, Default)]
pub struct InvocationQuery {
    /// Narrowed how.
    pub filter: InvocationFilter,
    /// After which.
    pub after: Option<InvocationId>,
    /// How many.
    pub limit: u32,
}

impl App {
    /// One call the caller may see.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what is someone else's.
    pub async fn read_invocation(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, AppError> {
        let found = self.store().get(&actor.tenant, id).await?;
        found
            .filter(|row| {
                actor.may_see(&row.opened.tenant, &row.opened.actor, row.opened.subject.as_ref())
                    || self.may_approve(actor, row)
                    || self.require(actor, Area::Audit).is_ok()
            })
            .ok_or(AppError::NotFound { what: "invocation" })
    }

    /// The same, but not before it is settled or `wait` is over.
    ///
    /// # Errors
    /// As [`App::read_invocation`].
    pub async fn await_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        wait: Duration,
    ) -> Result<Invocation, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        Ok(self.runner.follow(invocation, Instant::now() + wait).await?)
    }

    /// A call's events, oldest first.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn invocation_events(&self, invocation: &Invocation) -> Result<Vec<Event>, AppError> {
        Ok(self.store().invocation_events(invocation).await?)
    }

    /// The calls the caller may see, newest first. Whether there are more is told by asking for one more.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn list_invocations(
        &self,
        actor: &Actor,
        query: InvocationQuery,
    ) -> Result<(Vec<Invocation>, Option<InvocationId>), AppError> {
        let mut filter = query.filter;
        if !actor.is_admin() && self.require(actor, Area::Audit).is_err() {
            filter.visible_to = Some(actor.principal.clone());
        }
        let page = Page { after: query.after, limit: query.limit + 1 };
        let mut found = self.store().list(&actor.tenant, &filter, page).await?;
        let more = found.len() > query.limit as usize;
        found.truncate(query.limit as usize);
        let next = found.last().filter(|_| more).map(Invocation::id);
        Ok((found, next))
    }
}

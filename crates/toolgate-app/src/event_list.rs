//! The record as a list, for those who read it: page by page, or as it grows.

use toolgate_core::Actor;
use toolgate_core::document::Area;
use toolgate_core::port::event_list::{EventFilter, EventNews, EventPart, EventPlace};

use crate::{App, AppError};

/// How many events of those that follow are handed on at once.
const FOLLOWED: u32 = 50;

/// Which part of the record to list.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Narrowed how.
    pub filter: EventFilter,
    /// Before which.
    pub before: Option<EventPlace>,
    /// How many.
    pub limit: u32,
}

impl App {
    /// A part of the tenant's record, newest first, and the position from which to follow so that nothing is missed.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not read the record.
    pub async fn list_events(&self, actor: &Actor, query: EventQuery) -> Result<(EventPart, i64), AppError> {
        self.require(actor, Area::Audit)?;
        // Asked for first: what is written in between is then in both.
        let newest = self.store().newest_event().await?;
        let part = self.store().list_events(&actor.tenant, &query.filter, query.before, query.limit).await?;
        Ok((part, newest))
    }

    /// What has come into the tenant's record after a position.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not read the record.
    pub async fn events_since(
        &self,
        actor: &Actor,
        filter: &EventFilter,
        after: i64,
    ) -> Result<EventNews, AppError> {
        self.require(actor, Area::Audit)?;
        Ok(self.store().events_since(&actor.tenant, filter, after, FOLLOWED).await?)
    }

    /// Where the record ends now.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not read the record.
    pub async fn newest_event(&self, actor: &Actor) -> Result<i64, AppError> {
        self.require(actor, Area::Audit)?;
        Ok(self.store().newest_event().await?)
    }
}

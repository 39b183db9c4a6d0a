//! Threads of work and their events.

use toolgate_core::Actor;
use toolgate_core::event::Event;
use toolgate_core::id::SessionId;
use toolgate_core::port::store::Session;

use crate::{App, AppError};

impl App {
    /// Begins a thread of work that calls can be made in.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn create_session(&self, actor: &Actor) -> Result<Session, AppError> {
        let session = Session {
            id: SessionId::generate(),
            tenant: actor.tenant.clone(),
            owner: actor.principal.clone(),
            created_at: self.runner.parts().clock.now(),
        };
        self.store().create_session(session.clone()).await?;
        Ok(session)
    }

    /// One session the caller may see.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what is someone else's.
    pub async fn read_session(&self, actor: &Actor, id: SessionId) -> Result<Session, AppError> {
        let found = self.store().session(&actor.tenant, id).await?;
        found
            .filter(|session| actor.may_see(&session.tenant, &session.owner, None))
            .ok_or(AppError::NotFound { what: "session" })
    }

    /// A session's events after number `after`, oldest first.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn session_events(
        &self,
        id: SessionId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Event>, AppError> {
        Ok(self.store().session_events(id, after, limit).await?)
    }
}

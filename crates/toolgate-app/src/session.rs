//! Threads of work and their events.

use toolgate_core::Actor;
use toolgate_core::document::Area;
use toolgate_core::event::Event;
use toolgate_core::id::{SessionId, Slug};
use toolgate_core::port::store::Session;

use crate::{App, AppError};

impl App {
    /// Begins a thread of work that calls can be made in. Labels are what policy knows it by; they never change.
    ///
    /// # Errors
    /// When the labels are malformed or the store can't be asked.
    pub async fn create_session(&self, actor: &Actor, labels: Vec<String>) -> Result<Session, AppError> {
        if labels.len() > 20 || labels.iter().any(|label| label.parse::<Slug>().is_err()) {
            return Err(AppError::invalid("a session has at most 20 labels")
                .with_hint("a label has lower-case letters, digits, `-`, `_` and `.`, at most 64 of them"));
        }
        let session = Session {
            id: SessionId::generate(),
            tenant: actor.tenant.clone(),
            owner: actor.principal.clone(),
            subject: actor.subject_id().cloned(),
            labels,
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
            .filter(|session| {
                actor.may_see(&session.tenant, &session.owner, session.subject.as_ref())
                    || (session.tenant == actor.tenant && self.require(actor, Area::Audit).is_ok())
            })
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

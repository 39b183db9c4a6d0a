//! Sessions and their event chains.

use async_trait::async_trait;
use toolgate_core::event::Event;
use toolgate_core::id::{SessionId, TenantId};
use toolgate_core::port::store::{Session, SessionStore, StoreError};

use crate::PostgresStore;
use crate::row::{self, Cells, EVENT_COLUMNS};

#[async_trait]
impl SessionStore for PostgresStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        let sql = "INSERT INTO sessions (id, tenant_id, owner, created_at) VALUES ($1, $2, $3, $4)";
        let (id, at) = (session.id.to_string(), session.created_at.as_micros());
        self.query(sql, &[&id, &session.tenant.as_str(), &session.owner.as_str(), &at]).await.map(drop)
    }

    async fn session(&self, tenant: &TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let sql = "SELECT id, tenant_id, owner, created_at FROM sessions WHERE id = $1 AND tenant_id = $2";
        let Some(row) = self.query_first(sql, &[&id.to_string(), &tenant.as_str()]).await? else {
            return Ok(None);
        };
        let mut cells = Cells::of(&row);
        Ok(Some(Session {
            id: cells.parse("session")?,
            tenant: cells.parse("tenant")?,
            owner: cells.parse("owner")?,
            created_at: cells.time()?,
        }))
    }

    async fn session_events(&self, id: SessionId, after: i64, limit: u32) -> Result<Vec<Event>, StoreError> {
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM events WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"
        );
        row::all(&self.query(&sql, &[&id.to_string(), &after, &i64::from(limit)]).await?, row::event)
    }
}

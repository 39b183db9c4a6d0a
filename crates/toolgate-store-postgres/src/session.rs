//! Sessions and their event chains.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;
use toolgate_core::event::Event;
use toolgate_core::id::{PrincipalId, SessionId, TenantId};
use toolgate_core::port::store::{Session, SessionStore, StoreError};

use crate::PostgresStore;
use crate::row::{self, Cells, EVENT_COLUMNS};

#[async_trait]
impl SessionStore for PostgresStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        // Invariant: an administration session has no row here, so no call can join it, whoever asks. Its id is the
        // only kind that is not made from the time.
        if session.id.uuid().get_version_num() == 8 {
            return Err(StoreError::Refused("the id is an administration session's".to_owned()));
        }
        let sql = "INSERT INTO sessions (id, tenant_id, owner, subject, labels, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
        let (id, at) = (session.id.to_string(), session.created_at.as_micros());
        let labels = row::json_text(&session.labels)?;
        let subject = session.subject.as_ref().map(PrincipalId::as_str);
        let params: [&(dyn ToSql + Sync); 6] =
            [&id, &session.tenant.as_str(), &session.owner.as_str(), &subject, &labels, &at];
        self.query(sql, &params).await.map(drop)
    }

    async fn session(&self, tenant: &TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let sql = "SELECT id, tenant_id, owner, subject, labels, created_at FROM sessions WHERE id = $1 AND tenant_id = $2";
        let Some(row) = self.query_first(sql, &[&id.to_string(), &tenant.as_str()]).await? else {
            return Ok(None);
        };
        let mut cells = Cells::of(&row);
        Ok(Some(Session {
            id: cells.parse("session")?,
            tenant: cells.parse("tenant")?,
            owner: cells.parse("owner")?,
            subject: cells.parse_opt("subject")?,
            labels: cells.json("list of labels")?,
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

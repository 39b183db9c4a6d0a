//! News, and the notifications made of them.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::id::{NotificationId, TenantId};
use toolgate_core::notification::{Notification, NotificationKind, NotificationState, Tried};
use toolgate_core::port::outbox::{News, OutboxStore};
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::PostgresStore;
use crate::error::Fault;
use crate::row::{self, Cells, EVENT_COLUMNS};

const COLUMNS: &str = "id, tenant_id, channel, kind, call_id, key, payload, state, attempts, due_at, created_at, \
     delivered_at, last_error";

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn news(&self, limit: u32) -> Result<Vec<News>, StoreError> {
        let sql = format!(
            "SELECT {}, n.event_id FROM outbox_news n JOIN events e ON e.id = n.event_id
             ORDER BY n.event_id LIMIT $1",
            row::of_table("e", EVENT_COLUMNS)
        );
        row::all(&self.query(&sql, &[&i64::from(limit)]).await?, |row| {
            let number = row.try_get("event_id").map_err(StoreError::unavailable)?;
            Ok(News { number, event: row::event(row)? })
        })
    }

    async fn post(&self, news: &[i64], notifications: Vec<Notification>) -> Result<(), StoreError> {
        let mut client = self.pool.get().await.map_err(Fault::from)?;
        let transaction = client.transaction().await.map_err(Fault::from)?;
        // Locked in order, so that two who take the same news wait for each other and not in a ring.
        let take = "WITH mine AS (
                 SELECT event_id FROM outbox_news WHERE event_id = ANY($1) ORDER BY event_id FOR UPDATE
             )
             DELETE FROM outbox_news n USING mine WHERE n.event_id = mine.event_id";
        let take = transaction.prepare_cached(take).await.map_err(Fault::from)?;
        if transaction.execute(&take, &[&news]).await.map_err(Fault::from)? != news.len() as u64 {
            return Err(StoreError::Conflict);
        }
        let insert = format!(
            "INSERT INTO notifications ({COLUMNS})
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (key) DO NOTHING"
        );
        let insert = transaction.prepare_cached(&insert).await.map_err(Fault::from)?;
        for notification in notifications {
            transaction
                .execute(
                    &insert,
                    &[
                        &notification.id.to_string(),
                        &notification.tenant.as_str(),
                        &notification.channel,
                        &notification.kind.as_str(),
                        &notification.call.map(|call| call.to_string()),
                        &notification.key,
                        &notification.payload.as_str(),
                        &notification.state.as_str(),
                        &i64::from(notification.attempts),
                        &notification.due_at.map(Timestamp::as_micros),
                        &notification.created_at.as_micros(),
                        &notification.delivered_at.map(Timestamp::as_micros),
                        &notification.last_error,
                    ],
                )
                .await
                .map_err(Fault::from)?;
        }
        transaction.commit().await.map_err(Fault::from)?;
        Ok(())
    }

    async fn claim_notifications(
        &self,
        tenant: &TenantId,
        channel: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError> {
        // What another node claims at this moment is its own.
        let sql = format!(
            "WITH due AS MATERIALIZED (
                 SELECT id FROM notifications WHERE tenant_id = $1 AND channel = $2 AND due_at <= $3
                 ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             )
             UPDATE notifications n SET attempts = attempts + 1, due_at = $4 FROM due WHERE n.id = due.id
             RETURNING {}",
            row::of_table("n", COLUMNS)
        );
        let (now, until) = (now.as_micros(), until.as_micros());
        let claimed =
            self.query(&sql, &[&tenant.as_str(), &channel, &now, &until, &i64::from(limit)]).await?;
        row::all(&claimed, notification)
    }

    async fn settle_notification(&self, claimed: &Notification, tried: Tried) -> Result<bool, StoreError> {
        let (state, due_at, delivered_at, error) = match tried {
            Tried::Delivered { at } => (NotificationState::Delivered, None, Some(at), None),
            Tried::Later { at, error } => (NotificationState::Waiting, Some(at), None, Some(error)),
            Tried::Dead { error } => (NotificationState::Dead, None, None, Some(error)),
        };
        let sql = "UPDATE notifications SET state = $1, due_at = $2, delivered_at = $3, last_error = $4
             WHERE id = $5 AND attempts = $6 AND state = 'waiting' RETURNING id";
        let changed = self
            .query(
                sql,
                &[
                    &state.as_str(),
                    &due_at.map(Timestamp::as_micros),
                    &delivered_at.map(Timestamp::as_micros),
                    &error,
                    &claimed.id.to_string(),
                    &i64::from(claimed.attempts),
                ],
            )
            .await?;
        Ok(!changed.is_empty())
    }

    async fn retry_notification(
        &self,
        tenant: &TenantId,
        id: NotificationId,
        at: Timestamp,
    ) -> Result<Notification, StoreError> {
        let sql = format!(
            "UPDATE notifications SET state = 'waiting', due_at = $3
             WHERE tenant_id = $1 AND id = $2 AND state <> 'delivered' RETURNING {COLUMNS}"
        );
        let (tenant, id) = (tenant.as_str(), id.to_string());
        if let Some(row) = self.query_first(&sql, &[&tenant, &id, &at.as_micros()]).await? {
            return notification(&row);
        }
        let there = "SELECT 1 FROM notifications WHERE tenant_id = $1 AND id = $2";
        let there = self.query_first(there, &[&tenant, &id]).await?;
        Err(there.map_or(StoreError::NotFound, |_| StoreError::Conflict))
    }

    async fn notifications(
        &self,
        tenant: &TenantId,
        state: Option<NotificationState>,
        after: Option<NotificationId>,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError> {
        // `~` comes after every id.
        let after = after.map_or_else(|| "~".to_owned(), |id| id.to_string());
        let part = |more: &str| {
            format!(
                "SELECT {COLUMNS} FROM notifications WHERE tenant_id = $1 AND id < $2{more}
                 ORDER BY id DESC LIMIT $3"
            )
        };
        let (tenant, limit) = (tenant.as_str(), i64::from(limit));
        let rows = match state {
            None => self.query(&part(""), &[&tenant, &after, &limit]).await?,
            Some(state) => {
                self.query(&part(" AND state = $4"), &[&tenant, &after, &limit, &state.as_str()]).await?
            }
        };
        row::all(&rows, notification)
    }

    async fn forget_notifications(&self, before: Timestamp) -> Result<(), StoreError> {
        // Rows that another node forgets at this moment are its own to remove.
        let sql = "WITH over AS (
                 SELECT id FROM notifications WHERE created_at < $1 AND due_at IS NULL FOR UPDATE SKIP LOCKED
             )
             DELETE FROM notifications n USING over WHERE n.id = over.id";
        self.query(sql, &[&before.as_micros()]).await.map(drop)
    }
}

fn notification(row: &Row) -> Result<Notification, StoreError> {
    let mut cells = Cells::of(row);
    Ok(Notification {
        id: cells.parse("notification")?,
        tenant: cells.parse("tenant")?,
        channel: cells.get()?,
        kind: cells.word("kind of notification", NotificationKind::from_text)?,
        call: cells.parse_opt("call")?,
        key: cells.get()?,
        payload: JsonText::from_store(cells.get()?),
        state: cells.word("state", NotificationState::from_text)?,
        attempts: u32::try_from(cells.get::<i64>()?).unwrap_or(u32::MAX),
        due_at: cells.time_opt()?,
        created_at: cells.time()?,
        delivered_at: cells.time_opt()?,
        last_error: cells.get()?,
    })
}

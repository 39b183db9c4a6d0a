//! News, and the notifications made of them.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::id::{NotificationId, TenantId};
use toolgate_core::notification::{Notification, NotificationKind, NotificationState, Tried};
use toolgate_core::port::outbox::{News, OutboxStore};
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells, EVENT_COLUMNS};
use crate::writer::Commit;

const COLUMNS: &str = "id, tenant_id, channel, kind, call_id, key, payload, state, attempts, due_at, created_at, \
     delivered_at, last_error";

#[async_trait]
impl OutboxStore for SqliteStore {
    async fn news(&self, limit: u32) -> Result<Vec<News>, StoreError> {
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {}, n.event_id FROM outbox_news n JOIN events e ON e.id = n.event_id
                     ORDER BY n.event_id LIMIT ?1",
                    row::of_table("e", EVENT_COLUMNS)
                );
                row::all(connection, &sql, &[&limit], |row| {
                    Ok(News { number: row.get("event_id")?, event: row::event(row)? })
                })
            })
            .await
    }

    async fn post(&self, news: &[i64], notifications: Vec<Notification>) -> Result<(), StoreError> {
        let news = news.to_vec();
        self.database
            .write(Commit::Other, move |connection| {
                let mut take = connection.prepare_cached("DELETE FROM outbox_news WHERE event_id = ?1")?;
                for number in news {
                    if take.execute([number])? == 0 {
                        return Err(StoreError::Conflict.into());
                    }
                }
                notifications.iter().try_for_each(|notification| insert(connection, notification))
            })
            .await
    }

    async fn claim_notifications(
        &self,
        tenant: &TenantId,
        channel: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError> {
        let (tenant, channel) = (tenant.to_string(), channel.to_owned());
        let due = (tenant.clone(), channel.clone());
        // Asked a few times a second and mostly in vain: that need not go through the one who writes.
        let any = self.database.read(move |connection| {
            let sql =
                "SELECT 1 FROM notifications WHERE tenant_id = ?1 AND channel = ?2 AND due_at <= ?3 LIMIT 1";
            row::first(connection, sql, &[&due.0, &due.1, &now.as_micros()], |_| Ok(()))
        });
        if any.await?.is_none() {
            return Ok(Vec::new());
        }
        self.database
            .write(Commit::Other, move |connection| {
                let sql = format!(
                    "UPDATE notifications SET attempts = attempts + 1, due_at = ?4
                     WHERE id IN (SELECT id FROM notifications
                                  WHERE tenant_id = ?1 AND channel = ?2 AND due_at <= ?3 ORDER BY due_at, id LIMIT ?5)
                     RETURNING {COLUMNS}"
                );
                let params: [&dyn rusqlite::ToSql; 5] =
                    [&tenant, &channel, &now.as_micros(), &until.as_micros(), &limit];
                row::all(connection, &sql, &params, notification)
            })
            .await
    }

    async fn settle_notification(&self, claimed: &Notification, tried: Tried) -> Result<bool, StoreError> {
        let (id, attempts) = (claimed.id.to_string(), claimed.attempts);
        self.database
            .write(Commit::Other, move |connection| {
                let (state, due_at, delivered_at, error) = match tried {
                    Tried::Delivered { at } => (NotificationState::Delivered, None, Some(at), None),
                    Tried::Later { at, error } => (NotificationState::Waiting, Some(at), None, Some(error)),
                    Tried::Dead { error } => (NotificationState::Dead, None, None, Some(error)),
                };
                let changed = connection.execute(
                    "UPDATE notifications SET state = ?1, due_at = ?2, delivered_at = ?3, last_error = ?4
                     WHERE id = ?5 AND attempts = ?6 AND state = 'waiting'",
                    params![
                        state.as_str(),
                        due_at.map(Timestamp::as_micros),
                        delivered_at.map(Timestamp::as_micros),
                        error,
                        id,
                        attempts
                    ],
                )?;
                Ok(changed > 0)
            })
            .await
    }

    async fn retry_notification(
        &self,
        tenant: &TenantId,
        id: NotificationId,
        at: Timestamp,
    ) -> Result<Notification, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .write(Commit::Other, move |connection| {
                let sql = format!(
                    "UPDATE notifications SET state = 'waiting', due_at = ?3
                     WHERE tenant_id = ?1 AND id = ?2 AND state <> 'delivered' RETURNING {COLUMNS}"
                );
                let params: [&dyn rusqlite::ToSql; 3] = [&tenant, &id, &at.as_micros()];
                if let Some(found) = row::all(connection, &sql, &params, notification)?.pop() {
                    return Ok(found);
                }
                let there = "SELECT 1 FROM notifications WHERE tenant_id = ?1 AND id = ?2";
                let there = row::first(connection, there, &[&tenant, &id], |_| Ok(()))?;
                Err(there.map_or(StoreError::NotFound, |()| StoreError::Conflict).into())
            })
            .await
    }

    async fn notifications(
        &self,
        tenant: &TenantId,
        state: Option<NotificationState>,
        after: Option<NotificationId>,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError> {
        // `~` comes after every id.
        let (tenant, after) = (tenant.to_string(), after.map_or_else(|| "~".to_owned(), |id| id.to_string()));
        self.database
            .read(move |connection| {
                let part = |more: &str| {
                    format!(
                        "SELECT {COLUMNS} FROM notifications WHERE tenant_id = ?1 AND id < ?2{more}
                         ORDER BY id DESC LIMIT ?3"
                    )
                };
                match state {
                    None => row::all(connection, &part(""), &[&tenant, &after, &limit], notification),
                    Some(state) => {
                        let sql = part(" AND state = ?4");
                        row::all(connection, &sql, &[&tenant, &after, &limit, &state.as_str()], notification)
                    }
                }
            })
            .await
    }

    async fn forget_notifications(&self, before: Timestamp) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                connection.execute(
                    "DELETE FROM notifications WHERE created_at < ?1 AND due_at IS NULL",
                    [before.as_micros()],
                )?;
                Ok(())
            })
            .await
    }
}

/// Ends the claims of a process that is gone: what it was sending is due at once.
pub(crate) fn end_claims(connection: &Connection) -> Result<(), Fault> {
    connection
        .execute("UPDATE notifications SET due_at = 0 WHERE due_at IS NOT NULL AND attempts > 0", [])?;
    Ok(())
}

fn insert(connection: &Connection, notification: &Notification) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO notifications ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (key) DO NOTHING"
    );
    connection.prepare_cached(&sql)?.execute(params![
        notification.id.to_string(),
        notification.tenant.as_str(),
        notification.channel,
        notification.kind.as_str(),
        notification.call.map(|call| call.to_string()),
        notification.key,
        notification.payload.as_str(),
        notification.state.as_str(),
        notification.attempts,
        notification.due_at.map(Timestamp::as_micros),
        notification.created_at.as_micros(),
        notification.delivered_at.map(Timestamp::as_micros),
        notification.last_error,
    ])?;
    Ok(())
}

fn notification(row: &Row<'_>) -> Result<Notification, Fault> {
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
        attempts: cells.get()?,
        due_at: cells.time_opt()?,
        created_at: cells.time()?,
        delivered_at: cells.time_opt()?,
        last_error: cells.get()?,
    })
}

//! Counts over calls.

use async_trait::async_trait;
use rusqlite::params;
use toolgate_core::id::{PrincipalKind, TenantId, ToolName};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::usage::{UsageQuery, UsageRow, UsageStore};
use toolgate_core::{Status, Timestamp};

use crate::{SqliteStore, row};

/// Clocks of nodes differ, and ids are made a moment before their rows.
const SLACK: std::time::Duration = std::time::Duration::from_secs(3600);

// Ids begin with the time they were made at, so a range of ids reads no more than the range of time.
const COUNT: &str = "SELECT tool_id, created_at / 86400000000 AS day, status, count(*) AS calls,
         total(cost_micros), total(CASE WHEN completed_at > started_at THEN completed_at - started_at END),
         max(created_at)
     FROM invocations
     WHERE tenant_id = ?1 AND id >= ?2 AND id < ?3 AND created_at >= ?4 AND created_at < ?5
         AND (?6 IS NULL OR tool_id = ?6)
         AND (?7 IS NULL OR ((actor = ?7 OR subject = ?7) AND (?8 IS NULL OR coalesce(subject, '') = ?8)))
     GROUP BY tool_id, day, status ORDER BY calls DESC, tool_id, day, status LIMIT ?9";

#[async_trait]
impl UsageStore for SqliteStore {
    async fn usage(&self, tenant: &TenantId, query: &UsageQuery) -> Result<Vec<UsageRow>, StoreError> {
        let (tenant, query) = (tenant.to_string(), query.clone());
        self.database
            .read(move |connection| {
                let who = query.visible_to.as_ref().map(|acting| acting.principal.to_string());
                // People work for nobody, and nobody works for a machine.
                let for_whom = query
                    .visible_to
                    .as_ref()
                    .filter(|acting| acting.principal.kind() != PrincipalKind::User)
                    .map(|acting| acting.subject.as_ref().map(ToString::to_string).unwrap_or_default());
                let mut statement = connection.prepare_cached(COUNT)?;
                let mut rows = statement.query(params![
                    tenant,
                    query.since.minus(SLACK).id_bound("inv"),
                    query.until.plus(SLACK).id_bound("inv"),
                    query.since.as_micros(),
                    query.until.as_micros(),
                    query.tool.as_ref().map(ToolName::as_str),
                    who,
                    for_whom,
                    query.limit,
                ])?;
                let mut found = Vec::new();
                while let Some(cells) = rows.next()? {
                    let tool: String = cells.get(0)?;
                    let status: String = cells.get(2)?;
                    found.push(UsageRow {
                        tool: tool.parse().map_err(|_| row::damaged("tool_id"))?,
                        day: cells.get(1)?,
                        status: Status::from_text(&status).ok_or_else(|| row::damaged("status"))?,
                        calls: cells.get::<_, i64>(3)?.unsigned_abs(),
                        cost_micros: whole(cells.get(4)?),
                        run_micros: whole(cells.get(5)?),
                        last_at: Timestamp::from_micros(cells.get(6)?),
                    });
                }
                Ok(found)
            })
            .await
    }
}

/// `total` never overflows, and is exact far beyond what any tenant spends.
#[allow(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn whole(sum: f64) -> i64 {
    sum as i64
}

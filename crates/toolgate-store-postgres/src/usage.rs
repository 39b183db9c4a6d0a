//! Counts over calls.

use async_trait::async_trait;
use toolgate_core::Status;
use toolgate_core::id::{PrincipalKind, TenantId, ToolName};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::usage::{UsageQuery, UsageRow, UsageStore};

use crate::PostgresStore;
use crate::row::{self, Cells};

/// Clocks of nodes differ, and ids are made a moment before their rows.
const SLACK: std::time::Duration = std::time::Duration::from_secs(3600);

// Ids begin with the time they were made at, so a range of ids reads no more than the range of time.
const COUNT: &str = "SELECT tool_id, created_at / 86400000000 AS day, status, count(*) AS calls,
         least(coalesce(sum(cost_micros), 0), 9223372036854775807)::bigint,
         least(coalesce(sum(CASE WHEN completed_at > started_at THEN completed_at - started_at END), 0),
             9223372036854775807)::bigint,
         max(created_at)
     FROM invocations
     WHERE tenant_id = $1 AND id >= $2 AND id < $3 AND created_at >= $4 AND created_at < $5
         AND ($6::text IS NULL OR tool_id = $6)
         AND ($7::text IS NULL OR ((actor = $7 OR subject = $7) AND ($8::text IS NULL OR coalesce(subject, '') = $8)))
     GROUP BY tool_id, day, status ORDER BY calls DESC, tool_id, day, status LIMIT $9";

#[async_trait]
impl UsageStore for PostgresStore {
    async fn usage(&self, tenant: &TenantId, query: &UsageQuery) -> Result<Vec<UsageRow>, StoreError> {
        let who = query.visible_to.as_ref().map(|acting| acting.principal.to_string());
        // People work for nobody, and nobody works for a machine.
        let for_whom = query
            .visible_to
            .as_ref()
            .filter(|acting| acting.principal.kind() != PrincipalKind::User)
            .map(|acting| acting.subject.as_ref().map(ToString::to_string).unwrap_or_default());
        let rows = self
            .query(
                COUNT,
                &[
                    &tenant.as_str(),
                    &query.since.minus(SLACK).id_bound("inv"),
                    &query.until.plus(SLACK).id_bound("inv"),
                    &query.since.as_micros(),
                    &query.until.as_micros(),
                    &query.tool.as_ref().map(ToolName::as_str),
                    &who,
                    &for_whom,
                    &i64::from(query.limit),
                ],
            )
            .await?;
        row::all(&rows, |row| {
            let mut cells = Cells::of(row);
            Ok(UsageRow {
                tool: cells.parse("tool_id")?,
                day: cells.get()?,
                status: cells.word("status", Status::from_text)?,
                calls: cells.count("calls")?,
                cost_micros: cells.get()?,
                run_micros: cells.get()?,
                last_at: cells.time()?,
            })
        })
    }
}

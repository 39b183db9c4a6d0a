//! What calls have cost.

use rusqlite::{Connection, params};
use toolgate_core::Timestamp;
use toolgate_core::id::{PrincipalId, TenantId, ToolName};

use crate::database::Fault;

/// Millionths and whole units apart: a sum of large costs would be an overflow, and SQLite makes an error of it.
const UNIT: i64 = 1_000_000;

// Answered from the index `invocations_spent` alone.
const SUM: &str =
    "SELECT coalesce(sum(cost_micros / ?5), 0), coalesce(sum(cost_micros % ?5), 0) FROM invocations
     WHERE tenant_id = ?1 AND created_at >= ?2 AND cost_micros IS NOT NULL
         AND (?3 IS NULL OR actor = ?3) AND (?4 IS NULL OR tool_id = ?4)";

pub(crate) fn sum(
    connection: &Connection,
    tenant: &TenantId,
    actor: Option<&PrincipalId>,
    tool: Option<&ToolName>,
    since: Timestamp,
) -> Result<i64, Fault> {
    let (units, rest): (i64, i64) = connection.prepare_cached(SUM)?.query_row(
        params![
            tenant.as_str(),
            since.as_micros(),
            actor.map(PrincipalId::as_str),
            tool.map(ToolName::as_str),
            UNIT
        ],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(units.saturating_mul(UNIT).saturating_add(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_summed_from_the_index_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection).unwrap();
        let plan: String = connection
            .query_row(&format!("EXPLAIN QUERY PLAN {SUM}"), params!["t", 1, "a", "x", UNIT], |row| {
                row.get(3)
            })
            .unwrap();
        assert!(
            plan.contains("USING COVERING INDEX invocations_spent (tenant_id=? AND created_at>?)"),
            "{plan}"
        );
    }
}

//! Counts over what grants let run.

use async_trait::async_trait;
use toolgate_core::id::TenantId;
use toolgate_core::port::grant_use::{GrantUse, GrantUseStore, MOST_COUNTED, MOST_LOOKED_AT};
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;
use crate::row::{self, Cells};

const COUNT: &str = "SELECT least(uses.counted, $6)
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
         WITH ORDINALITY AS given (tool, after, actor, rule, at)
     CROSS JOIN LATERAL (
         SELECT count(*) AS counted FROM (
             SELECT rule FROM invocations
             WHERE tenant_id = $1 AND tool_id = given.tool AND id > given.after AND actor = given.actor
             ORDER BY id LIMIT $7
         ) AS calls WHERE calls.rule = given.rule
     ) AS uses ORDER BY given.at";

#[async_trait]
impl GrantUseStore for PostgresStore {
    async fn grant_uses(&self, tenant: &TenantId, grants: &[GrantUse]) -> Result<Vec<u64>, StoreError> {
        let column = |of: fn(&GrantUse) -> String| grants.iter().map(of).collect::<Vec<String>>();
        let tools = column(|grant| grant.tool.to_string());
        let afters = column(|grant| grant.after.to_string());
        let actors = column(|grant| grant.actor.to_string());
        let rules = column(|grant| grant.rule.clone());
        let (most, looked_at) = (i64::from(MOST_COUNTED), i64::from(MOST_LOOKED_AT));
        let tenant = tenant.as_str();
        let rows = self.query(COUNT, &[&tenant, &tools, &afters, &actors, &rules, &most, &looked_at]).await?;
        row::all(&rows, |row| Ok(Cells::of(row).get::<i64>()?.cast_unsigned()))
    }
}

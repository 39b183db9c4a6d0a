//! Counts over what grants let run.

use async_trait::async_trait;
use rusqlite::params;
use toolgate_core::id::TenantId;
use toolgate_core::port::grant_use::{GrantUse, GrantUseStore, MOST_COUNTED, MOST_LOOKED_AT};
use toolgate_core::port::store::StoreError;

use crate::SqliteStore;

const COUNT: &str = "SELECT min(count(*), ?6) FROM (
         SELECT rule FROM invocations
         WHERE tenant_id = ?1 AND tool_id = ?2 AND id > ?3 AND actor = ?4 ORDER BY id LIMIT ?7
     ) WHERE rule = ?5";

#[async_trait]
impl GrantUseStore for SqliteStore {
    async fn grant_uses(&self, tenant: &TenantId, grants: &[GrantUse]) -> Result<Vec<u64>, StoreError> {
        let (tenant, grants) = (tenant.to_string(), grants.to_vec());
        self.database
            .read(move |connection| {
                let mut count = connection.prepare_cached(COUNT)?;
                let mut found = Vec::with_capacity(grants.len());
                for grant in &grants {
                    let (tool, after) = (grant.tool.as_str(), grant.after.to_string());
                    let (actor, rule) = (grant.actor.as_str(), grant.rule.as_str());
                    let params = params![tenant, tool, after, actor, rule, MOST_COUNTED, MOST_LOOKED_AT];
                    found.push(count.query_row(params, |row| row.get::<_, i64>(0))?.cast_unsigned());
                }
                Ok(found)
            })
            .await
    }
}

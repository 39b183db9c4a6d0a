//! Tools and the history of their contracts.

use async_trait::async_trait;
use rusqlite::{Connection, params};
use toolgate_core::contract::{ContractVersion, Effect, Egress};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::{StoreError, ToolRow, ToolStore};
use toolgate_core::{JsonText, Timestamp};

use crate::SqliteStore;
use crate::row::{self, Cells};
use crate::writer::Commit;

#[async_trait]
impl ToolStore for SqliteStore {
    async fn record_tools(
        &self,
        tenant: &TenantId,
        tools: Vec<ToolRow>,
        at: Timestamp,
    ) -> Result<Vec<ToolRow>, StoreError> {
        let tenant = tenant.to_string();
        let recorded = self
            .database
            .write(Commit::Other, move |connection| {
                let mut put = connection.prepare_cached(
                    "INSERT INTO tools (tenant_id, id, version, effect, egress, requires_approval, contract, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                     ON CONFLICT (tenant_id, id) DO UPDATE SET version = excluded.version, effect = excluded.effect,
                         egress = excluded.egress, requires_approval = excluded.requires_approval,
                         contract = excluded.contract, updated_at = excluded.updated_at
                     WHERE tools.version <> excluded.version OR tools.requires_approval <> excluded.requires_approval",
                )?;
                let mut keep = connection.prepare_cached(
                    "INSERT INTO tool_versions (tenant_id, tool_id, version, contract, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
                )?;
                for tool in &tools {
                    put.execute(params![
                        tenant,
                        tool.id.as_str(),
                        tool.version.0,
                        tool.effect.as_str(),
                        tool.egress.as_str(),
                        tool.requires_approval,
                        tool.contract.as_str(),
                        at.as_micros()
                    ])?;
                    keep.execute(params![
                        tenant,
                        tool.id.as_str(),
                        tool.version.0,
                        tool.contract.as_str(),
                        at.as_micros()
                    ])?;
                }
                let sql = "SELECT id, version, effect, egress, requires_approval, contract FROM tools
                           WHERE tenant_id = ?1 ORDER BY id";
                row::all(connection, sql, &[&tenant], |row| {
                    let mut cells = Cells { row, next: 0 };
                    Ok(ToolRow {
                        id: cells.parse("tool")?,
                        version: ContractVersion(cells.get()?),
                        effect: cells.word("effect", Effect::from_text)?,
                        egress: cells.word("egress", Egress::from_text)?,
                        requires_approval: cells.get()?,
                        contract: JsonText::from_store(cells.get()?),
                    })
                })
            })
            .await;
        // Contracts are written at the start and hardly read after it: their pages would stay in the cache for nothing.
        let shrink = |connection: &Connection| Ok(connection.execute_batch("PRAGMA shrink_memory;")?);
        let _ = self.database.write(Commit::Other, shrink).await;
        recorded
    }
}

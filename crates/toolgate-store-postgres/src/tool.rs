//! Tools and the history of their contracts.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::contract::{ContractVersion, Effect, Egress};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::{StoreError, ToolRow, ToolStore};
use toolgate_core::{JsonText, Timestamp};

use crate::PostgresStore;
use crate::row::{self, Cells};

// Unchanged tools are not written again: nodes that start together record the same ones.
const RECORD: &str = "
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bool[], $7::text[])
            AS g (id, version, effect, egress, requires_approval, contract)
    ), kept AS (
        INSERT INTO tool_versions (tenant_id, tool_id, version, contract, created_at)
        SELECT $1, id, version, contract, $8 FROM given ORDER BY id ON CONFLICT DO NOTHING
    )
    INSERT INTO tools (tenant_id, id, version, effect, egress, requires_approval, contract, updated_at)
    SELECT $1, id, version, effect, egress, requires_approval, contract, $8 FROM given ORDER BY id
    ON CONFLICT (tenant_id, id) DO UPDATE SET version = excluded.version, effect = excluded.effect,
        egress = excluded.egress, requires_approval = excluded.requires_approval, contract = excluded.contract,
        updated_at = excluded.updated_at
    WHERE (tools.version, tools.requires_approval) IS DISTINCT FROM (excluded.version, excluded.requires_approval)";

const ALL: &str = "SELECT id, version, effect, egress, requires_approval, contract FROM tools
    WHERE tenant_id = $1 ORDER BY id";

#[async_trait]
impl ToolStore for PostgresStore {
    async fn record_tools(
        &self,
        tenant: &TenantId,
        tools: Vec<ToolRow>,
        at: Timestamp,
    ) -> Result<Vec<ToolRow>, StoreError> {
        if !tools.is_empty() {
            let ids: Vec<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
            let versions: Vec<&str> = tools.iter().map(|tool| tool.version.0.as_str()).collect();
            let effects: Vec<&str> = tools.iter().map(|tool| tool.effect.as_str()).collect();
            let egresses: Vec<&str> = tools.iter().map(|tool| tool.egress.as_str()).collect();
            let approvals: Vec<bool> = tools.iter().map(|tool| tool.requires_approval).collect();
            let contracts: Vec<&str> = tools.iter().map(|tool| tool.contract.as_str()).collect();
            let (tenant, at) = (tenant.as_str(), at.as_micros());
            self.query(RECORD, &[&tenant, &ids, &versions, &effects, &egresses, &approvals, &contracts, &at])
                .await?;
        }
        row::all(&self.query(ALL, &[&tenant.as_str()]).await?, tool)
    }
}

fn tool(row: &Row) -> Result<ToolRow, StoreError> {
    let mut cells = Cells::of(row);
    Ok(ToolRow {
        id: cells.parse("tool")?,
        version: ContractVersion(cells.get()?),
        effect: cells.word("effect", Effect::from_text)?,
        egress: cells.word("egress", Egress::from_text)?,
        requires_approval: cells.get()?,
        contract: JsonText::from_store(cells.get()?),
    })
}

//! Stops what runs through an account that a kill switch stops. Which account a call goes through is known where it runs,
//! so each node looks after its own calls: at once where the switch was thrown, elsewhere as soon as it is heard of.

use toolgate_core::Status;
use toolgate_core::document::DocumentKind;
use toolgate_core::id::{ConnectionId, PrincipalId, TenantId};
use toolgate_core::kill::{Kill, KillKind};
use toolgate_core::port::store::StoreError;

use crate::App;

impl App {
    /// Asks each call that runs here through a stopped account to stop.
    ///
    /// # Errors
    /// When the store can't be read or written. It is tried again with the next look.
    pub(crate) async fn stop_through_connections(&self) -> Result<(), StoreError> {
        for (id, tenant, connection) in self.runner.accounts_in_use() {
            if self.stopped(&tenant, connection).is_ok() {
                continue;
            }
            let Some(row) = self.store().get(&tenant, id).await? else { continue };
            if row.status != Status::Running || row.cancel_requested {
                continue;
            }
            let Some((kill, by)) = self.switch_of(&tenant, connection).await? else { continue };
            let reason = format!("kill switch: {}", kill.reason);
            match self.runner.cancel(&row, &by, Some(reason)).await {
                // It came to its end by itself, or reports just now: then the next look finds it.
                Ok(_) | Err(StoreError::Conflict) => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    /// The switch that stops an account, and who threw it.
    async fn switch_of(
        &self,
        tenant: &TenantId,
        connection: ConnectionId,
    ) -> Result<Option<(Kill, PrincipalId)>, StoreError> {
        let name = Kill::document_name(KillKind::Connection, &connection.to_string());
        let found = self.store().document(tenant, DocumentKind::Kill, &name).await?;
        Ok(found.and_then(|found| {
            let kill = serde_json::from_str(found.body.as_str()).ok()?;
            Some((kill, found.by))
        }))
    }
}

//! Stage 4: the connection asked for must be granted, permitted by policy and not stopped, before anything is decrypted.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::ConnectionId;
use toolgate_core::port::capability::Clock;
use toolgate_core::port::gate::ConnectionGate;
use toolgate_core::{Actor, ToolContract};
use toolgate_policy::GrantedConnections;

use crate::snapshot::Snapshots;

/// Grants, and the tenant's word on them.
pub struct Connections {
    granted: GrantedConnections,
    snapshots: Arc<Snapshots>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("granted", &self.granted).finish_non_exhaustive()
    }
}

impl Connections {
    /// These grants, where policy permits.
    #[must_use]
    pub fn new(granted: GrantedConnections, snapshots: Arc<Snapshots>, clock: Arc<dyn Clock>) -> Self {
        Self { granted, snapshots, clock }
    }
}

impl ConnectionGate for Connections {
    fn check(
        &self,
        actor: &Actor,
        tool: &ToolContract,
        connection: Option<ConnectionId>,
    ) -> Result<Option<ConnectionId>, CallError> {
        let granted = self.granted.check(actor, tool, connection)?;
        let (Some(id), Some(need)) = (granted, &tool.connection) else { return Ok(granted) };
        let Some(snapshot) = self.snapshots.get(&actor.tenant) else {
            return Err(CallError::new(ErrorCode::PolicyDenied, "there is no such tenant"));
        };
        let decision = snapshot.gate.decide_connection(actor, &need.provider, id, self.clock.now());
        if decision.verdict.permits() {
            return Ok(granted);
        }
        let mut error = CallError::new(ErrorCode::PolicyDenied, decision.reason)
            .details(json!({ "rule": decision.rule }));
        error.hint = decision.hint;
        Err(error)
    }
}

//! Stage 4: the connection a call uses must be granted, permitted by policy and not stopped, before anything is decrypted.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use toolgate_core::Actor;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{ConnectionId, PrincipalId};
use toolgate_core::port::connection::{Credentials, Whose};
use toolgate_core::port::executor::{Account, Held};
use toolgate_core::port::gate::{Ask, ConnectionGate, Decision};
use toolgate_policy::GrantedConnections;

use crate::snapshot::Snapshots;

/// Grants, and the tenant's word on them. An account is granted to its owner, a shared one to all of its tenant; other
/// connections only where they are named.
pub struct Connections {
    granted: GrantedConnections,
    accounts: Option<Arc<dyn Credentials>>,
    snapshots: Arc<Snapshots>,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("granted", &self.granted).finish_non_exhaustive()
    }
}

impl Connections {
    /// These grants, where policy permits.
    #[must_use]
    pub fn new(granted: GrantedConnections, snapshots: Arc<Snapshots>) -> Self {
        Self { granted, accounts: None, snapshots }
    }

    /// The same with the accounts that these credentials open.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Arc<dyn Credentials>) -> Self {
        self.accounts = Some(accounts);
        self
    }

    /// The account's connection, if it is the one asked for. That it is the caller's own, or shared with all, is the
    /// grant.
    async fn account(
        &self,
        ask: &Ask<'_>,
        account: &Account,
        asked_for: Option<ConnectionId>,
    ) -> Result<ConnectionId, CallError> {
        let Some(accounts) = &self.accounts else {
            return Err(CallError::new(ErrorCode::ConnectionNeeded, "this gate keeps no connections"));
        };
        let whose = match account.held {
            Held::ByAll => Whose::Shared,
            Held::ByEach => Whose::Person(person_of(ask.actor)),
        };
        let found = accounts.find(&ask.actor.tenant, &account.service, whose).await?;
        if asked_for.is_some_and(|id| id != found) {
            return Err(CallError::new(
                ErrorCode::PolicyDenied,
                format!("the connection to `{}` is not the one that was asked for", account.service),
            )
            .hint("it was made again in the meantime, or is another's: make the call again"));
        }
        Ok(found)
    }

    fn permitted(&self, ask: &Ask<'_>, provider: &str, id: ConnectionId) -> Result<(), CallError> {
        let Some(snapshot) = self.snapshots.get(&ask.actor.tenant) else {
            return Err(CallError::new(ErrorCode::PolicyDenied, "there is no such tenant"));
        };
        let decision = snapshot.gate.decide_connection(ask, provider, id);
        if decision.verdict.permits() { Ok(()) } else { Err(denied(decision)) }
    }
}

#[async_trait]
impl ConnectionGate for Connections {
    async fn check(
        &self,
        ask: &Ask<'_>,
        asked_for: Option<ConnectionId>,
    ) -> Result<Option<ConnectionId>, CallError> {
        let (provider, id) = match ask.tool.account() {
            Some(account) => (account.service.as_str(), self.account(ask, account, asked_for).await?),
            None => {
                let contract = &ask.tool.contract;
                let granted = self.granted.check(contract, asked_for)?;
                let (Some(need), Some(id)) = (&contract.connection, granted) else { return Ok(granted) };
                (need.provider.as_str(), id)
            }
        };
        self.permitted(ask, provider, id)?;
        Ok(Some(id))
    }
}

/// The person whose connections a caller uses.
pub(crate) fn person_of(actor: &Actor) -> &PrincipalId {
    actor.subject_id().unwrap_or(&actor.principal)
}

pub(crate) fn denied(decision: Decision) -> CallError {
    let mut error =
        CallError::new(ErrorCode::PolicyDenied, decision.reason).details(json!({ "rule": decision.rule }));
    error.hint = decision.hint;
    error
}

//! Sessions of the handshake era that their clients ended, and callers that come without a credential of their own.

use std::time::Duration;

use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::Expect;
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::json::digest;
use toolgate_core::port::store::Store;
use toolgate_core::principal::{OneTimeToken, Principal};
use toolgate_core::{AccessRules, Actor, JsonText, Timestamp};

use crate::{App, AppError};

const PURPOSE: &str = "mcp_session_end";
/// As long as a session can last; what was ended is known to be for no shorter.
const REMEMBERED: Duration = Duration::from_secs(8 * 24 * 3600);

impl App {
    /// Notes that a session is over, for every node to see.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn end_mcp_session(&self, actor: &Actor, id: &str) -> Result<(), AppError> {
        let now = self.now();
        let token = OneTimeToken {
            hash: digest(id.as_bytes()),
            purpose: PURPOSE.to_owned(),
            tenant: actor.tenant.clone(),
            principal: Some(actor.principal.clone()),
            data: JsonText::from_value(&serde_json::Value::Null),
            expires_at: now.plus(REMEMBERED),
        };
        Ok(self.store().put_token(token, now).await?)
    }

    /// Whether a session is over.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn mcp_session_ended(&self, id: &str) -> Result<bool, AppError> {
        Ok(self.store().read_token(&digest(id.as_bytes()), PURPOSE, self.now()).await?.is_some())
    }

    /// A principal of the default tenant as a caller, for processes whose operator says who calls.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn local_caller(&self, principal: &PrincipalId) -> Result<Option<Actor>, AppError> {
        let directory = &self.runner.parts().directory;
        Ok(directory.actor(&TenantId::default_tenant(), principal, None, None).await?)
    }
}

/// Makes a service in the default tenant, if there is none: it holds no rules.
///
/// # Errors
/// When the store can't be written.
pub async fn set_up_service(
    store: &dyn Store,
    service: &PrincipalId,
    title: &str,
    at: Timestamp,
) -> Result<(), AppError> {
    let tenant = TenantId::default_tenant();
    if store.principal(&tenant, service).await?.is_some() {
        return Ok(());
    }
    let principal = Principal {
        tenant: tenant.clone(),
        id: service.clone(),
        title: title.to_owned(),
        rules: AccessRules::default(),
        roles: Vec::new(),
        acts_for: Vec::new(),
        disabled: false,
        created_at: at,
    };
    let summary = serde_json::json!({ "action": "server.set_up", "principal": service });
    let write = Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Absent };
    store.change(AdminChange::new(tenant, service.clone(), at, &summary, vec![write])).await?;
    Ok(())
}

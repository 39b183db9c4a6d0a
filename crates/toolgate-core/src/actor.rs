//! Who makes a call, and for whom.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{ApiKeyId, PrincipalId, TenantId};

/// The access rules a principal holds: `<plugin>.<resource>.<level>`, or `*` for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccessRules(Arc<[String]>);

impl AccessRules {
    /// A set of rules.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = String>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// All rules: an administrator.
    #[must_use]
    pub fn all() -> Self {
        Self::new(["*".to_owned()])
    }

    /// Whether this rule, or `*`, is held.
    #[must_use]
    pub fn hold(&self, rule: &str) -> bool {
        self.0.iter().any(|held| held == "*" || held == rule)
    }

    /// The rules.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// An authenticated caller. Doors make one after checking a credential; the subject comes from the server's own
/// records, never from a request.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The tenant whose wall the caller stands within.
    pub tenant: TenantId,
    /// Who acts.
    pub principal: PrincipalId,
    /// The person an agent or service works for.
    pub subject: Option<PrincipalId>,
    /// What the principal may do.
    pub rules: AccessRules,
    /// The credential used, when it was a key.
    pub key: Option<ApiKeyId>,
}

impl Actor {
    /// Whether this caller manages the whole tenant.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.rules.hold("*")
    }

    /// Whether a record owned by these principals is this caller's own to see.
    #[must_use]
    pub fn may_see(&self, tenant: &TenantId, actor: &PrincipalId, subject: Option<&PrincipalId>) -> bool {
        *tenant == self.tenant
            && (self.is_admin() || *actor == self.principal || subject == Some(&self.principal))
    }
}

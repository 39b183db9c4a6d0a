//! Who makes a call, and for whom.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{ApiKeyId, OauthGrantId, PrincipalId, SignInId, TenantId};
use crate::scope::Scopes;

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

    /// The rules, shared.
    #[must_use]
    pub fn shared(&self) -> Arc<[String]> {
        Arc::clone(&self.0)
    }
}

/// How a caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A bearer key.
    Key(ApiKeyId),
    /// A browser's cookie.
    SignIn(SignInId),
    /// An access token that a person let an application have.
    Token(OauthGrantId),
    /// None: the gate itself acts for a principal it knows.
    Internal,
}

/// The person an agent or service works for. Made by the server from its own records, never from a request.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Who.
    pub principal: PrincipalId,
    /// What they may do.
    pub rules: AccessRules,
    /// Their roles.
    pub roles: Arc<[String]>,
}

/// Who acts, and for whom: what an agent does for one person is not what it does for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acting {
    /// Who.
    pub principal: PrincipalId,
    /// For whom.
    pub subject: Option<PrincipalId>,
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
    pub subject: Option<Subject>,
    /// What the principal may do, its roles' rules included and its credential's narrowing done.
    pub rules: AccessRules,
    /// The principal's roles.
    pub roles: Arc<[String]>,
    /// What the credential may do of it.
    pub scopes: Arc<Scopes>,
    /// The credential used.
    pub credential: Credential,
}

impl Actor {
    /// Whether this caller holds all access rules, with nothing narrowed.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.scopes.is_all() && self.rules.hold("*")
    }

    /// The person an agent or service works for, by id.
    #[must_use]
    pub fn subject_id(&self) -> Option<&PrincipalId> {
        self.subject.as_ref().map(|subject| &subject.principal)
    }

    /// Who acts, and for whom.
    #[must_use]
    pub fn acting(&self) -> Acting {
        Acting { principal: self.principal.clone(), subject: self.subject_id().cloned() }
    }

    /// The key used, if it was one.
    #[must_use]
    pub const fn key(&self) -> Option<ApiKeyId> {
        match self.credential {
            Credential::Key(id) => Some(id),
            Credential::SignIn(_) | Credential::Token(_) | Credential::Internal => None,
        }
    }

    /// Whether internal tools are within reach: never by a key, and so never by MCP.
    #[must_use]
    pub const fn stands_inside(&self) -> bool {
        matches!(self.credential, Credential::SignIn(_) | Credential::Internal)
    }

    /// Whether a record owned by these principals is this caller's own to see.
    #[must_use]
    pub fn may_see(&self, tenant: &TenantId, actor: &PrincipalId, subject: Option<&PrincipalId>) -> bool {
        *tenant == self.tenant
            && (self.is_admin()
                || (*actor == self.principal && subject == self.subject_id())
                || subject == Some(&self.principal))
    }
}

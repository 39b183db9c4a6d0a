//! Principals as they are kept, and their keys.

use crate::actor::AccessRules;
use crate::id::{ApiKeyId, PrincipalId, SignInId, Slug, TenantId, TenantLinkId};
use crate::pattern::Pattern;
use crate::scope::Scopes;
use crate::time::Timestamp;

/// A user, agent or service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// Its id.
    pub id: PrincipalId,
    /// What people call it.
    pub title: String,
    /// Access rules of its own, beside those of its roles.
    pub rules: AccessRules,
    /// Its roles.
    pub roles: Vec<Slug>,
    /// The people an agent or service may work for, by id or pattern; none named means nobody.
    pub acts_for: Vec<Pattern>,
    /// Whether it gets in no more.
    pub disabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A bearer key. The key itself is never stored, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whose wall it opens.
    pub tenant: TenantId,
    /// Who it speaks for.
    pub principal: PrincipalId,
    /// The person that principal works for when it uses this key.
    pub subject: Option<PrincipalId>,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// What people call it.
    pub label: String,
    /// What it may do of what its principal may do.
    pub scopes: Scopes,
    /// Who made it.
    pub created_by: PrincipalId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that was rotated to make this one.
    pub replaces: Option<ApiKeyId>,
}

impl ApiKey {
    /// Whether it opens anything at this moment.
    #[must_use]
    pub fn works_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A key with everyone it speaks for, as they stand now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The key.
    pub key: ApiKey,
    /// Who it speaks for.
    pub principal: Principal,
    /// The person behind, if the key names one and they still exist.
    pub subject: Option<Principal>,
}

/// A person signed in with a browser. The cookie's token is never stored, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// Its id.
    pub id: SignInId,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// Whose wall it opens.
    pub tenant: TenantId,
    /// Who signed in.
    pub principal: PrincipalId,
    /// How: `password` or the name of an identity provider.
    pub method: String,
    /// The browser, as it names itself; shortened.
    pub user_agent: String,
    /// When.
    pub created_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_seen_at: Timestamp,
    /// When it ends if it is not used.
    pub expires_at: Timestamp,
    /// Where they proved who they are, if they switched here from another tenant.
    pub switched: Option<SwitchedFrom>,
}

impl SignIn {
    /// Where and as whom its person proved who they are.
    #[must_use]
    pub fn home(&self) -> (&TenantId, &PrincipalId) {
        match &self.switched {
            Some(from) => (&from.tenant, &from.principal),
            None => (&self.tenant, &self.principal),
        }
    }
}

/// Whom someone signed in as who then switched to another tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedFrom {
    /// Where.
    pub tenant: TenantId,
    /// As whom.
    pub principal: PrincipalId,
    /// What says that both are one person; the sign-in holds no longer than it.
    pub link: TenantLinkId,
}

/// A secret that works once: a set-up link, an invitation, a sign-in under way at an identity provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneTimeToken {
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// What it is for; it works for nothing else.
    pub purpose: String,
    /// In which tenant.
    pub tenant: TenantId,
    /// For whom, where that is known.
    pub principal: Option<PrincipalId>,
    /// What has to be remembered until it is used, as JSON.
    pub data: crate::json::JsonText,
    /// When it stops working.
    pub expires_at: Timestamp,
}

//! Who a person at an identity provider is here: found, linked or made, with the roles their groups give.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use toolgate_core::AccessRules;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::Expect;
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::port::identity::{Identity, IdentityProvider};
use toolgate_core::principal::Principal;

use crate::powers::nothing_changed_since;
use crate::sign_in::user_id;
use crate::snapshot::Snapshot;
use crate::{App, AppError};

const MAX_TITLE: usize = 200;
const TRIES: usize = 5;

/// An identity provider and what the operator decided about its people.
#[derive(Clone)]
pub struct ConnectedProvider {
    /// Its name in addresses.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The tenant its people belong to.
    pub tenant: TenantId,
    /// Whether people who are new here are made users.
    pub create_users: bool,
    /// Whether someone with a proven address becomes the user of that name.
    pub link_by_email: bool,
    /// The roles everyone gets.
    pub default_roles: Vec<Slug>,
    /// The roles each group gives. With any, a person's roles are what their groups say, at every sign-in.
    pub roles: BTreeMap<String, Vec<Slug>>,
    /// How it is asked.
    pub provider: Arc<dyn IdentityProvider>,
}

impl std::fmt::Debug for ConnectedProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectedProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why nobody gets in by a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityFault {
    /// It can't be reached or is set up wrongly.
    Unavailable,
    /// What came back proves nothing.
    Invalid,
    /// It is clear who it is, and they are not let in.
    Refused,
}

impl App {
    /// Who this identity is here: found by who they are at the provider, or linked, or made.
    /// Tried again when a manager changes something at the same moment.
    pub(crate) async fn user_of(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
    ) -> Result<Principal, AppError> {
        let mut tries = 1..TRIES;
        loop {
            match (self.try_user_of(connected, identity).await, tries.next()) {
                (Err(AppError::Conflict { .. }), Some(_)) => {}
                (outcome, _) => return outcome,
            }
        }
    }

    async fn try_user_of(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
    ) -> Result<Principal, AppError> {
        let closed = || refuse(IdentityFault::Refused, "you are not let in here any more");
        // Read before anything else: what is written below is written only if nothing was changed since. Else someone
        // who is being switched off could be written back as they were.
        let tenant = self.tenant_as_it_stands(&connected.tenant).await?.ok_or_else(closed)?;
        let known =
            self.store().principal_by_identity(&connected.tenant, &identity.issuer, &identity.sub).await?;
        let user = match known {
            Some(user) if !self.may_come_in(&user).await? => return Err(closed()),
            Some(user) => self.bring_roles_up_to_date(connected, identity, &tenant, user).await?,
            None => self.link_or_make(connected, identity, &tenant).await?,
        };
        if self.may_come_in(&user).await? { Ok(user) } else { Err(closed()) }
    }

    async fn bring_roles_up_to_date(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
        tenant: &Snapshot,
        mut user: Principal,
    ) -> Result<Principal, AppError> {
        let roles = connected.roles_of(identity);
        if connected.roles.is_empty() || user.roles == roles {
            return Ok(user);
        }
        user.roles = roles;
        let writes =
            vec![Write::PutPrincipal { principal: Box::new(user.clone()), expect: Expect::Anything }];
        self.write_user(connected, &user, "user.roles_by_provider", tenant, writes).await?;
        Ok(user)
    }

    async fn link_or_make(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
        tenant: &Snapshot,
    ) -> Result<Principal, AppError> {
        let (id, by_email) = name_of(identity).ok_or_else(|| {
            refuse(
                IdentityFault::Refused,
                "the identity provider gives neither a proven address nor a user name",
            )
        })?;
        let link = |user: &Principal| Write::LinkIdentity {
            issuer: identity.issuer.clone(),
            sub: identity.sub.clone(),
            principal: user.id.clone(),
        };
        if let Some(mut user) = self.store().principal(&connected.tenant, &id).await? {
            if !(connected.link_by_email && by_email) {
                return Err(refuse(
                    IdentityFault::Refused,
                    "a user of your name is someone else here, or not yet linked to you",
                ));
            }
            let mut writes = vec![link(&user)];
            if !connected.roles.is_empty() {
                user.roles = connected.roles_of(identity);
                writes.push(Write::PutPrincipal {
                    principal: Box::new(user.clone()),
                    expect: Expect::Anything,
                });
            }
            self.write_user(connected, &user, "user.link", tenant, writes).await?;
            return Ok(user);
        }
        if !connected.create_users {
            return Err(refuse(
                IdentityFault::Refused,
                "you are not a user here, and nobody becomes one by signing in",
            ));
        }
        let title = identity.title.clone().unwrap_or_else(|| id.name().to_owned());
        let user = Principal {
            tenant: connected.tenant.clone(),
            title: title.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect(),
            id,
            rules: AccessRules::default(),
            roles: connected.roles_of(identity),
            acts_for: vec![],
            disabled: false,
            created_at: self.now(),
        };
        let writes = vec![
            Write::PutPrincipal { principal: Box::new(user.clone()), expect: Expect::Absent },
            link(&user),
        ];
        self.write_user(connected, &user, "user.create_by_provider", tenant, writes).await?;
        Ok(user)
    }

    async fn write_user(
        &self,
        connected: &ConnectedProvider,
        user: &Principal,
        action: &str,
        tenant: &Snapshot,
        mut writes: Vec<Write>,
    ) -> Result<(), AppError> {
        writes.push(nothing_changed_since(tenant));
        let summary = json!({ "action": action, "principal": user.id, "provider": connected.name, "roles": user.roles });
        let change = AdminChange::new(user.tenant.clone(), user.id.clone(), self.now(), &summary, writes);
        self.commit(change).await
    }
}

impl ConnectedProvider {
    /// The roles of someone with these groups, sorted.
    fn roles_of(&self, identity: &Identity) -> Vec<Slug> {
        let mapped = identity.groups.iter().filter_map(|group| self.roles.get(group)).flatten();
        let mut roles: Vec<Slug> = self.default_roles.iter().chain(mapped).cloned().collect();
        roles.sort();
        roles.dedup();
        roles
    }
}

/// The user an identity would be, and whether a proven address says so. An address that is not proven names nobody:
/// anyone could write down someone else's.
fn name_of(identity: &Identity) -> Option<(PrincipalId, bool)> {
    let email = identity.email.as_deref().filter(|_| identity.email_verified).map(str::to_lowercase);
    let exact = email.as_deref().and_then(user_id).map(|id| (id, true));
    exact.or_else(|| {
        let name = email.as_deref().or(identity.username.as_deref())?;
        let valid: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_-.@+".contains(c) { c } else { '-' })
            .take(128)
            .collect();
        user_id(&valid).map(|id| (id, false))
    })
}

pub(crate) fn refuse(fault: IdentityFault, message: &'static str) -> AppError {
    AppError::Identity { fault, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(email: Option<&str>, email_verified: bool, username: Option<&str>) -> Option<(String, bool)> {
        let identity = Identity {
            email: email.map(str::to_owned),
            email_verified,
            username: username.map(str::to_owned),
            ..Identity::default()
        };
        name_of(&identity).map(|(id, by_email)| (id.to_string(), by_email))
    }

    #[test]
    fn only_a_proven_address_names_someone() {
        let check = |got: Option<(String, bool)>, expected: Option<(&str, bool)>| {
            assert_eq!(got, expected.map(|(id, by_email)| (id.to_owned(), by_email)));
        };
        check(named(Some("Ada@Example.com"), true, None), Some(("user:ada@example.com", true)));
        check(named(Some("ada@example.com"), false, Some("ada")), Some(("user:ada", false)));
        check(named(Some("ada@example.com"), false, None), None);
        check(named(None, true, Some("Ada Lovelace")), Some(("user:Ada-Lovelace", false)));
        check(named(Some("ädä@example.com"), true, None), Some(("user:-d-@example.com", false)));
        check(named(None, false, None), None);
    }
}

//! Roles: the built-in ones, and those a tenant's managers write.

use std::collections::BTreeMap;

use serde_json::json;
use toolgate_core::Actor;
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::Slug;
use toolgate_core::principal::Principal;
use toolgate_core::role::{BUILT_IN, Role};

use crate::bounds::{self, MAX_LIST};
use crate::powers::{holds_rule, nothing_changed_since};
use crate::principal::{busy, check_rules};
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const TRIES: usize = 16;

/// A role as a tenant has it.
#[derive(Debug, Clone)]
pub struct TenantRole {
    /// Its name.
    pub name: String,
    /// What it says.
    pub role: Role,
    /// Whether every tenant has one of this name.
    pub built_in: bool,
    /// How it was written, if the tenant's managers wrote it.
    pub written: Option<Stored<Role>>,
}

impl App {
    /// The roles after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage roles.
    pub async fn list_roles(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<TenantRole>, Option<String>), AppError> {
        self.require(actor, Area::Roles)?;
        let roles = self.all_roles(actor).await?;
        Ok(part_of(roles.into_values().collect(), |role| &role.name, after, limit))
    }

    /// All roles of the caller's tenant, by name.
    pub(crate) async fn all_roles(&self, actor: &Actor) -> Result<BTreeMap<String, TenantRole>, AppError> {
        let mut roles: BTreeMap<String, TenantRole> = BUILT_IN
            .iter()
            .map(|(name, ..)| ((*name).to_owned(), built_in(name)))
            .filter_map(known)
            .collect();
        for written in self.stored::<Role>(actor, DocumentKind::Role).await? {
            roles.insert(written.name.clone(), own(written));
        }
        Ok(roles)
    }

    /// One role.
    ///
    /// # Errors
    /// As [`App::list_roles`], and "not found".
    pub async fn read_role(&self, actor: &Actor, name: &Slug) -> Result<TenantRole, AppError> {
        self.require(actor, Area::Roles)?;
        match self.stored_one(actor, DocumentKind::Role, name.as_str()).await {
            Ok(written) => Ok(own(written)),
            Err(AppError::NotFound { what }) => built_in(name.as_str()).ok_or(AppError::NotFound { what }),
            Err(other) => Err(other),
        }
    }

    /// Writes a role.
    ///
    /// # Errors
    /// "Forbidden" when it gives, or gave, more than the caller holds.
    pub async fn put_role(
        &self,
        actor: &Actor,
        name: &Slug,
        role: Role,
        expect: Expect,
    ) -> Result<TenantRole, AppError> {
        self.require(actor, Area::Roles)?;
        if name.as_str() == "admin" {
            return Err(AppError::Conflict {
                message: "the role `admin` is the same everywhere and can't be changed".to_owned(),
            });
        }
        bounds::at_most(&role.rules, MAX_LIST, "rules")?;
        check_rules(&role.rules)?;
        let mut rules = role.rules;
        rules.sort();
        rules.dedup();
        let role = Role { description: bounds::description(&role.description)?, rules };
        for rule in &role.rules {
            holds_rule(actor, rule)?;
        }
        self.change_role(actor, name, Some(&role), expect).await?;
        self.read_role(actor, name).await
    }

    /// Takes a role away: whoever has it keeps the name and loses what it gave. A built-in role is as it comes again.
    ///
    /// # Errors
    /// "Forbidden" when it gave more than the caller holds; "not found" when the tenant's managers did not write it.
    pub async fn delete_role(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Roles)?;
        self.change_role(actor, name, None, expect).await
    }

    async fn change_role(
        &self,
        actor: &Actor,
        name: &Slug,
        role: Option<&Role>,
        expect: Expect,
    ) -> Result<(), AppError> {
        for _ in 0..TRIES {
            let snapshot = self.as_it_stands(actor).await?;
            let before = snapshot.role(name.as_str()).unwrap_or_default();
            // Whoever can't give it can't take it from those who have it either.
            for rule in before {
                holds_rule(actor, rule)?;
            }
            let found = self.store().document(&actor.tenant, DocumentKind::Role, name.as_str()).await?;
            match (expect, &found) {
                (Expect::Absent, Some(_)) => {
                    return Err(AppError::Conflict {
                        message: "there is a role of this name already".to_owned(),
                    });
                }
                (Expect::Revision(seen), found)
                    if found.as_ref().is_none_or(|role| role.revision != seen) =>
                {
                    return Err(AppError::Conflict {
                        message: format!(
                            "the role does not stand at revision {seen} any more; read it again"
                        ),
                    });
                }
                (_, None) if role.is_none() => return Err(AppError::NotFound { what: "role" }),
                _ => {}
            }
            let gave_all = before.iter().any(|rule| rule == "*");
            if gave_all && role.is_none_or(|role| !role.rules.iter().any(|rule| rule == "*")) {
                let without = |user: &Principal| {
                    let others = Principal {
                        roles: user.roles.iter().filter(|held| *held != name).cloned().collect(),
                        ..user.clone()
                    };
                    !user.disabled && snapshot.rules(&others).iter().any(|rule| rule == "*")
                };
                self.keeps_an_administrator(actor, without).await?;
            }
            let mut writes = vec![nothing_changed_since(&snapshot)];
            let (kind, document) = (DocumentKind::Role, name.to_string());
            let summary = match role {
                Some(role) => {
                    let body = toolgate_core::JsonText::from_serialize(role).map_err(|cause| {
                        AppError::Store(toolgate_core::port::store::StoreError::unavailable(cause))
                    })?;
                    writes.push(Write::PutDocument { kind, name: document, body, expect });
                    json!({ "action": "role.put", "name": name, "body": role })
                }
                None => {
                    writes.push(Write::RemoveDocument { kind, name: document, expect });
                    json!({ "action": "role.removed", "name": name })
                }
            };
            match self.change(actor, summary, writes).await {
                Err(AppError::Conflict { .. }) => {}
                done => return done,
            }
        }
        Err(busy())
    }
}

fn known((name, role): (String, Option<TenantRole>)) -> Option<(String, TenantRole)> {
    role.map(|role| (name, role))
}

fn built_in(wanted: &str) -> Option<TenantRole> {
    let (name, description, rules) = BUILT_IN.iter().find(|(name, ..)| *name == wanted)?;
    Some(TenantRole {
        name: (*name).to_owned(),
        role: Role {
            description: (*description).to_owned(),
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
        },
        built_in: true,
        written: None,
    })
}

fn own(written: Stored<Role>) -> TenantRole {
    TenantRole {
        name: written.name.clone(),
        role: written.body.clone(),
        built_in: built_in(&written.name).is_some(),
        written: Some(written),
    }
}

//! Users, agents and services: who there is, what they hold, and whether they get in.

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, Expect};
use toolgate_core::id::{PrincipalId, PrincipalKind, Slug};
use toolgate_core::pattern::Pattern;
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::Principal;
use toolgate_core::scope::{Scopes, is_rule};
use toolgate_core::{AccessRules, Actor};

use crate::bounds::{self, MAX_LIST};
use crate::powers::{holds_role, holds_rule, is_like_others, nothing_changed_since};
use crate::snapshot::Snapshot;
use crate::{App, AppError};

/// How often a change is tried anew when something else in the tenant changed meanwhile.
const TRIES: usize = 16;

/// A principal to make.
#[derive(Debug, Clone)]
pub struct NewPrincipal {
    /// Its id.
    pub id: PrincipalId,
    /// What people call it; none takes the name in its id.
    pub title: Option<String>,
    /// Its roles.
    pub roles: Vec<Slug>,
    /// Access rules of its own.
    pub rules: Vec<String>,
    /// The people an agent or service may work for.
    pub acts_for: Vec<Pattern>,
}

/// What to change of a principal.
#[derive(Debug, Clone, Default)]
pub struct PrincipalChange {
    /// What people call it.
    pub title: Option<String>,
    /// Its roles.
    pub roles: Option<Vec<Slug>>,
    /// Access rules of its own.
    pub rules: Option<Vec<String>>,
    /// The people an agent or service may work for.
    pub acts_for: Option<Vec<Pattern>>,
    /// Whether it gets in no more.
    pub disabled: Option<bool>,
}

impl App {
    /// The principals of one kind (or all) after `after`, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage principals.
    pub async fn list_principals(
        &self,
        actor: &Actor,
        kind: Option<PrincipalKind>,
        after: Option<PrincipalId>,
        limit: u32,
    ) -> Result<(Vec<Principal>, Option<PrincipalId>), AppError> {
        self.require(actor, Area::Principals)?;
        let mut found = self.store().principals(&actor.tenant, kind, after.as_ref(), limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|principal| principal.id.clone());
        Ok((found, next))
    }

    /// One principal: oneself, or any for those who manage them.
    ///
    /// # Errors
    /// "Forbidden" for whoever asks for someone else and does not manage principals, whether there is one or not.
    pub async fn read_principal(&self, actor: &Actor, id: &PrincipalId) -> Result<Principal, AppError> {
        if *id != actor.principal {
            self.require(actor, Area::Principals)?;
        }
        self.store().principal(&actor.tenant, id).await?.ok_or_else(unknown)
    }

    /// Makes a principal.
    ///
    /// # Errors
    /// A conflict when the id is taken; "forbidden" when it would hold more than its maker.
    pub async fn create_principal(&self, actor: &Actor, new: NewPrincipal) -> Result<Principal, AppError> {
        self.require(actor, Area::Principals)?;
        let principal = Principal {
            tenant: actor.tenant.clone(),
            title: bounds::title(new.title.as_deref().unwrap_or_else(|| new.id.name()))?,
            rules: AccessRules::new(each_once(new.rules)),
            roles: each_once(new.roles),
            acts_for: each_once(new.acts_for),
            disabled: false,
            created_at: self.now(),
            id: new.id,
        };
        check_shape(&principal)?;
        let taken =
            || AppError::Conflict { message: format!("there is a principal `{}` already", principal.id) };
        for _ in 0..TRIES {
            let snapshot = self.as_it_stands(actor).await?;
            known_roles(&snapshot, &principal.roles)?;
            self.holds_as_much(actor, &snapshot, &principal, &Scopes::default())?;
            is_like_others(actor, &snapshot, &principal.id)?;
            if self.store().principal(&actor.tenant, &principal.id).await?.is_some() {
                return Err(taken());
            }
            let write =
                Write::PutPrincipal { principal: Box::new(principal.clone()), expect: Expect::Absent };
            let writes = vec![nothing_changed_since(&snapshot), write];
            match self.change(actor, told("principal.created", &principal), writes).await {
                Err(AppError::Conflict { .. }) => {}
                done => return done.map(|()| principal),
            }
        }
        Err(busy())
    }

    /// Changes a principal. One that is switched off gets in no more: its keys stop working and its sign-ins end.
    ///
    /// # Errors
    /// "Forbidden" when it holds, or would hold, more than the caller; a conflict when the tenant would be left
    /// without an administrator.
    pub async fn update_principal(
        &self,
        actor: &Actor,
        id: &PrincipalId,
        wanted: PrincipalChange,
    ) -> Result<Principal, AppError> {
        self.require(actor, Area::Principals)?;
        for _ in 0..TRIES {
            let snapshot = self.as_it_stands(actor).await?;
            let before = self.store().principal(&actor.tenant, id).await?.ok_or_else(unknown)?;
            let after = changed(before.clone(), wanted.clone())?;
            self.check_change(actor, &snapshot, &before, &after).await?;
            let write = Write::PutPrincipal { principal: Box::new(after.clone()), expect: Expect::Anything };
            let writes = vec![nothing_changed_since(&snapshot), write];
            match self.change(actor, told("principal.changed", &after), writes).await {
                Err(AppError::Conflict { .. }) => continue,
                Err(other) => return Err(other),
                Ok(()) => {}
            }
            if after.disabled && id.kind() == PrincipalKind::User {
                self.end_all_sign_ins(&actor.tenant, id, EndSignIns::All).await?;
            }
            return Ok(after);
        }
        Err(busy())
    }

    async fn check_change(
        &self,
        actor: &Actor,
        snapshot: &Snapshot,
        before: &Principal,
        after: &Principal,
    ) -> Result<(), AppError> {
        check_shape(after)?;
        let new_roles: Vec<Slug> =
            after.roles.iter().filter(|role| !before.roles.contains(role)).cloned().collect();
        known_roles(snapshot, &new_roles)?;
        if before.id == actor.principal {
            // What one has already is no gift; what comes on top must be held by this very credential.
            for role in &new_roles {
                holds_role(actor, snapshot, role)?;
            }
            for rule in after.rules.as_slice().iter().filter(|rule| !before.rules.as_slice().contains(rule)) {
                holds_rule(actor, rule)?;
            }
        } else {
            self.holds_as_much(actor, snapshot, before, &Scopes::default())?;
            self.holds_as_much(actor, snapshot, after, &Scopes::default())?;
            if gives(before, after) {
                is_like_others(actor, snapshot, &before.id)?;
            }
        }
        let administers = |principal: &Principal| {
            !principal.disabled && snapshot.rules(principal).iter().any(|rule| rule == "*")
        };
        let takes_away =
            before.id.kind() == PrincipalKind::User && administers(before) && !administers(after);
        if !takes_away {
            return Ok(());
        }
        self.keeps_an_administrator(actor, |user| if user.id == after.id { false } else { administers(user) })
            .await
    }

    /// Refuses when no user would be left who administers the tenant.
    pub(crate) async fn keeps_an_administrator(
        &self,
        actor: &Actor,
        administers: impl Fn(&Principal) -> bool,
    ) -> Result<(), AppError> {
        const PART: u32 = 500;
        let mut after = None;
        loop {
            let users = self
                .store()
                .principals(&actor.tenant, Some(PrincipalKind::User), after.as_ref(), PART)
                .await?;
            if users.iter().any(&administers) {
                return Ok(());
            }
            match users.last() {
                Some(last) => after = Some(last.id.clone()),
                None => {
                    return Err(AppError::Conflict {
                        message: "this would leave the tenant without a user who holds `*`; \
                                  make another administrator first"
                            .to_owned(),
                    });
                }
            }
        }
    }
}

fn changed(principal: Principal, wanted: PrincipalChange) -> Result<Principal, AppError> {
    Ok(Principal {
        title: wanted.title.map_or(Ok(principal.title), |title| bounds::title(&title))?,
        roles: wanted.roles.map_or(principal.roles, each_once),
        rules: wanted.rules.map_or(principal.rules, |rules| AccessRules::new(each_once(rules))),
        acts_for: wanted.acts_for.map_or(principal.acts_for, each_once),
        disabled: wanted.disabled.unwrap_or(principal.disabled),
        ..principal
    })
}

/// Whether a change could give something. Another title gives nothing, and switching off only takes.
fn gives(before: &Principal, after: &Principal) -> bool {
    before.roles != after.roles
        || before.rules != after.rules
        || before.acts_for != after.acts_for
        || (before.disabled && !after.disabled)
}

fn check_shape(principal: &Principal) -> Result<(), AppError> {
    bounds::at_most(&principal.roles, MAX_LIST, "roles")?;
    bounds::at_most(principal.rules.as_slice(), MAX_LIST, "rules")?;
    bounds::at_most(&principal.acts_for, MAX_LIST, "acts_for")?;
    check_rules(principal.rules.as_slice())?;
    if !principal.acts_for.is_empty() && principal.id.kind() == PrincipalKind::User {
        return Err(AppError::invalid("a user works for nobody else")
            .with_hint("leave `acts_for` out; only agents and services have it"));
    }
    Ok(())
}

/// Refuses what can't be an access rule.
pub(crate) fn check_rules(rules: &[String]) -> Result<(), AppError> {
    if rules.iter().all(|rule| is_rule(rule)) {
        return Ok(());
    }
    Err(AppError::invalid("`rules` holds what is not an access rule")
        .with_hint("write `<plugin>.<resource>.<level>` of letters, digits, `_`, `-` and `.`, or `*`"))
}

fn known_roles(snapshot: &Snapshot, roles: &[Slug]) -> Result<(), AppError> {
    match roles.iter().find(|role| snapshot.role(role.as_str()).is_none()) {
        None => Ok(()),
        Some(unknown) => Err(AppError::invalid(format!("there is no role `{unknown}`")).with_hint(
            "list the roles with `GET /api/v1/roles`, or write it first with `PUT /api/v1/roles/{name}`",
        )),
    }
}

fn told(action: &str, principal: &Principal) -> serde_json::Value {
    json!({
        "action": action, "principal": principal.id, "title": principal.title, "roles": principal.roles,
        "rules": principal.rules, "acts_for": principal.acts_for, "disabled": principal.disabled,
    })
}

fn each_once<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list.dedup();
    list
}

const fn unknown() -> AppError {
    AppError::NotFound { what: "principal" }
}

pub(crate) fn busy() -> AppError {
    AppError::Conflict { message: "the tenant is being changed by others just now; try again".to_owned() }
}

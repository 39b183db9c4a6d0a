//! Links that work once: the first administrator's, and invitations.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Area, Expect};
use toolgate_core::id::{PrincipalId, PrincipalKind, TenantId};
use toolgate_core::port::store::{EndSignIns, StoreError};
use toolgate_core::principal::{OneTimeToken, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::{AccessRules, Actor, Credential, JsonText, Timestamp};

use crate::attempts::address_bucket;
use crate::password::Password;
use crate::powers::{is_like_others, nothing_changed_since};
use crate::secret::Secret;
use crate::sign_in::{Arrival, SignedIn, user_id};
use crate::tenant_link::unlink_by_password;
use crate::{App, AppError};

const SET_UP_LASTS: Duration = Duration::from_secs(24 * 3600);
const INVITE_LASTS: Duration = Duration::from_secs(72 * 3600);
const SET_UP: &str = "set_up";
const INVITE: &str = "invite";
const MAX_TITLE: usize = 200;

/// An invitation, shown once.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// What lets one person in, once.
    pub token: Secret,
    /// Until when.
    pub expires_at: Timestamp,
}

/// What someone with a link says of themselves.
#[derive(Debug, Clone)]
pub struct Acceptance {
    /// The link's secret.
    pub token: Secret,
    /// What to sign in as; only the first administrator chooses.
    pub login: Option<String>,
    /// The password from now on.
    pub password: Password,
    /// What people should call them.
    pub title: Option<String>,
}

/// What is remembered of an invitation.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    by: PrincipalId,
}

impl App {
    /// A link for the first administrator, as long as nobody can sign in.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn offer_set_up(&self) -> Result<Option<Secret>, AppError> {
        let tenant = TenantId::default_tenant();
        if self.store().anyone_signs_in(&tenant).await? {
            return Ok(None);
        }
        let token = Secret::generate()?;
        let nothing = JsonText::from_value(&json!({}));
        self.keep_token(&token, SET_UP, tenant, None, nothing, SET_UP_LASTS).await?;
        Ok(Some(token))
    }

    /// Lets a user choose a password by a link; earlier links of theirs work no more. Whoever has the link becomes that user, so nobody makes one for
    /// someone who may do more than they may themselves.
    ///
    /// # Errors
    /// When the caller does not manage principals, or the user is not one to invite.
    pub async fn invite(&self, actor: &Actor, user: &PrincipalId) -> Result<Invitation, AppError> {
        self.require(actor, Area::Principals)?;
        if user.kind() != PrincipalKind::User {
            return Err(AppError::invalid("only a user can be invited")
                .with_hint("agents and services come in with keys"));
        }
        let found = self.store().principal(&actor.tenant, user).await?;
        let user = found.ok_or(AppError::NotFound { what: "principal" })?;
        if user.disabled {
            return Err(AppError::invalid("this user is switched off").with_hint("switch the user on first"));
        }
        // A sign-in has no scopes: made with a narrowed key, it would widen what the key may do.
        if !actor.scopes.is_all() {
            return Err(AppError::forbidden("a key with scopes does not invite")
                .with_hint("sign in, or use a key without scopes"));
        }
        let snapshot = self.as_it_stands(actor).await?;
        if actor.principal != user.id {
            self.holds_as_much(actor, &snapshot, &user, &Scopes::default())?;
            is_like_others(actor, &snapshot, &user.id)?;
        }
        let token = Secret::generate()?;
        // The record says who opened which door, before it is open.
        self.change(actor, json!({ "action": "user.invite", "principal": user.id }), vec![]).await?;
        self.void_invitations(&user.tenant, &user.id).await?;
        let origin = Origin { by: actor.principal.clone() };
        let data = JsonText::from_serialize(&origin).map_err(StoreError::unavailable)?;
        let expires_at =
            self.keep_token(&token, INVITE, user.tenant, Some(user.id), data, INVITE_LASTS).await?;
        Ok(Invitation { token, expires_at })
    }

    /// Ends all links by which a user could still choose a password.
    pub(crate) async fn void_invitations(
        &self,
        tenant: &TenantId,
        user: &PrincipalId,
    ) -> Result<(), AppError> {
        Ok(self.store().void_tokens(tenant, user, INVITE).await?)
    }

    /// Uses a link: sets the password and signs in.
    ///
    /// # Errors
    /// `TokenInvalid` for one that is unknown, used, over, or not needed any more; or what is wrong with the password,
    /// in which case the link still works.
    pub async fn accept(&self, acceptance: Acceptance, arrival: &Arrival) -> Result<SignedIn, AppError> {
        let by_address = address_bucket(arrival.peer);
        self.entrance.addresses.take(&by_address)?;
        let (hash, now) = (acceptance.token.hash(), self.now());
        let taken = match self.store().take_token(&hash, INVITE, now).await? {
            Some(token) => Some(token),
            None => self.store().take_token(&hash, SET_UP, now).await?,
        };
        let token = taken.ok_or(AppError::TokenInvalid)?;
        self.entrance.addresses.give_back(&by_address);
        let made = match &token.principal {
            Some(user) => self.links_by_password(&token.tenant, user).await?,
            None => Vec::new(),
        };
        let user = match self.complete_user(&token, acceptance).await {
            Ok(user) => user,
            Err(cause) => {
                // Nothing came of it, so the link is not used up.
                if !matches!(cause, AppError::TokenInvalid)
                    && let Err(lost) = self.store().put_token(token, now).await
                {
                    tracing::warn!(error = %lost, "a link was used up without an effect");
                }
                return Err(cause);
            }
        };
        // A password that is set answers every link that asked for one.
        self.void_invitations(&user.tenant, &user.id).await?;
        self.void_tenant_links(&user.tenant, &user.id, &made).await?;
        self.end_all_sign_ins(&user.tenant, &user.id, EndSignIns::All).await?;
        self.begin_sign_in(user, "password", arrival).await
    }

    async fn complete_user(&self, token: &OneTimeToken, asked: Acceptance) -> Result<Principal, AppError> {
        let title = asked.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        if title.as_ref().is_some_and(|t| t.chars().count() > MAX_TITLE || t.chars().any(char::is_control)) {
            return Err(AppError::invalid(format!("`title` has at most {MAX_TITLE} characters on one line")));
        }
        // Read before anything else: what is written below is written only if nothing was changed since.
        let tenant = self.tenant_as_it_stands(&token.tenant).await?.ok_or(AppError::TokenInvalid)?;
        let (mut user, expect) = match &token.principal {
            Some(invited) => {
                let found =
                    self.store().principal(&token.tenant, invited).await?.ok_or(AppError::TokenInvalid)?;
                if !self.still_invites(token, &found).await? {
                    return Err(AppError::TokenInvalid);
                }
                (found, Expect::Anything)
            }
            None => self.first_administrator(&token.tenant, asked.login.as_deref()).await?,
        };
        if !self.may_come_in(&user).await? {
            return Err(AppError::TokenInvalid);
        }
        asked.password.check(&user.id)?;
        let hash = self.entrance.hasher.hash(asked.password).await?;
        let mut writes = vec![nothing_changed_since(&tenant)];
        if title.is_some() || token.principal.is_none() {
            user.title = title.unwrap_or(user.title);
            writes.push(Write::PutPrincipal { principal: Box::new(user.clone()), expect });
        }
        writes.push(Write::SetPassword { principal: user.id.clone(), hash: Some(hash) });
        writes.push(unlink_by_password(&user.id));
        let summary = json!({ "action": "user.accept", "principal": user.id, "by_link": token.purpose });
        let change = AdminChange::new(user.tenant.clone(), user.id.clone(), self.now(), &summary, writes);
        self.commit(change).await?;
        Ok(user)
    }

    /// The user a set-up link makes, or completes: one with all rules. Not once anyone can sign in.
    async fn first_administrator(
        &self,
        tenant: &TenantId,
        login: Option<&str>,
    ) -> Result<(Principal, Expect), AppError> {
        if self.store().anyone_signs_in(tenant).await? {
            return Err(AppError::TokenInvalid);
        }
        let login = login.map(str::trim).filter(|login| !login.is_empty()).unwrap_or("admin");
        let id = user_id(login).ok_or_else(|| {
            AppError::invalid("a login has letters, digits and `_-.@+/:`, at most 128 of them")
        })?;
        let admin = "admin".parse().map_err(StoreError::unavailable)?;
        match self.store().principal(tenant, &id).await? {
            Some(mut user) => {
                if !user.roles.contains(&admin) {
                    user.roles.push(admin);
                }
                Ok((user, Expect::Anything))
            }
            None => {
                let user = Principal {
                    tenant: tenant.clone(),
                    title: id.name().to_owned(),
                    id,
                    rules: AccessRules::default(),
                    roles: vec![admin],
                    acts_for: vec![],
                    disabled: false,
                    created_at: self.now(),
                };
                Ok((user, Expect::Absent))
            }
        }
    }

    async fn keep_token(
        &self,
        token: &Secret,
        purpose: &str,
        tenant: TenantId,
        principal: Option<PrincipalId>,
        data: JsonText,
        lasts: Duration,
    ) -> Result<Timestamp, AppError> {
        let now = self.now();
        let expires_at = now.plus(lasts);
        let kept = OneTimeToken {
            hash: token.hash(),
            purpose: purpose.to_owned(),
            tenant,
            principal,
            data,
            expires_at,
        };
        self.store().put_token(kept, now).await?;
        Ok(expires_at)
    }

    /// Whether whoever invited someone could still do so. Else a link kept aside would be worth more once its user is
    /// given more.
    async fn still_invites(&self, token: &OneTimeToken, user: &Principal) -> Result<bool, AppError> {
        let by = serde_json::from_str::<Origin>(token.data.as_str()).ok().map(|origin| origin.by);
        let Some(by) = by else { return Ok(false) };
        let Some(inviter) = self.store().principal(&token.tenant, &by).await? else { return Ok(false) };
        let Some(inviter) = self.actor_from(inviter, Credential::Internal, Scopes::default(), None).await?
        else {
            return Ok(false);
        };
        let snapshot = self.as_it_stands(&inviter).await?;
        let may = self.require(&inviter, Area::Principals);
        let held = self.holds_as_much(&inviter, &snapshot, user, &Scopes::default());
        let like_others = is_like_others(&inviter, &snapshot, &user.id);
        Ok(inviter.principal == user.id || (may.is_ok() && held.is_ok() && like_others.is_ok()))
    }
}

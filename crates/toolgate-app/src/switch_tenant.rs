//! A person with users in several tenants goes from one to the other without signing in again.
//!
//! A sign-in always knows where its person proved who they are: their *home*. It reaches the users that their home is
//! linked with and no others, and ends with the link, with their home's password and with whatever shuts their home out.

use serde_json::json;
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{PrincipalId, SignInId, TenantId, TenantLinkId};
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::{Principal, SignIn, SwitchedFrom};
use toolgate_core::tenant::Tenant;
use toolgate_core::{Actor, Credential};

use crate::attempts::login_bucket;
use crate::secret::Secret;
use crate::sign_in::{Arrival, SignedIn, end_of, shown};
use crate::tenant_link::BY_PASSWORD;
use crate::{App, AppError};

/// One of a person's tenants.
#[derive(Debug, Clone)]
pub struct OwnTenant {
    /// Which.
    pub tenant: Tenant,
    /// Who they are there.
    pub principal: Principal,
    /// How they get there from here.
    pub reach: Reach,
}

/// How someone gets to one of their tenants, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// They are there.
    Current,
    /// By switching.
    Switch,
    /// By signing in there: its identity provider has not seen them.
    SignIn,
    /// Not at all now: they, or all of it, are switched off.
    Closed,
}

impl App {
    /// The caller's tenant, and for people with a browser those they are linked with, in order of id.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn own_tenants(&self, actor: &Actor, arrival: &Arrival) -> Result<Vec<OwnTenant>, AppError> {
        let here = TenantId::clone(&actor.tenant);
        let Ok(sign_in) = self.browser_of(actor, arrival).await else {
            return Ok(self.own_tenant(&here, &actor.principal, Reach::Current).await?.into_iter().collect());
        };
        let home = sign_in.home();
        let reach = if *home.0 == here { Reach::Current } else { Reach::Switch };
        let mut all: Vec<OwnTenant> = self.own_tenant(home.0, home.1, reach).await?.into_iter().collect();
        for user in self.store().linked_users(home.0, home.1).await? {
            let reach = if (&user.tenant.id, &user.principal.id) == (&here, &actor.principal) {
                Reach::Current
            } else if !user.gets_in() {
                Reach::Closed
            } else if self.is_proof_for(&sign_in.method, &user.proof)
                && self.made_the_link(&sign_in, user.link).await?
            {
                Reach::Switch
            } else {
                Reach::SignIn
            };
            all.push(OwnTenant { tenant: user.tenant, principal: user.principal, reach });
        }
        // Of two users in one tenant the nearer one counts.
        all.sort_by(|one, other| (&one.tenant.id, one.reach).cmp(&(&other.tenant.id, other.reach)));
        all.dedup_by(|later, first| later.tenant.id == first.tenant.id);
        Ok(all)
    }

    /// Goes on as the person's user in another of their tenants: with a fresh secret, while the old one ends. It lasts
    /// no longer than the sign-in it comes from. Both tenants' records tell of it.
    ///
    /// # Errors
    /// "Not found" for a tenant that is not theirs or does not let them in, "forbidden" for whoever came with a key, or
    /// where an identity provider has to see them first.
    pub async fn switch_tenant(
        &self,
        actor: &Actor,
        wanted: &str,
        arrival: &Arrival,
    ) -> Result<SignedIn, AppError> {
        let sign_in = self.browser_of(actor, arrival).await?;
        self.measure_switching(&sign_in)?;
        let all = self.own_tenants(actor, arrival).await?;
        let found = all.into_iter().find(|own| own.tenant.id.as_str() == wanted);
        let to =
            found.filter(|own| own.reach != Reach::Closed).ok_or(AppError::NotFound { what: "tenant" })?;
        match to.reach {
            Reach::Switch => {}
            Reach::SignIn => {
                return Err(AppError::forbidden(format!(
                    "`{wanted}` knows you by its identity provider, which has not seen you"
                ))
                .with_hint("sign in there with it"));
            }
            Reach::Current | Reach::Closed => {
                return Err(AppError::Conflict { message: format!("you are in `{wanted}` already") });
            }
        }
        let switched = self.switched_to(&sign_in, &to.principal).await?;
        let by_link = switched.as_ref().or(sign_in.switched.as_ref()).map(|from| from.link);
        self.record_switch(actor, &sign_in, &to.principal, switched.as_ref(), by_link).await?;
        self.replace_sign_in(sign_in, to.principal, switched, arrival).await
    }

    /// Takes one of their other tenants from a person's list: ends the links between that user and everyone else they
    /// are.
    ///
    /// # Errors
    /// A conflict for the tenant they are in or signed in to, "not found" for one that is not theirs.
    pub async fn leave_tenant(&self, actor: &Actor, wanted: &str, arrival: &Arrival) -> Result<(), AppError> {
        let sign_in = self.browser_of(actor, arrival).await?;
        let (home, principal) = sign_in.home();
        let refused = |message: &str| Err(AppError::Conflict { message: message.to_owned() });
        if wanted == actor.tenant.as_str() {
            return refused("you are there now; switch to another organisation first");
        }
        if wanted == home.as_str() {
            return refused("you signed in there; sign in to another of your organisations to remove it");
        }
        let mine = self.store().linked_users(home, principal).await?;
        let left = mine.iter().find(|user| user.tenant.id.as_str() == wanted);
        let left = left.ok_or(AppError::NotFound { what: "tenant" })?;
        for other in self.store().linked_users(&left.tenant.id, &left.principal.id).await? {
            let is_home = other.tenant.id == *home && other.principal.id == *principal;
            let is_mine = mine.iter().any(|user| is(&user.principal, &other.principal));
            if !is_home && !is_mine {
                continue;
            }
            let link = self.store().tenant_link(&other.tenant.id, other.link).await?;
            if let Some(link) = link {
                self.end_link(actor, &link).await?;
            }
        }
        Ok(())
    }

    /// The sign-in of the browser a caller came with.
    pub(crate) async fn browser_of(&self, actor: &Actor, arrival: &Arrival) -> Result<SignIn, AppError> {
        let forbidden = || {
            AppError::forbidden("only a person signed in with a browser goes from tenant to tenant")
                .with_hint("open Toolgate in a browser; a key is for one tenant")
        };
        let Credential::SignIn(id) = actor.credential else { return Err(forbidden()) };
        let cookie = arrival.cookie.as_ref().ok_or_else(forbidden)?;
        let found = self.authenticate_cookie(cookie).await?.map(|(_, sign_in)| sign_in);
        found.filter(|sign_in| sign_in.id == id).ok_or_else(forbidden)
    }

    /// Whether a sign-in of someone who switched still holds: their home is let in and linked with who they are here.
    pub(crate) async fn still_holds(&self, sign_in: &SignIn) -> Result<bool, AppError> {
        let Some(from) = &sign_in.switched else { return Ok(true) };
        let Some(home) = self.store().principal(&from.tenant, &from.principal).await? else {
            return Ok(false);
        };
        if !self.may_come_in(&home).await? {
            return Ok(false);
        }
        let linked = self.store().linked_users(&from.tenant, &from.principal).await?;
        Ok(linked.iter().any(|user| {
            user.link == from.link
                && user.tenant.id == sign_in.tenant
                && user.principal.id == sign_in.principal
        }))
    }

    /// Counts what goes into two records each time.
    pub(crate) fn measure_switching(&self, sign_in: &SignIn) -> Result<(), AppError> {
        let (tenant, principal) = sign_in.home();
        self.entrance.switches.take(&login_bucket(tenant.as_str(), principal.name()))
    }

    /// Whether someone who signed in in this way may go on as a user who was proved in that one. What an identity
    /// provider vouches for, it must have vouched for now: whoever it shuts out must not come in by a password kept
    /// elsewhere.
    fn is_proof_for(&self, method: &str, proof: &str) -> bool {
        let issuer = |name: &str| {
            let found = self.entrance.providers.iter().find(|provider| provider.name == name);
            found.and_then(|connected| connected.provider.issuer())
        };
        proof == BY_PASSWORD || issuer(proof).is_some_and(|wanted| issuer(method) == Some(wanted))
    }

    /// Whether a sign-in is of the kind that made this link at home: whoever got in there by another door, such as a
    /// password that an administrator handed out, has not shown to be the person who made it.
    async fn made_the_link(&self, sign_in: &SignIn, link: TenantLinkId) -> Result<bool, AppError> {
        let half = self.store().tenant_link(sign_in.home().0, link).await?;
        Ok(half.is_some_and(|half| self.is_proof_for(&sign_in.method, &half.proof)))
    }

    async fn own_tenant(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        reach: Reach,
    ) -> Result<Option<OwnTenant>, AppError> {
        let principal = self.store().principal(tenant, principal).await?;
        let tenant = self.store().tenant(tenant).await?;
        Ok(tenant.zip(principal).map(|(tenant, principal)| OwnTenant { tenant, principal, reach }))
    }

    /// What a sign-in as this user comes from; none for one that is at home again.
    async fn switched_to(
        &self,
        sign_in: &SignIn,
        user: &Principal,
    ) -> Result<Option<SwitchedFrom>, AppError> {
        let (tenant, principal) = sign_in.home();
        if (tenant, principal) == (&user.tenant, &user.id) {
            return Ok(None);
        }
        let linked = self.store().linked_users(tenant, principal).await?;
        let found = linked.into_iter().find(|linked| is(&linked.principal, user));
        let link = found.ok_or(AppError::NotFound { what: "tenant" })?.link;
        Ok(Some(SwitchedFrom { tenant: tenant.clone(), principal: principal.clone(), link }))
    }

    /// Tells both records, before the door is open. Neither hears of a tenant its user is not linked with.
    async fn record_switch(
        &self,
        actor: &Actor,
        sign_in: &SignIn,
        to: &Principal,
        switched: Option<&SwitchedFrom>,
        link: Option<TenantLinkId>,
    ) -> Result<(), AppError> {
        let (home, _) = sign_in.home();
        let between_others = switched.is_some() && sign_in.switched.is_some();
        let left_for = (!between_others).then_some(&to.tenant);
        let came_from = if switched.is_some() { home } else { &actor.tenant };
        let here = json!({
            "action": "user.switched_here", "principal": to.id, "from_tenant": came_from, "link": link,
        });
        let away = json!({
            "action": "user.switched_away", "principal": actor.principal, "to_tenant": left_for,
            "link": left_for.and(link),
        });
        let now = self.now();
        self.commit(AdminChange::new(to.tenant.clone(), to.id.clone(), now, &here, vec![])).await?;
        self.commit(AdminChange::new(actor.tenant.clone(), actor.principal.clone(), now, &away, vec![])).await
    }

    async fn replace_sign_in(
        &self,
        old: SignIn,
        principal: Principal,
        switched: Option<SwitchedFrom>,
        arrival: &Arrival,
    ) -> Result<SignedIn, AppError> {
        let (cookie, now, before) = (Secret::generate()?, self.now(), old.hash);
        let sign_in = SignIn {
            id: SignInId::generate(),
            hash: cookie.hash(),
            tenant: principal.tenant.clone(),
            principal: principal.id.clone(),
            user_agent: shown(&arrival.user_agent),
            last_seen_at: now,
            // Counted from the proof, so that nobody stays for ever by going back and forth.
            expires_at: end_of(old.created_at, now),
            switched,
            ..old
        };
        self.store().put_sign_in(sign_in.clone()).await?;
        // Invariant: whoever ends this person's sign-ins meets the new one, or has ended the old one by now; so the new one
        // is written first and holds only if the old one is still there.
        if self.store().sign_in_by_hash(&before).await?.is_none() {
            let which = EndSignIns::One(sign_in.id);
            self.end_all_sign_ins(&sign_in.tenant, &sign_in.principal, which).await?;
            return Err(AppError::Unauthenticated { message: "your sign-in ended while you switched" });
        }
        if let Some(cookie) = &arrival.cookie {
            self.end_cookie(cookie).await?;
        }
        metrics::counter!("toolgate_sign_ins_total", "outcome" => "switched").increment(1);
        Ok(SignedIn { cookie, sign_in, principal })
    }
}

/// Whether two are the same user, whatever was changed of them in between.
fn is(one: &Principal, other: &Principal) -> bool {
    (&one.tenant, &one.id) == (&other.tenant, &other.id)
}

//! A person signs in with a password, and what every way in ends with: a fresh sign-in.

use std::net::IpAddr;
use std::time::Duration;

use toolgate_core::Timestamp;
use toolgate_core::id::{PrincipalId, SignInId, TenantId};
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::{Principal, SignIn};

use crate::attempts::{address_bucket, login_bucket};
use crate::password::{Password, Verified};
use crate::secret::Secret;
use crate::{App, AppError};

/// How long a sign-in lasts that is not used.
pub(crate) const IDLE: Duration = Duration::from_secs(12 * 3600);
/// How long any sign-in lasts.
pub(crate) const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const MAX_USER_AGENT: usize = 200;
/// One sentence for whatever was wrong, so that nobody learns which logins there are.
const WRONG: AppError = AppError::Unauthenticated { message: "the login or the password is not right" };

/// What a browser brings along.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Where it connects from.
    pub peer: IpAddr,
    /// What it calls itself.
    pub user_agent: String,
    /// The cookie it had before. Never taken over: whoever planted it would be signed in too.
    pub cookie: Option<Secret>,
}

/// A person who just signed in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// What the browser keeps.
    pub cookie: Secret,
    /// What is kept here.
    pub sign_in: SignIn,
    /// Who.
    pub principal: Principal,
}

/// The ways to sign in to a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInMethods {
    /// Whether a password can be used.
    pub password: bool,
    /// Identity providers, by name and title.
    pub providers: Vec<(String, String)>,
    /// Whether nobody can sign in yet.
    pub set_up_needed: bool,
}

impl App {
    /// Signs a person in with their password.
    ///
    /// # Errors
    /// The same for an unknown tenant or user, a wrong password, and someone who is switched off; or too many tries.
    pub async fn sign_in(
        &self,
        tenant: &str,
        login: &str,
        password: Password,
        arrival: &Arrival,
    ) -> Result<SignedIn, AppError> {
        // Two ways to say a login must not be two measures of how often it may be guessed at.
        let (by_login, by_address) = (login_bucket(tenant, bare(login)), address_bucket(arrival.peer));
        self.entrance.addresses.take(&by_address)?;
        // Refused here, the login has not cost the address a failure.
        if let Err(too_many) = self.entrance.logins.take(&by_login) {
            self.entrance.addresses.give_back(&by_address);
            return Err(too_many);
        }
        let user = self.find_user(tenant, login).await?;
        let kept = match &user {
            Some(user) => self.store().password(&user.tenant, &user.id).await?,
            None => None,
        };
        let verified = self.entrance.hasher.verify(password.clone(), kept.clone()).await?;
        let Some(user) = user.filter(|_| verified != Verified::No) else {
            metrics::counter!("toolgate_sign_ins_total", "outcome" => "refused").increment(1);
            return Err(WRONG);
        };
        self.entrance.logins.give_back(&by_login);
        self.entrance.addresses.give_back(&by_address);
        let signed_in = self.begin_sign_in(user.clone(), "password", arrival).await?;
        // Invariant: a password that was replaced lets nobody in. Whoever replaces one ends all sign-ins after that: this
        // one, if it is written by then; else the new password is seen here.
        let now_kept = self.store().password(&user.tenant, &user.id).await?;
        if now_kept != kept && self.entrance.hasher.verify(password.clone(), now_kept).await? == Verified::No
        {
            let which = EndSignIns::One(signed_in.sign_in.id);
            self.end_all_sign_ins(&user.tenant, &user.id, which).await?;
            return Err(WRONG);
        }
        if verified == Verified::Weakly
            && let Err(cause) = self.strengthen_password(&user, password, kept.as_deref()).await
        {
            tracing::warn!(error = %cause, "a password could not be kept in a stronger form");
        }
        Ok(signed_in)
    }

    /// The ways to sign in to a tenant. An unknown tenant looks like one without providers.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn sign_in_methods(&self, tenant: &str) -> Result<SignInMethods, AppError> {
        let providers = self.entrance.providers.iter().filter(|provider| provider.tenant.as_str() == tenant);
        let default = TenantId::default_tenant();
        Ok(SignInMethods {
            password: true,
            providers: providers.map(|provider| (provider.name.clone(), provider.title.clone())).collect(),
            set_up_needed: tenant == default.as_str() && !self.store().anyone_signs_in(&default).await?,
        })
    }

    /// Someone who may come in: the tenant is there and on, and so is the user.
    async fn find_user(&self, tenant: &str, login: &str) -> Result<Option<Principal>, AppError> {
        let (Ok(tenant), Some(user)) = (tenant.parse::<TenantId>(), user_id(login)) else { return Ok(None) };
        let Some(found) = self.store().principal(&tenant, &user).await? else { return Ok(None) };
        Ok(self.may_come_in(&found).await?.then_some(found))
    }

    pub(crate) async fn may_come_in(&self, user: &Principal) -> Result<bool, AppError> {
        let tenant = self.store().tenant(&user.tenant).await?;
        Ok(!user.disabled && tenant.is_some_and(|tenant| !tenant.disabled))
    }

    /// Signs in someone who has proved who they are: always with a fresh secret, and the browser's old one ends.
    pub(crate) async fn begin_sign_in(
        &self,
        principal: Principal,
        method: &str,
        arrival: &Arrival,
    ) -> Result<SignedIn, AppError> {
        if let Some(old) = &arrival.cookie {
            self.end_cookie(old).await?;
        }
        let (cookie, now) = (Secret::generate()?, self.now());
        let sign_in = SignIn {
            id: SignInId::generate(),
            hash: cookie.hash(),
            tenant: principal.tenant.clone(),
            principal: principal.id.clone(),
            method: method.to_owned(),
            user_agent: shown(&arrival.user_agent),
            created_at: now,
            last_seen_at: now,
            expires_at: end_of(now, now),
            switched: None,
        };
        self.store().put_sign_in(sign_in.clone()).await?;
        metrics::counter!("toolgate_sign_ins_total", "outcome" => "signed_in").increment(1);
        Ok(SignedIn { cookie, sign_in, principal })
    }
}

/// The user a login names.
pub(crate) fn user_id(login: &str) -> Option<PrincipalId> {
    format!("user:{}", bare(login)).parse().ok()
}

/// A login as it is meant by whoever gives the whole id.
fn bare(login: &str) -> &str {
    login.strip_prefix("user:").unwrap_or(login)
}

/// When a sign-in used at `now` ends.
pub(crate) fn end_of(created_at: Timestamp, now: Timestamp) -> Timestamp {
    now.plus(IDLE).min(created_at.plus(LONGEST))
}

/// A browser's name for itself, as far as it can be shown.
pub(crate) fn shown(user_agent: &str) -> String {
    user_agent.chars().filter(|c| !c.is_control()).take(MAX_USER_AGENT).collect()
}

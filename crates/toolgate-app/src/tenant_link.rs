//! Two users of different tenants become one person's: by proof of both in one browser, or by being one person at an
//! identity provider. Never by a name or an address. Either side ends it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::Area;
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::port::identity::Identity;
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::{OneTimeToken, Principal, SignIn};
use toolgate_core::tenant::Tenant;
use toolgate_core::tenant_link::TenantLink;
use toolgate_core::{Actor, JsonText, Timestamp};

use crate::secret::Secret;
use crate::sign_in::Arrival;
use crate::{App, AppError};

/// What a link that a password proved says.
pub(crate) const BY_PASSWORD: &str = "password";
/// How long someone may take to sign in to the other tenant.
const PENDING_LASTS: Duration = Duration::from_secs(600);
const PURPOSE: &str = "tenant_link";
/// The most tenants one user is linked with.
const MOST: usize = 20;

/// A link that waits for its person to say yes.
#[derive(Debug, Clone)]
pub struct PendingLink {
    /// Where they began.
    pub tenant: Tenant,
    /// As whom.
    pub principal: Principal,
}

/// What is remembered of whoever began. Nothing secret.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    proof: String,
    at: Timestamp,
}

impl App {
    /// Begins a link of whoever is signed in with a user of another tenant. What comes back stays in their browser:
    /// nobody can be led to link themselves with someone else's beginning.
    ///
    /// # Errors
    /// "Forbidden" for whoever did not come with a browser.
    pub async fn begin_tenant_link(&self, actor: &Actor, arrival: &Arrival) -> Result<Secret, AppError> {
        let sign_in = self.browser_of(actor, arrival).await?;
        self.measure_switching(&sign_in)?;
        let (secret, now) = (Secret::generate()?, self.now());
        let begun = Begun { proof: sign_in.method.clone(), at: now };
        let home = sign_in.home();
        let token = OneTimeToken {
            hash: secret.hash(),
            purpose: PURPOSE.to_owned(),
            tenant: home.0.clone(),
            principal: Some(home.1.clone()),
            data: JsonText::from_serialize(&begun).map_err(StoreError::unavailable)?,
            expires_at: now.plus(PENDING_LASTS),
        };
        self.store().put_token(token, now).await?;
        Ok(secret)
    }

    /// What would be linked with whoever is signed in now, to be shown before it is.
    ///
    /// # Errors
    /// `TokenInvalid` when nothing waits; "forbidden" when this sign-in proves nothing new.
    pub async fn pending_tenant_link(
        &self,
        actor: &Actor,
        arrival: &Arrival,
        secret: &Secret,
    ) -> Result<PendingLink, AppError> {
        let sign_in = self.browser_of(actor, arrival).await?;
        let token = self.store().read_token(&secret.hash(), PURPOSE, self.now()).await?;
        Ok(self.both_proved(&sign_in, token).await?.0)
    }

    /// Links whoever is signed in now with whoever began.
    ///
    /// # Errors
    /// As [`pending_tenant_link`](Self::pending_tenant_link). The beginning is used up whatever happens.
    pub async fn finish_tenant_link(
        &self,
        actor: &Actor,
        arrival: &Arrival,
        secret: &Secret,
    ) -> Result<(), AppError> {
        let sign_in = self.browser_of(actor, arrival).await?;
        let token = self.store().take_token(&secret.hash(), PURPOSE, self.now()).await?;
        let (pending, begun) = self.both_proved(&sign_in, token).await?;
        let known = self.store().linked_users(&pending.tenant.id, &pending.principal.id).await?;
        let own = self.store().linked_users(&actor.tenant, &actor.principal).await?;
        if known.len().max(own.len()) >= MOST {
            return Err(AppError::invalid(format!("one user is linked with at most {MOST} others"))
                .with_hint("remove an organisation you do not need any more"));
        }
        // Invariant: these two and nobody else. What either is linked with was proved by others' sign-ins, and must end
        // with theirs.
        let other = pending.principal;
        let new = (&actor.tenant, &actor.principal, sign_in.method.as_str());
        self.write_link(new, (&other.tenant, &other.id, &begun.proof)).await
    }

    /// Forgets a beginning: the person said no.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn drop_tenant_link(&self, secret: &Secret) -> Result<(), AppError> {
        self.store().take_token(&secret.hash(), PURPOSE, self.now()).await?;
        Ok(())
    }

    /// Links of this tenant's users (or of one), for those who manage principals, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage principals.
    pub async fn list_tenant_links(
        &self,
        actor: &Actor,
        principal: Option<&PrincipalId>,
        after: Option<TenantLinkId>,
        limit: u32,
    ) -> Result<(Vec<TenantLink>, Option<TenantLinkId>), AppError> {
        self.require(actor, Area::Principals)?;
        let mut found = self.store().tenant_links(&actor.tenant, principal, after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|link| link.id);
        Ok((found, next))
    }

    /// Ends a link of one of this tenant's users. Whoever came in by it is out.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage principals.
    pub async fn end_tenant_link(&self, actor: &Actor, id: TenantLinkId) -> Result<(), AppError> {
        self.require(actor, Area::Principals)?;
        let found = self.store().tenant_link(&actor.tenant, id).await?;
        self.end_link(actor, &found.ok_or(AppError::NotFound { what: "link" })?).await
    }

    /// Ends both halves, the one given first. Without it the link holds no more, whatever becomes of the other.
    pub(crate) async fn end_link(&self, actor: &Actor, link: &TenantLink) -> Result<(), AppError> {
        let by = (&actor.tenant, &actor.principal);
        self.end_half(by, link).await?;
        self.end_other_half(by, link).await;
        Ok(())
    }

    /// Ends the half of the other tenant, which holds nothing any more.
    async fn end_other_half(&self, by: (&TenantId, &PrincipalId), link: &TenantLink) {
        match self.end_half(by, &link.other_half("")).await {
            Err(AppError::NotFound { .. }) | Ok(()) => {}
            Err(cause) => tracing::warn!(error = %cause, "a link has ended on one side only"),
        }
    }

    async fn end_half(&self, by: (&TenantId, &PrincipalId), half: &TenantLink) -> Result<(), AppError> {
        let summary = half.unlinked(by.0);
        let write = Write::UnlinkTenant { id: half.id };
        // The other tenant knows its own people only, and may have someone of the same name.
        let who = if half.tenant == *by.0 { by.1 } else { &half.principal }.clone();
        self.commit(AdminChange::new(half.tenant.clone(), who, self.now(), &summary, vec![write])).await
    }

    /// What a user's password has linked them with.
    pub(crate) async fn links_by_password(
        &self,
        tenant: &TenantId,
        user: &PrincipalId,
    ) -> Result<Vec<TenantLink>, AppError> {
        let most = u32::try_from(MOST).unwrap_or(u32::MAX).saturating_mul(2);
        let mut links = self.store().tenant_links(tenant, Some(user), None, most).await?;
        links.retain(|link| link.proof == BY_PASSWORD);
        Ok(links)
    }

    /// Links users who are one person at an identity provider, as far as their tenants still take its word. What was
    /// ended once is not made again.
    pub(crate) async fn link_by_identity(
        &self,
        user: &Principal,
        identity: &Identity,
        provider: &str,
    ) -> Result<(), AppError> {
        for other in self.store().users_of_identity(&identity.issuer, &identity.sub).await? {
            let vouched = self.entrance.providers.iter().find(|connected| {
                connected.tenant == other.tenant
                    && connected.provider.issuer() == Some(identity.issuer.as_str())
            });
            let Some(vouched) = vouched.filter(|_| other.tenant != user.tenant) else { continue };
            let (one, two) = ((&user.tenant, &user.id), (&other.tenant, &other.id));
            if !self.may_come_in(&other).await? || self.store().were_linked(one, two).await? {
                continue;
            }
            self.write_link((one.0, one.1, provider), (two.0, two.1, &vouched.name)).await?;
        }
        Ok(())
    }

    /// Whether a beginning and this sign-in are proof of two users of two tenants: the sign-in was made after the
    /// beginning, by a proof of its own.
    async fn both_proved(
        &self,
        sign_in: &SignIn,
        token: Option<OneTimeToken>,
    ) -> Result<(PendingLink, Begun), AppError> {
        let token = token.ok_or(AppError::TokenInvalid)?;
        let begun: Begun = serde_json::from_str(token.data.as_str()).map_err(|_| AppError::TokenInvalid)?;
        if token.tenant == sign_in.tenant {
            return Err(AppError::invalid("you signed in to the organisation you began in")
                .with_hint("begin again and sign in to the other one"));
        }
        if sign_in.switched.is_some() || sign_in.created_at < begun.at {
            return Err(AppError::forbidden("this sign-in is no proof of who you are in this organisation")
                .with_hint("begin again and sign in to it"));
        }
        let (tenant, id) = (token.tenant, token.principal.ok_or(AppError::TokenInvalid)?);
        let user = self.store().principal(&tenant, &id).await?.ok_or(AppError::TokenInvalid)?;
        let found = self.store().tenant(&tenant).await?.ok_or(AppError::TokenInvalid)?;
        if user.disabled || found.disabled {
            return Err(AppError::TokenInvalid);
        }
        Ok((PendingLink { tenant: found, principal: user }, begun))
    }

    /// Writes both halves, each in its tenant's record. With one alone nothing holds.
    async fn write_link(
        &self,
        (tenant, principal, proof): (&TenantId, &PrincipalId, &str),
        (other_tenant, other_principal, other_proof): (&TenantId, &PrincipalId, &str),
    ) -> Result<(), AppError> {
        let link = TenantLink {
            id: TenantLinkId::generate(),
            tenant: tenant.clone(),
            principal: principal.clone(),
            other_tenant: other_tenant.clone(),
            other_principal: other_principal.clone(),
            proof: proof.to_owned(),
            made_at: self.now(),
        };
        for half in [link.other_half(other_proof), link] {
            let summary = json!({
                "action": "user.linked", "principal": half.principal, "other_tenant": half.other_tenant,
                "link": half.id, "proof": half.proof,
            });
            let (tenant, by) = (half.tenant.clone(), half.principal.clone());
            let write = Write::LinkTenant(Box::new(half));
            self.commit(AdminChange::new(tenant, by, self.now(), &summary, vec![write])).await?;
        }
        Ok(())
    }

    /// Forgets what a password that is replaced has begun, and lets the other tenants know which links it made. (These
    /// have ended in the same change as the password, and this tenant's record tells of each.)
    pub(crate) async fn void_tenant_links(
        &self,
        tenant: &TenantId,
        user: &PrincipalId,
        made: &[TenantLink],
    ) -> Result<(), AppError> {
        self.store().void_tokens(tenant, user, PURPOSE).await?;
        for link in made {
            self.end_other_half((tenant, user), link).await;
        }
        Ok(())
    }
}

/// What goes with a new password: whoever knew the old one may have linked themselves with it.
pub(crate) fn unlink_by_password(user: &PrincipalId) -> Write {
    Write::UnlinkTenants { principal: user.clone(), proof: BY_PASSWORD.to_owned() }
}

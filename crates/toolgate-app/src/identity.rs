//! A person signs in with an identity provider: sent there, back with proof, and found or made here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::Expect;
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::port::identity::{Binding, Identity, IdentityError, IdentityProvider};
use toolgate_core::principal::{OneTimeToken, Principal};
use toolgate_core::{AccessRules, JsonText};

use crate::attempts::address_bucket;
use crate::secret::Secret;
use crate::sign_in::{Arrival, SignedIn, user_id};
use crate::{App, AppError};

/// How long someone may take at the provider.
const JOURNEY_LASTS: Duration = Duration::from_secs(600);
const PURPOSE: &str = "oidc";
const MAX_TITLE: usize = 200;

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

/// Someone on their way to a provider.
#[derive(Debug)]
pub struct Departure {
    /// Where the browser goes.
    pub url: String,
    /// What it keeps until it is back. State, nonce and PKCE verifier are all made from it, so that none of them has
    /// to be stored, and none is worth anything in another browser.
    pub cookie: Secret,
}

/// Someone back from a provider.
#[derive(Debug)]
pub struct Return<'a> {
    /// What the browser kept.
    pub cookie: Option<Secret>,
    /// What the provider handed back.
    pub state: &'a str,
    /// The proof to exchange; none when the provider refused.
    pub code: Option<&'a str>,
    /// Where the answer says it comes from.
    pub issuer: Option<&'a str>,
}

/// What is remembered of someone on their way. Nothing secret.
#[derive(Debug, Serialize, Deserialize)]
struct Journey {
    provider: String,
    redirect_uri: String,
    return_to: String,
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
    /// Sends someone to a provider, to be back at `redirect_uri` and then to go on to `return_to`.
    ///
    /// # Errors
    /// When there is no such provider, it does not answer, or too many set out from one address.
    pub async fn depart(
        &self,
        provider: &str,
        redirect_uri: String,
        return_to: String,
        arrival: &Arrival,
    ) -> Result<Departure, AppError> {
        let connected = self.provider(provider)?;
        self.entrance.journeys.take(&address_bucket(arrival.peer))?;
        let cookie = Secret::generate()?;
        let journey = Journey { provider: connected.name.clone(), redirect_uri, return_to };
        let url =
            connected.provider.sign_in_url(&Papers::of(&cookie).binding(&journey)).await.map_err(fault)?;
        let now = self.now();
        let token = OneTimeToken {
            hash: cookie.hash(),
            purpose: PURPOSE.to_owned(),
            tenant: connected.tenant.clone(),
            principal: None,
            data: JsonText::from_serialize(&journey)
                .map_err(toolgate_core::port::store::StoreError::unavailable)?,
            expires_at: now.plus(JOURNEY_LASTS),
        };
        self.store().put_token(token, now).await?;
        Ok(Departure { url, cookie })
    }

    /// Signs in someone who is back from a provider. Answers also where they wanted to go.
    ///
    /// # Errors
    /// When what they bring proves nothing, the provider does not answer, or they are not let in.
    pub async fn come_back(
        &self,
        provider: &str,
        back: Return<'_>,
        arrival: &Arrival,
    ) -> Result<(SignedIn, String), AppError> {
        let connected = self.provider(provider)?;
        let by_address = address_bucket(arrival.peer);
        self.entrance.addresses.take(&by_address)?;
        let journey = self.end_journey(connected, &back).await?;
        let (cookie, journey) = journey.ok_or_else(|| {
            refuse(IdentityFault::Invalid, "this is not the end of a sign-in that began in this browser")
        })?;
        self.entrance.addresses.give_back(&by_address);
        let Some(code) = back.code else {
            return Err(refuse(IdentityFault::Refused, "the identity provider did not let you in"));
        };
        let binding_parts = Papers::of(&cookie);
        let binding = binding_parts.binding(&journey);
        let identity = connected.provider.identify(&binding, code, back.issuer).await.map_err(fault)?;
        let user = self.user_of(connected, &identity).await?;
        let signed_in = self.begin_sign_in(user, &connected.name, arrival).await?;
        Ok((signed_in, journey.return_to))
    }

    /// Uses up the journey that this browser began with this provider, if the state is its own.
    async fn end_journey(
        &self,
        connected: &ConnectedProvider,
        back: &Return<'_>,
    ) -> Result<Option<(Secret, Journey)>, AppError> {
        let Some(cookie) = &back.cookie else { return Ok(None) };
        // The state is checked first: a page that sends a browser here with another one ends no journey.
        if !same(&Papers::of(cookie).state, back.state) {
            return Ok(None);
        }
        let taken = self.store().take_token(&cookie.hash(), PURPOSE, self.now()).await?;
        let journey = taken.and_then(|token| serde_json::from_str::<Journey>(token.data.as_str()).ok());
        Ok(journey
            .filter(|journey| journey.provider == connected.name)
            .map(|journey| (cookie.clone(), journey)))
    }

    fn provider(&self, name: &str) -> Result<&ConnectedProvider, AppError> {
        let found = self.entrance.providers.iter().find(|provider| provider.name == name);
        found.ok_or(AppError::NotFound { what: "identity provider" })
    }

    /// Who this identity is here: found by who they are at the provider, or linked, or made.
    async fn user_of(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
    ) -> Result<Principal, AppError> {
        let known =
            self.store().principal_by_identity(&connected.tenant, &identity.issuer, &identity.sub).await?;
        let user = match known {
            Some(user) => self.bring_roles_up_to_date(connected, identity, user).await?,
            None => self.link_or_make(connected, identity).await?,
        };
        if self.may_come_in(&user).await? {
            Ok(user)
        } else {
            Err(refuse(IdentityFault::Refused, "you are not let in here any more"))
        }
    }

    async fn bring_roles_up_to_date(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
        mut user: Principal,
    ) -> Result<Principal, AppError> {
        let roles = connected.roles_of(identity);
        if connected.roles.is_empty() || user.roles == roles {
            return Ok(user);
        }
        user.roles = roles;
        let writes =
            vec![Write::PutPrincipal { principal: Box::new(user.clone()), expect: Expect::Anything }];
        self.write_user(connected, &user, "user.roles_by_provider", writes).await?;
        Ok(user)
    }

    async fn link_or_make(
        &self,
        connected: &ConnectedProvider,
        identity: &Identity,
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
            self.write_user(connected, &user, "user.link", writes).await?;
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
        self.write_user(connected, &user, "user.create_by_provider", writes).await?;
        Ok(user)
    }

    async fn write_user(
        &self,
        connected: &ConnectedProvider,
        user: &Principal,
        action: &str,
        writes: Vec<Write>,
    ) -> Result<(), AppError> {
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

/// What a browser's secret makes for a journey.
struct Papers {
    state: String,
    nonce: String,
    verifier: String,
}

impl Papers {
    fn of(cookie: &Secret) -> Self {
        let (state, nonce, verifier) =
            (cookie.derive("state"), cookie.derive("nonce"), cookie.derive("pkce"));
        Self { state, nonce, verifier }
    }

    fn binding<'a>(&'a self, journey: &'a Journey) -> Binding<'a> {
        Binding {
            redirect_uri: &journey.redirect_uri,
            state: &self.state,
            nonce: &self.nonce,
            verifier: &self.verifier,
        }
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

fn same(one: &str, other: &str) -> bool {
    use subtle::ConstantTimeEq;
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn fault(cause: IdentityError) -> AppError {
    // What exactly went wrong helps the operator and nobody else.
    tracing::warn!(error = %cause, "a sign-in with an identity provider failed");
    match cause {
        IdentityError::Untrusted(_) => {
            refuse(IdentityFault::Invalid, "the identity provider's answer could not be verified")
        }
        _ => refuse(IdentityFault::Unavailable, "the identity provider does not answer as it should"),
    }
}

fn refuse(fault: IdentityFault, message: &'static str) -> AppError {
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

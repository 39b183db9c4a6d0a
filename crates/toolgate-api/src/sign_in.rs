//! Signing in, on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::principal::SignIn;
use utoipa::ToSchema;

use crate::rfc3339;

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = Password)]
pub struct SecretText(String);

impl SecretText {
    /// The text itself.
    #[must_use]
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Signs a person in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInRequest {
    /// In which tenant; `default` when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Who: the part of the principal after `user:`.
    #[schema(example = "ada@example.com")]
    pub login: String,
    /// The password.
    pub password: SecretText,
}

/// Changes one's own password.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePasswordRequest {
    /// The password so far.
    pub current: SecretText,
    /// The password from now on: 12 to 256 characters.
    pub new: SecretText,
}

/// Uses a set-up link or an invitation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptRequest {
    /// The link's token.
    pub token: SecretText,
    /// What to sign in as; only a set-up link lets you choose. `admin` when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The password from now on: 12 to 256 characters.
    pub password: SecretText,
    /// What people should call you.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Who is signed in with this browser.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SignedInView {
    /// This sign-in.
    #[schema(pattern = "^sin_[0-9a-f]{32}$")]
    pub id: String,
    /// Who.
    #[schema(example = "user:ada@example.com")]
    pub principal: String,
    /// In which tenant.
    pub tenant: String,
    /// Their roles.
    pub roles: Vec<String>,
    /// How they signed in: `password` or the name of an identity provider.
    #[schema(example = "password")]
    pub method: String,
    /// What every changing request by this browser sends as `X-Toolgate-CSRF`.
    pub csrf_token: String,
    /// When they signed in.
    pub created_at: String,
    /// When it ends unless it is used before.
    pub expires_at: String,
}

/// One sign-in of one's own.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SignInView {
    /// Its id.
    #[schema(pattern = "^sin_[0-9a-f]{32}$")]
    pub id: String,
    /// How: `password` or the name of an identity provider.
    pub method: String,
    /// The browser, as it names itself.
    pub user_agent: String,
    /// The tenant it is in now: another one where you switched.
    pub tenant: String,
    /// Whether it is the one this request came with.
    pub current: bool,
    /// When.
    pub created_at: String,
    /// When it was last used, to within a minute.
    pub last_seen_at: String,
    /// When it ends unless it is used before.
    pub expires_at: String,
}

impl SignInView {
    /// A sign-in, as seen from another or from itself.
    #[must_use]
    pub fn new(sign_in: SignIn, current: bool) -> Self {
        Self {
            id: sign_in.id.to_string(),
            method: sign_in.method,
            user_agent: sign_in.user_agent,
            tenant: sign_in.tenant.to_string(),
            current,
            created_at: rfc3339(sign_in.created_at),
            last_seen_at: rfc3339(sign_in.last_seen_at),
            expires_at: rfc3339(sign_in.expires_at),
        }
    }
}

/// One's own sign-ins.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SignInListView {
    /// The sign-ins, newest first.
    pub sign_ins: Vec<SignInView>,
}

/// The ways to sign in to a tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SignInMethodsView {
    /// Whether a password can be used.
    pub password: bool,
    /// Identity providers.
    pub providers: Vec<IdentityProviderView>,
    /// Whether nobody can sign in yet: the server printed a set-up link when it started.
    pub set_up_needed: bool,
}

/// An identity provider to sign in with.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct IdentityProviderView {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Where a browser begins; `?return_to=/path` says where it ends.
    #[schema(example = "/auth/oidc/company/start")]
    pub start: String,
}

/// An invitation, shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InvitationView {
    /// The link. Whoever opens it first becomes this user.
    pub url: String,
    /// Until when it works.
    pub expires_at: String,
}

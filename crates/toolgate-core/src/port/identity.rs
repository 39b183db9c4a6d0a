//! Where people are known who are not known here: an identity provider.

use async_trait::async_trait;

/// What binds a sign-in to the browser that began it. All of it is made here and comes back, or nobody gets in.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// Where the provider sends the browser back to.
    pub redirect_uri: &'a str,
    /// What the provider hands back with the answer.
    pub state: &'a str,
    /// What the provider writes into the identity.
    pub nonce: &'a str,
    /// What only the one who asked can show (PKCE).
    pub verifier: &'a str,
}

impl std::fmt::Debug for Binding<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binding").field("redirect_uri", &self.redirect_uri).finish_non_exhaustive()
    }
}

/// A person, as a provider vouches for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The provider.
    pub issuer: String,
    /// The person there; never given to anyone else.
    pub sub: String,
    /// Their address.
    pub email: Option<String>,
    /// Whether the provider knows that the address is theirs.
    pub email_verified: bool,
    /// What they are called there when they sign in.
    pub username: Option<String>,
    /// What people call them.
    pub title: Option<String>,
    /// The groups they are in.
    pub groups: Vec<String>,
}

/// Why a provider could not say who it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// It can't be reached, or does not answer as providers do.
    #[error("the identity provider does not answer as it should: {0}")]
    Unavailable(String),
    /// What came back does not prove anything.
    #[error("the identity provider's answer can't be trusted: {0}")]
    Untrusted(String),
}

/// An identity provider. Slow and out of our hands: nothing else may wait for it.
#[async_trait]
pub trait IdentityProvider: Send + Sync {
    /// The issuer whose people it vouches for; none where it signs nobody in.
    fn issuer(&self) -> Option<&str> {
        None
    }

    /// Where to send a browser that wants to sign in.
    async fn sign_in_url(&self, binding: &Binding<'_>) -> Result<String, IdentityError>;

    /// Who came back with this code. `issuer` is what the answer itself says of where it comes from, if it does.
    async fn identify(
        &self,
        binding: &Binding<'_>,
        code: &str,
        issuer: Option<&str>,
    ) -> Result<Identity, IdentityError>;
}

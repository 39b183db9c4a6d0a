//! What people let applications do is kept here; and where other servers' applications and tokens are asked about.

use async_trait::async_trait;

use crate::id::{OauthGrantId, PrincipalId, TenantId};
use crate::oauth::{OauthGrant, OauthHolder, OauthRegistration, OauthToken};
use crate::port::identity::{Identity, IdentityError};
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// Grants and their tokens. Grants are made and taken back by an
/// [`AdminChange`](crate::administration::AdminChange), so that the record and all nodes know.
#[async_trait]
pub trait OauthStore: Send + Sync {
    /// Writes a token. A taken hash or an unknown grant is `Refused`.
    async fn put_oauth_token(&self, token: OauthToken) -> Result<(), StoreError>;

    /// The token with this hash, its grant and who gave it, whether it still works or not.
    async fn oauth_token(&self, hash: &[u8; 32]) -> Result<Option<OauthHolder>, StoreError>;

    /// Uses up a token at a moment and writes those that take its place, as one; the grant then ends at `ends`, never
    /// earlier than before. A token that is used, or over, or whose grant was taken back or is over, answers
    /// [`StoreError::Conflict`] and nothing is written: however many ask at once, one gets through. An unknown one is
    /// a [`StoreError::NotFound`].
    async fn exchange_oauth_token(
        &self,
        hash: &[u8; 32],
        at: Timestamp,
        new: Vec<OauthToken>,
        ends: Timestamp,
    ) -> Result<(), StoreError>;

    /// One grant of this tenant.
    async fn oauth_grant(
        &self,
        tenant: &TenantId,
        id: OauthGrantId,
    ) -> Result<Option<OauthGrant>, StoreError>;

    /// Grants of one person (or all) that work at `now`, after `after`, in order of id.
    async fn oauth_grants(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        now: Timestamp,
        after: Option<OauthGrantId>,
        limit: u32,
    ) -> Result<Vec<OauthGrant>, StoreError>;

    /// Notes when these grants were last used. Never moves a time back.
    async fn touch_oauth_grants(&self, uses: &[(OauthGrantId, Timestamp)]) -> Result<(), StoreError>;

    /// Writes what an application said of itself, unless there are `most` of them: then `Conflict`.
    async fn put_oauth_registration(
        &self,
        registration: OauthRegistration,
        most: u32,
    ) -> Result<(), StoreError>;

    /// The application that named itself so.
    async fn oauth_registration(&self, client_id: &str) -> Result<Option<OauthRegistration>, StoreError>;

    /// Notes that a person let it in.
    async fn touch_oauth_registration(&self, client_id: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Forgets tokens and grants that ended before one moment, and applications that named themselves before another
    /// and were not let in since. The record keeps who let in whom.
    async fn forget_oauth(&self, ended: Timestamp, unseen: Timestamp) -> Result<(), StoreError>;
}

/// Fetches the document that an application's id is the address of. Any address can be written into a request: what
/// implements this keeps to public addresses, and to small and quick answers.
#[async_trait]
pub trait ClientDocuments: Send + Sync {
    /// The document's text.
    ///
    /// # Errors
    /// Why there is none, safe to show.
    async fn fetch(&self, url: &str) -> Result<String, String>;
}

/// A person, as another server's access token vouches for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// Who.
    pub identity: Identity,
    /// What the token says it may do, in that server's words.
    pub scopes: Vec<String>,
    /// When it stops working.
    pub expires_at: Timestamp,
}

/// Checks access tokens of one other issuer.
#[async_trait]
pub trait TokenVerifier: Send + Sync {
    /// Whether a token says it is of this issuer, before anything is checked.
    fn is_issuer_of(&self, token: &str) -> bool;

    /// Who a token speaks for.
    ///
    /// # Errors
    /// `Untrusted` when it is not this issuer's, not for us, or over; `Unavailable` when the issuer's keys can't be
    /// had.
    async fn verify(&self, token: &str, now: Timestamp) -> Result<Vouched, IdentityError>;
}

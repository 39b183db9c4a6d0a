//! What people let applications do goes through untouched.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::id::{OauthGrantId, PrincipalId, TenantId};
use toolgate_core::oauth::{OauthGrant, OauthHolder, OauthRegistration, OauthToken};
use toolgate_core::port::oauth::OauthStore;

use super::{Answer, Losing};

#[async_trait]
impl OauthStore for Losing {
    async fn put_oauth_token(&self, token: OauthToken) -> Answer<()> {
        self.store.put_oauth_token(token).await
    }
    async fn oauth_token(&self, hash: &[u8; 32]) -> Answer<Option<OauthHolder>> {
        self.store.oauth_token(hash).await
    }
    async fn exchange_oauth_token(
        &self,
        hash: &[u8; 32],
        at: Timestamp,
        new: Vec<OauthToken>,
        ends: Timestamp,
    ) -> Answer<()> {
        self.store.exchange_oauth_token(hash, at, new, ends).await
    }
    async fn oauth_grant(&self, tenant: &TenantId, id: OauthGrantId) -> Answer<Option<OauthGrant>> {
        self.store.oauth_grant(tenant, id).await
    }
    async fn oauth_grants(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        now: Timestamp,
        after: Option<OauthGrantId>,
        limit: u32,
    ) -> Answer<Vec<OauthGrant>> {
        self.store.oauth_grants(tenant, principal, now, after, limit).await
    }
    async fn touch_oauth_grants(&self, uses: &[(OauthGrantId, Timestamp)]) -> Answer<()> {
        self.store.touch_oauth_grants(uses).await
    }
    async fn put_oauth_registration(&self, registration: OauthRegistration, most: u32) -> Answer<()> {
        self.store.put_oauth_registration(registration, most).await
    }
    async fn oauth_registration(&self, client_id: &str) -> Answer<Option<OauthRegistration>> {
        self.store.oauth_registration(client_id).await
    }
    async fn touch_oauth_registration(&self, client_id: &str, at: Timestamp) -> Answer<()> {
        self.store.touch_oauth_registration(client_id, at).await
    }
    async fn forget_oauth(&self, ended: Timestamp, unseen: Timestamp) -> Answer<()> {
        self.store.forget_oauth(ended, unseen).await
    }
}

//! No application was ever let in to a store that keeps nothing.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::id::{OauthGrantId, PrincipalId, TenantId};
use toolgate_core::oauth::{OauthGrant, OauthHolder, OauthRegistration, OauthToken};
use toolgate_core::port::oauth::OauthStore;
use toolgate_core::port::store::StoreError;

use crate::Forgetful;

type Answer<T> = Result<T, StoreError>;

#[async_trait]
impl OauthStore for Forgetful {
    async fn put_oauth_token(&self, _: OauthToken) -> Answer<()> {
        Ok(())
    }
    async fn oauth_token(&self, _: &[u8; 32]) -> Answer<Option<OauthHolder>> {
        Ok(None)
    }
    async fn exchange_oauth_token(
        &self,
        _: &[u8; 32],
        _: Timestamp,
        _: Vec<OauthToken>,
        _: Timestamp,
    ) -> Answer<()> {
        Err(StoreError::NotFound)
    }
    async fn oauth_grant(&self, _: &TenantId, _: OauthGrantId) -> Answer<Option<OauthGrant>> {
        Ok(None)
    }
    async fn oauth_grants(
        &self,
        _: &TenantId,
        _: Option<&PrincipalId>,
        _: Timestamp,
        _: Option<OauthGrantId>,
        _: u32,
    ) -> Answer<Vec<OauthGrant>> {
        Ok(Vec::new())
    }
    async fn touch_oauth_grants(&self, _: &[(OauthGrantId, Timestamp)]) -> Answer<()> {
        Ok(())
    }
    async fn put_oauth_registration(&self, _: OauthRegistration, _: u32) -> Answer<()> {
        Ok(())
    }
    async fn oauth_registration(&self, _: &str) -> Answer<Option<OauthRegistration>> {
        Ok(None)
    }
    async fn touch_oauth_registration(&self, _: &str, _: Timestamp) -> Answer<()> {
        Ok(())
    }
    async fn forget_oauth(&self, _: Timestamp, _: Timestamp) -> Answer<()> {
        Ok(())
    }
}

//! Taking back what an application was allowed: by the application itself (RFC 7009), or because a token was stolen.

use std::net::IpAddr;

use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::oauth::OauthGrant;

use super::{ClientProof, OauthError};
use crate::attempts::address_bucket;
use crate::authenticate::hash_key;
use crate::{App, AppError};

impl App {
    /// Ends the grant that a token stands for, access and refresh tokens alike. One that is not known is no error: it
    /// does not work.
    ///
    /// # Errors
    /// When the application is not the one it was given to, or too many unknown ones came from one address.
    pub async fn revoke_oauth_token(
        &self,
        token: &str,
        client: &ClientProof,
        peer: IpAddr,
    ) -> Result<(), OauthError> {
        let by_address = address_bucket(peer);
        self.oauth.exchanges.take(&by_address)?;
        let Some(holder) = self.store().oauth_token(&hash_key(token)).await? else { return Ok(()) };
        self.prove_oauth_client(&holder.grant, client).await?;
        self.oauth.exchanges.give_back(&by_address);
        if holder.grant.revoked_at.is_none() {
            self.end_oauth_grant(&holder.grant, "the application gave it back").await?;
        }
        Ok(())
    }

    pub(super) async fn end_oauth_grant(&self, grant: &OauthGrant, why: &str) -> Result<(), AppError> {
        let summary =
            json!({ "action": "oauth.revoked", "grant": grant.id, "client": grant.client_id, "reason": why });
        let writes = vec![Write::RevokeOauthGrant { id: grant.id }];
        let (tenant, by) = (grant.tenant.clone(), grant.principal.clone());
        self.commit(AdminChange::new(tenant, by, self.now(), &summary, writes)).await
    }
}

//! How an application proves to be the one that a person let in.

use toolgate_core::oauth::OauthGrant;

use super::client::is_secret;
use super::exchange::invalid_grant;
use super::{OauthCode, OauthError};
use crate::App;

/// How an application says who it is.
#[derive(Clone, Default)]
pub struct ClientProof {
    /// Its id.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub secret: Option<String>,
}

impl std::fmt::Debug for ClientProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientProof").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl App {
    /// Whether it is the application that a grant was given to.
    pub(super) async fn prove_oauth_client(
        &self,
        grant: &OauthGrant,
        proof: &ClientProof,
    ) -> Result<(), OauthError> {
        let unproven = |why: &str| OauthError::new(OauthCode::InvalidClient, why);
        let client_id = proof.client_id.as_deref().ok_or_else(|| unproven("`client_id` is missing"))?;
        if client_id != grant.client_id {
            return Err(invalid_grant("it was not given to this application"));
        }
        // One whose id is an address has no secret; whoever shows its code or token also knew the verifier.
        if client_id.starts_with("https://") {
            return Ok(());
        }
        let known = self.kept_client(&grant.tenant, client_id).await?;
        let client = known.ok_or_else(|| unproven("there is no application with this id any more"))?;
        match (&client.secret_hash, &proof.secret) {
            (None, _) => Ok(()),
            (Some(kept), Some(shown)) if is_secret(shown, kept) => Ok(()),
            (Some(_), _) => Err(unproven("the application did not prove who it is")),
        }
    }
}

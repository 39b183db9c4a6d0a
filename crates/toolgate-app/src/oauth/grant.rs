//! What people let applications do: seen by them, and taken back.

use std::time::Duration;

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::document::Area;
use toolgate_core::id::{OauthGrantId, PrincipalId};
use toolgate_core::oauth::OauthGrant;
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Timestamp};

use super::GRANT_IDLE;
use crate::{App, AppError};

/// How long what ended is still known.
const ENDED_KEPT: Duration = Duration::from_secs(24 * 3600);

impl App {
    /// Grants that work, after `after`, and where the next part starts: one's own; or for those who manage
    /// applications those of one person, or all.
    ///
    /// # Errors
    /// "Forbidden" for other people's, and for a narrowed credential.
    pub async fn list_oauth_grants(
        &self,
        actor: &Actor,
        principal: Option<PrincipalId>,
        everyones: bool,
        after: Option<OauthGrantId>,
        limit: u32,
    ) -> Result<(Vec<OauthGrant>, Option<OauthGrantId>), AppError> {
        handles_grants(actor)?;
        let whose = match (principal, everyones) {
            (None, true) => None,
            (principal, _) => Some(principal.unwrap_or_else(|| actor.principal.clone())),
        };
        if whose.as_ref() != Some(&actor.principal) {
            self.require(actor, Area::OauthClients)?;
        }
        let found = self.store().oauth_grants(&actor.tenant, whose.as_ref(), self.now(), after, limit + 1);
        let mut found = found.await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|grant| grant.id);
        Ok((found, next))
    }

    /// Takes a grant back: one's own, or any for those who manage applications. Its tokens stop working at once here,
    /// and on other nodes within a second.
    ///
    /// # Errors
    /// "Not found" for other people's, as for one that is not there.
    pub async fn revoke_oauth_grant(&self, actor: &Actor, id: OauthGrantId) -> Result<(), AppError> {
        handles_grants(actor)?;
        let missing = AppError::NotFound { what: "grant" };
        let found = self.store().oauth_grant(&actor.tenant, id).await?;
        let own = found.as_ref().is_some_and(|grant| grant.principal == actor.principal);
        if !own && self.require(actor, Area::OauthClients).is_err() {
            return Err(missing);
        }
        let grant = found.ok_or(missing)?;
        let summary = json!({
            "action": "oauth.revoked", "grant": id, "client": grant.client_id, "principal": grant.principal,
        });
        self.change(actor, summary, vec![Write::RevokeOauthGrant { id }]).await
    }
}

impl App {
    /// Forgets what ended a while ago. Used codes and refresh tokens are known until then, so that a second use is
    /// noticed.
    pub(crate) async fn forget_oauth(&self) -> Result<(), StoreError> {
        let now = self.now().as_micros();
        let ago = |while_: Duration| {
            Timestamp::from_micros(now.saturating_sub(i64::try_from(while_.as_micros()).unwrap_or(i64::MAX)))
        };
        self.store().forget_oauth(ago(ENDED_KEPT), ago(GRANT_IDLE)).await
    }
}

/// An application does not look after what applications are allowed, nor does a key that is for something else.
fn handles_grants(actor: &Actor) -> Result<(), AppError> {
    if actor.scopes.may_manage(Area::OauthClients) {
        return Ok(());
    }
    Err(AppError::Forbidden {
        message: "this credential's scopes do not let it look after applications".to_owned(),
        rule: Some("key scopes".to_owned()),
        hint: Some("sign in, or use a key with the scope `manage:oauth_clients`".to_owned()),
    })
}

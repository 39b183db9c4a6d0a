//! How a server is told who we are, one request at a time.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::connection::{Credentials, Presented, Whose};
use toolgate_core::upstream::UpstreamAuth;

use crate::secrets::Secrets;

/// A server's refusal of what was presented.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    /// 401 or 403.
    pub(crate) status: u16,
    /// Its `WWW-Authenticate`.
    pub(crate) challenge: Option<&'a str>,
    /// How often this request was refused before.
    pub(crate) before: u32,
}

/// What opens a server's door.
#[async_trait]
pub(crate) trait Keys: Send + Sync {
    /// What to present with the next request.
    async fn present(&self) -> Result<Vec<Presented>, CallError>;

    /// Takes note of a refusal. Ok means that presenting again may do.
    async fn refused(&self, refusal: Refusal<'_>) -> Result<(), CallError>;
}

/// Keys from the connection broker.
pub(crate) struct Brokered {
    credentials: Arc<dyn Credentials>,
    tenant: TenantId,
    service: String,
    auth: UpstreamAuth,
    person: Option<PrincipalId>,
    secrets: Secrets,
}

impl Brokered {
    pub(crate) fn new(
        credentials: Arc<dyn Credentials>,
        tenant: TenantId,
        server: &str,
        auth: UpstreamAuth,
        person: Option<PrincipalId>,
        secrets: Secrets,
    ) -> Self {
        Self { credentials, tenant, service: format!("mcp:{server}"), auth, person, secrets }
    }

    fn whose(&self) -> Option<Whose<'_>> {
        match (&self.auth, &self.person) {
            (UpstreamAuth::None, _) => None,
            (UpstreamAuth::Shared, _) => Some(Whose::Shared),
            (UpstreamAuth::PerUser, person) => person.as_ref().map(Whose::Person),
        }
    }

    fn needed(&self) -> CallError {
        CallError::new(
            ErrorCode::ConnectionNeeded,
            format!("`{}` does not accept the connection to it", self.service),
        )
        .hint("connect to it again")
        .details(json!({ "service": self.service }))
    }
}

#[async_trait]
impl Keys for Brokered {
    async fn present(&self) -> Result<Vec<Presented>, CallError> {
        match (&self.auth, self.whose()) {
            (_, Some(whose)) => {
                let presented = self.credentials.present(&self.tenant, &self.service, whose).await?;
                self.secrets.note(&presented);
                Ok(presented)
            }
            (UpstreamAuth::PerUser, None) => Err(CallError::new(
                ErrorCode::ConnectionNeeded,
                format!("`{}` is used with a connection of one's own, and nobody is calling", self.service),
            )
            .hint("ask as a person, or with a subject")),
            (_, None) => Ok(Vec::new()),
        }
    }

    async fn refused(&self, refusal: Refusal<'_>) -> Result<(), CallError> {
        let Some(whose) = self.whose() else {
            return Err(CallError::new(
                ErrorCode::UpstreamFailed,
                format!("`{}` wants to know who calls", self.service),
            )
            .hint("set `auth` of the server to `shared` or `per_user`, and connect to it"));
        };
        // A 403 is about this person's rights there; a fresh credential has the same ones.
        if refusal.status != 401 {
            return Err(CallError::new(
                ErrorCode::ConnectionNeeded,
                format!("`{}` says that the connection to it may not do this", self.service),
            )
            .hint("connect to it again with the rights it asks for")
            .details(json!({ "service": self.service })));
        }
        self.credentials.refused(&self.tenant, &self.service, whose).await;
        if refusal.before == 0 {
            return Ok(());
        }
        // Whoever keeps the connections knows by now where it is made again.
        let known = self.credentials.present(&self.tenant, &self.service, whose).await;
        Err(known.err().unwrap_or_else(|| self.needed()))
    }
}

//! Credentials for outside services, handed out for one call at a time. Only what sends them away asks for them.

use async_trait::async_trait;

use crate::error::CallError;
use crate::id::{ConnectionId, PrincipalId, TenantId};

/// A credential in the clear. It is wiped when dropped, prints as `***`, and is never written anywhere.
pub struct Opened(String);

impl Opened {
    /// A credential.
    #[must_use]
    pub const fn new(secret: String) -> Self {
        Self(secret)
    }

    /// The credential itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// How a credential is sent.
#[derive(Debug)]
pub enum Presented {
    /// As `Authorization: Bearer`.
    Bearer(Opened),
    /// As a header with this name.
    Header(String, Opened),
    /// As an environment variable with this name, for a process.
    Env(String, Opened),
}

/// Whose connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The one that all share.
    Shared,
    /// This person's.
    Person(&'a PrincipalId),
}

/// Hands out credentials for outside services.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Which connection to a service there is to use. Nothing is decrypted for this answer.
    ///
    /// # Errors
    /// `connection_needed` for one that is not there or has to be made again, with where to make it.
    async fn find(
        &self,
        tenant: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<ConnectionId, CallError>;

    /// The credentials for a service, fresh. A connection that is not there, or that has to be made again, answers
    /// `connection_needed` with where to make it.
    async fn present(
        &self,
        tenant: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<Vec<Presented>, CallError>;

    /// The service refused what was presented: the next who asks gets it refreshed, or is told to connect again.
    async fn refused(&self, tenant: &TenantId, service: &str, whose: Whose<'_>);
}

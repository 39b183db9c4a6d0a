//! Who carries a message to an address that the operator named.

use std::time::Duration;

use async_trait::async_trait;

/// A message as it goes out: a POST.
#[derive(Clone)]
pub struct Parcel {
    /// Where to. An address may be a secret by itself, so it is shown nowhere.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: String,
    /// How long the whole may take.
    pub within: Duration,
}

impl std::fmt::Debug for Parcel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parcel").field("bytes", &self.body.len()).field("within", &self.within).finish()
    }
}

/// What the other side said. Its body is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The HTTP status; a redirect is one and is not followed.
    pub status: u16,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why no answer came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undelivered(pub String);

/// Carries messages. Follows no redirect and reads no more of an answer than it must.
#[async_trait]
pub trait Courier: Send + Sync + std::fmt::Debug {
    /// Carries one message.
    ///
    /// # Errors
    /// Why no answer came, in words that name neither address nor secret.
    async fn carry(&self, parcel: Parcel) -> Result<Receipt, Undelivered>;
}

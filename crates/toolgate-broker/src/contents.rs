//! What is inside an envelope.

use serde::{Deserialize, Serialize};
use toolgate_core::Timestamp;
use zeroize::{Zeroize, Zeroizing};

/// What opens a connection. Wiped when dropped; prints as `***`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contents {
    /// What is sent.
    pub(crate) secret: String,
    /// What brings a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh: Option<String>,
    /// What shows that we are the client that may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_secret: Option<String>,
    /// When what is sent is over, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
}

impl Contents {
    pub(crate) fn of(secret: &str) -> Self {
        Self { secret: secret.to_owned(), refresh: None, client_secret: None, expires_at: None }
    }

    pub(crate) fn write(&self) -> Option<Zeroizing<Vec<u8>>> {
        serde_json::to_vec(self).ok().map(Zeroizing::new)
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        self.secret.zeroize();
        self.refresh.zeroize();
        self.client_secret.zeroize();
    }
}

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

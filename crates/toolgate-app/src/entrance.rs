//! What the ways in share: the limits on trying, the hasher, cookies seen a moment ago, identity providers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::Actor;

use crate::attempts::{Attempts, address_bucket};
use crate::identity::ConnectedProvider;
use crate::password::Hasher;
use crate::signed_in::KnownCookies;
use crate::{App, AppError};

/// Where people come in.
#[derive(Debug)]
pub(crate) struct Entrance {
    /// Failures of one login, wherever they come from.
    pub(crate) logins: Attempts,
    /// Failures from one address, whatever login they name. Wider: a whole office may share an address.
    pub(crate) addresses: Attempts,
    /// Dead links that were opened from one address. Apart from signing in: any page can make a browser open links.
    pub(crate) links: Attempts,
    /// Sign-ins begun at identity providers from one address; each is kept for a while.
    pub(crate) journeys: Attempts,
    /// Keys from one address that were none.
    pub(crate) keys: Attempts,
    /// Goings from tenant to tenant of one person: each is written into two records.
    pub(crate) switches: Attempts,
    pub(crate) hasher: Hasher,
    pub(crate) cookies: KnownCookies,
    pub(crate) providers: Vec<ConnectedProvider>,
}

impl Default for Entrance {
    fn default() -> Self {
        Self {
            logins: Attempts::new(10, Duration::from_secs(30)),
            addresses: Attempts::new(50, Duration::from_secs(6)),
            links: Attempts::new(50, Duration::from_secs(6)),
            journeys: Attempts::new(30, Duration::from_secs(2)),
            keys: Attempts::new(50, Duration::from_millis(200)),
            switches: Attempts::new(30, Duration::from_secs(2)),
            hasher: Hasher::default(),
            cookies: KnownCookies::default(),
            providers: Vec::new(),
        }
    }
}

impl App {
    /// Who a bearer key speaks for, asked from an address that may not send wrong ones without end: past a measure, the
    /// store is asked only about keys that have worked before. So nobody with a stale key shuts out their neighbours.
    ///
    /// # Errors
    /// When too many wrong keys came from there, or the store can't be asked.
    pub async fn authenticate_from(&self, key: &str, peer: IpAddr) -> Result<Option<Actor>, AppError> {
        self.measured(key, peer, || self.authenticate(key)).await
    }

    /// The same with any bearer credential, however it is looked up.
    pub(crate) async fn measured<T, F>(
        &self,
        credential: &str,
        peer: IpAddr,
        find: impl FnOnce() -> F,
    ) -> Result<Option<T>, AppError>
    where
        F: Future<Output = Result<Option<T>, AppError>>,
    {
        let keys = &self.entrance.keys;
        if !keys.is_unused()
            && let Err(too_many) = keys.look(&address_bucket(peer))
            && !self.has_worked(credential)
        {
            return Err(too_many);
        }
        let found = find().await?;
        if found.is_none() {
            // What does not fit any more was refused above, or will be.
            let _ = keys.take(&address_bucket(peer));
        }
        Ok(found)
    }

    /// The same with identity providers to sign in with.
    #[must_use]
    pub fn with_providers(mut self, providers: Vec<ConnectedProvider>) -> Self {
        self.entrance = Arc::new(Entrance { providers, ..Entrance::default() });
        self
    }
}

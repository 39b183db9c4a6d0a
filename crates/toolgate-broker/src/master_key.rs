//! Which master key a store is under, and moving it to another.

use std::collections::BTreeMap;

use toolgate_core::connection::KeyCheck;
use toolgate_core::port::connection_store::{ConnectionStore, StoredSecret};
use toolgate_core::port::store::StoreError;

use crate::envelope::{Belongs, EnvelopeError};
use crate::keyring::Keyring;

const PART: u32 = 200;
/// Of more secrets than this under other keys, the rest is not counted.
const MOST_LOOKED_AT: u32 = 10_000;

/// Why these master keys can't be used with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MasterKeyError {
    /// The store is under another key.
    #[error(
        "the secrets in this store are sealed under the master key `{wanted}`, which is not here: give it in \
         TOOLGATE_MASTER_KEY (or, beside a newer one, in TOOLGATE_MASTER_KEYS_OLD), or put back the `master.key` that \
         was made with the store"
    )]
    Another {
        /// Its id.
        wanted: String,
    },
    /// A secret can't be moved.
    #[error("a secret could not be wrapped anew")]
    Envelope(#[from] EnvelopeError),
    /// The store could not do it.
    #[error("the store could not be asked which master key it is under")]
    Store(#[from] StoreError),
}

/// Makes sure that these are the keys the store is under. A store that is under none is put under the newest.
///
/// # Errors
/// [`MasterKeyError::Another`] when it is under another key.
pub async fn check_master_key(
    store: &(impl ConnectionStore + ?Sized),
    keyring: &Keyring,
) -> Result<(), MasterKeyError> {
    loop {
        let Some(known) = store.key_check().await? else {
            match store.set_key_check(None, check_of(keyring)).await {
                // Another node was first: it is asked again which key that was.
                Ok(()) | Err(StoreError::Conflict) => continue,
                Err(cause) => return Err(cause.into()),
            }
        };
        if keyring.check_value(&known.key_id).is_none_or(|value| value != known.value) {
            return Err(MasterKeyError::Another { wanted: known.key_id });
        }
        return Ok(());
    }
}

/// Wraps the keys of all secrets by the newest master key, and puts the store under it. Returns how many were wrapped.
/// What is interrupted can be run again.
///
/// # Errors
/// When a secret's master key is not here, or the store can't do it.
pub async fn rewrap_all(
    store: &(impl ConnectionStore + ?Sized),
    keyring: &Keyring,
) -> Result<usize, MasterKeyError> {
    check_master_key(store, keyring).await?;
    let mut done = 0;
    loop {
        let part = store.secrets_not_under(keyring.newest(), PART).await?;
        if part.is_empty() {
            break;
        }
        for stored in part {
            let belongs = Belongs { tenant: &stored.tenant, connection: stored.connection };
            let secret = keyring.rewrap(belongs, &stored.secret)?;
            store.rewrap_secret(&StoredSecret { secret, ..stored }).await?;
            done += 1;
        }
    }
    let known = store.key_check().await?.map(|check| check.key_id);
    if known.as_deref() != Some(keyring.newest()) {
        store.set_key_check(known.as_deref(), check_of(keyring)).await?;
    }
    Ok(done)
}

/// How the secrets of a store stand to the master keys at hand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seals {
    /// The master key that the store is under, where it is not at hand.
    pub wanted: Option<String>,
    /// How many secrets are sealed under keys that are not at hand, by key.
    pub missing: BTreeMap<String, usize>,
    /// How many are under a key that is at hand and not the newest.
    pub older: usize,
}

/// Looks which secrets the master keys at hand open. Nothing is opened or written.
///
/// # Errors
/// When the store can't be read.
pub async fn seals_of(
    store: &(impl ConnectionStore + ?Sized),
    keyring: Option<&Keyring>,
) -> Result<Seals, StoreError> {
    let holds = |check: &KeyCheck| {
        keyring
            .and_then(|keyring| keyring.check_value(&check.key_id))
            .is_some_and(|value| value == check.value)
    };
    let mut seals = Seals {
        wanted: store.key_check().await?.filter(|check| !holds(check)).map(|check| check.key_id),
        ..Seals::default()
    };
    for stored in store.secrets_not_under(keyring.map_or("", Keyring::newest), MOST_LOOKED_AT).await? {
        let id = stored.secret.key_id;
        if keyring.is_some_and(|keyring| keyring.has(&id)) {
            seals.older += 1;
        } else {
            *seals.missing.entry(id).or_default() += 1;
        }
    }
    Ok(seals)
}

fn check_of(keyring: &Keyring) -> KeyCheck {
    let key_id = keyring.newest().to_owned();
    KeyCheck { value: keyring.check_value(&key_id).unwrap_or_default(), key_id }
}

//! Sealing one secret: a key of its own, used once, and that key wrapped by a master key. What the secret belongs to is
//! part of the seal, so no envelope opens in another's place.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use toolgate_core::connection::SealedSecret;
use toolgate_core::id::{ConnectionId, TenantId};
use zeroize::Zeroizing;

use crate::keyring::{Key, Keyring};

const NONCE: usize = 24;
const WRAPPING: &str = "wrap";

/// Why an envelope could not be made or opened. It says nothing about what is inside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The master key it was made with is not here.
    #[error("the secret is sealed under the master key `{0}`, which is not here")]
    UnknownKey(String),
    /// It was changed, or belongs elsewhere.
    #[error("a sealed secret can't be opened: it was changed, or belongs elsewhere")]
    Broken,
    /// The machine has no randomness to give.
    #[error("the machine has no randomness to give")]
    NoRandomness,
}

/// What a secret belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Belongs<'a> {
    /// The tenant.
    pub tenant: &'a TenantId,
    /// The connection.
    pub connection: ConnectionId,
}

impl Keyring {
    /// Seals a secret as this version of what it belongs to, under the newest master key.
    ///
    /// # Errors
    /// [`EnvelopeError::NoRandomness`].
    pub fn seal(
        &self,
        belongs: Belongs<'_>,
        version: u64,
        secret: &[u8],
    ) -> Result<SealedSecret, EnvelopeError> {
        let mut own = Key::default();
        getrandom::fill(&mut *own).map_err(|_| EnvelopeError::NoRandomness)?;
        let bound = bound_to(belongs, version);
        let sealed = encrypt(&own, &bound, secret)?;
        let (key_id, wrapped) = self.wrap(&own, &bound)?;
        Ok(SealedSecret { version, key_id, wrapped, sealed })
    }

    /// Opens a sealed secret.
    ///
    /// # Errors
    /// When its master key is not here, or it is not what was sealed for this.
    pub fn open_secret(
        &self,
        belongs: Belongs<'_>,
        secret: &SealedSecret,
    ) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
        let bound = bound_to(belongs, secret.version);
        decrypt(&self.unwrap(secret, &bound)?, &bound, &secret.sealed)
    }

    /// The same secret with its key wrapped by the newest master key. The secret itself is not opened.
    ///
    /// # Errors
    /// As [`Keyring::open_secret`].
    pub fn rewrap(&self, belongs: Belongs<'_>, secret: &SealedSecret) -> Result<SealedSecret, EnvelopeError> {
        let bound = bound_to(belongs, secret.version);
        let (key_id, wrapped) = self.wrap(&self.unwrap(secret, &bound)?, &bound)?;
        Ok(SealedSecret { key_id, wrapped, ..secret.clone() })
    }

    fn wrap(&self, own: &Key, bound: &[u8]) -> Result<(String, Vec<u8>), EnvelopeError> {
        let id = self.newest().to_owned();
        let master = self.derived(&id, WRAPPING).ok_or_else(|| EnvelopeError::UnknownKey(id.clone()))?;
        let wrapped = encrypt(&master, &with_key_id(bound, &id), &**own)?;
        Ok((id, wrapped))
    }

    fn unwrap(&self, secret: &SealedSecret, bound: &[u8]) -> Result<Key, EnvelopeError> {
        let unknown = || EnvelopeError::UnknownKey(secret.key_id.clone());
        let master = self.derived(&secret.key_id, WRAPPING).ok_or_else(unknown)?;
        let own = decrypt(&master, &with_key_id(bound, &secret.key_id), &secret.wrapped)?;
        let mut key = Key::default();
        if own.len() != key.len() {
            return Err(EnvelopeError::Broken);
        }
        key.copy_from_slice(&own);
        Ok(key)
    }
}

/// Seals something short-lived for a purpose, under the newest master key; `bound` has to be the same to open it.
pub(crate) fn seal_for(
    keyring: &Keyring,
    purpose: &str,
    bound: &[u8],
    secret: &[u8],
) -> Result<(String, Vec<u8>), EnvelopeError> {
    let id = keyring.newest().to_owned();
    let key = keyring.derived(&id, purpose).ok_or_else(|| EnvelopeError::UnknownKey(id.clone()))?;
    Ok((id, encrypt(&key, bound, secret)?))
}

/// Opens what [`seal_for`] made.
pub(crate) fn open_for(
    keyring: &Keyring,
    purpose: &str,
    bound: &[u8],
    (id, sealed): (&str, &[u8]),
) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
    let key = keyring.derived(id, purpose).ok_or_else(|| EnvelopeError::UnknownKey(id.to_owned()))?;
    decrypt(&key, bound, sealed)
}

/// Ids hold no NUL, so no two things are bound to the same bytes.
fn bound_to(belongs: Belongs<'_>, version: u64) -> Vec<u8> {
    format!("toolgate.secret.v1\0{}\0{}\0{version}", belongs.tenant, belongs.connection).into_bytes()
}

fn with_key_id(bound: &[u8], id: &str) -> Vec<u8> {
    [bound, b"\0", id.as_bytes()].concat()
}

fn encrypt(key: &Key, bound: &[u8], secret: &[u8]) -> Result<Vec<u8>, EnvelopeError> {
    let mut nonce = [0u8; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| EnvelopeError::NoRandomness)?;
    let sealed = XChaCha20Poly1305::new((&**key).into())
        .encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: bound })
        .map_err(|_| EnvelopeError::Broken)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn decrypt(key: &Key, bound: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
    let (nonce, sealed) = sealed.split_at_checked(NONCE).ok_or(EnvelopeError::Broken)?;
    let nonce = <[u8; NONCE]>::try_from(nonce).map_err(|_| EnvelopeError::Broken)?;
    XChaCha20Poly1305::new((&**key).into())
        .decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: bound })
        .map(Zeroizing::new)
        .map_err(|_| EnvelopeError::Broken)
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;

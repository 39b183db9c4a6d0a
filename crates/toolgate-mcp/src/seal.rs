//! What we give clients to bring back: readable and changeable by nobody else, and for one purpose each.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::Serialize;
use serde::de::DeserializeOwned;

const NONCE: usize = 24;
/// The longest sealed text that is looked at.
const MAX_SEALED: usize = 64 * 1024;

/// What a sealed text is for. One made for another purpose does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The id of a session of the handshake era.
    Session,
    /// What a client brings back when it tries a request again.
    State,
    /// The id of a question put to a client of the handshake era.
    Question,
    /// The ids of the events of a stream of the handshake era.
    Stream,
    /// A place in a tenant's record.
    Record,
}

impl Purpose {
    const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Session => b"toolgate.mcp.session.v1",
            Self::State => b"toolgate.mcp.state.v1",
            Self::Question => b"toolgate.mcp.question.v1",
            Self::Stream => b"toolgate.mcp.stream.v1",
            Self::Record => b"toolgate.record.place.v1",
        }
    }
}

/// Seals and opens. Every node with the same keys opens what another sealed.
#[derive(Clone)]
pub struct Sealer {
    /// Newest first: it seals, all open.
    keys: Vec<(String, XChaCha20Poly1305)>,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

/// Why nothing could be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing can be sealed here")]
pub struct CannotSeal;

impl Sealer {
    /// A sealer over these keys with their ids, newest first.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = (String, [u8; 32])>) -> Self {
        let keys = keys.into_iter().map(|(id, key)| (id, XChaCha20Poly1305::new(&Key::from(key))));
        Self { keys: keys.collect() }
    }

    /// A sealer with a key of its own, that no other process knows.
    ///
    /// # Errors
    /// When the machine has no randomness to give.
    pub fn of_this_process() -> Result<Self, CannotSeal> {
        let mut key = [0u8; 32];
        getrandom::fill(&mut key).map_err(|_| CannotSeal)?;
        Ok(Self::new([("0".to_owned(), key)]))
    }

    /// Seals a value as text that can stand in a header.
    ///
    /// # Errors
    /// When there is no key or no randomness.
    pub fn seal<T: Serialize>(&self, purpose: Purpose, value: &T) -> Result<String, CannotSeal> {
        let (id, cipher) = self.keys.first().ok_or(CannotSeal)?;
        let plain = serde_json::to_vec(value).map_err(|_| CannotSeal)?;
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| CannotSeal)?;
        let payload = Payload { msg: &plain, aad: purpose.as_bytes() };
        let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| CannotSeal)?;
        Ok(format!("{id}.{}", URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat())))
    }

    /// Opens what was sealed for this purpose; none when it was not, or not by us.
    #[must_use]
    pub fn open<T: DeserializeOwned>(&self, purpose: Purpose, text: &str) -> Option<T> {
        if text.len() > MAX_SEALED {
            return None;
        }
        let (id, rest) = text.split_once('.')?;
        let (_, cipher) = self.keys.iter().find(|(known, _)| known == id)?;
        let bytes = URL_SAFE_NO_PAD.decode(rest).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        let plain = cipher.decrypt(&XNonce::from(*nonce), payload).ok()?;
        serde_json::from_slice(&plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(ids: &[u8]) -> Sealer {
        Sealer::new(ids.iter().map(|id| (id.to_string(), [*id; 32])))
    }

    #[test]
    fn what_is_sealed_opens_for_its_purpose_only() {
        let one = sealer(&[1]);
        let text = one.seal(Purpose::State, &"hello").unwrap();
        assert_eq!(one.open::<String>(Purpose::State, &text).as_deref(), Some("hello"));
        assert_eq!(one.open::<String>(Purpose::Session, &text), None);
        assert!(text.bytes().all(|b| b.is_ascii_graphic()));
        assert!(!text.contains("hello"));
    }

    #[test]
    fn what_was_changed_does_not_open() {
        let one = sealer(&[1]);
        let text = one.seal(Purpose::State, &"hello").unwrap();
        for place in 2..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(one.open::<String>(Purpose::State, &changed), None, "{place}");
        }
        for bad in ["", ".", "1.", "1.AA", "2.AA", &format!("{text}x"), &text[..text.len() - 4]] {
            assert_eq!(one.open::<String>(Purpose::State, bad), None, "{bad}");
        }
    }

    #[test]
    fn keys_can_be_changed_without_breaking_what_is_out() {
        let old = sealer(&[1]).seal(Purpose::Session, &7).unwrap();
        let both = sealer(&[2, 1]);
        assert_eq!(both.open::<i32>(Purpose::Session, &old), Some(7));
        let new = both.seal(Purpose::Session, &8).unwrap();
        assert_eq!(sealer(&[1]).open::<i32>(Purpose::Session, &new), None);
        assert_eq!(sealer(&[2]).open::<i32>(Purpose::Session, &new), Some(8));
    }
}

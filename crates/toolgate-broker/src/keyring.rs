//! The master keys, which live outside the database: one that seals, and those that still open what it once sealed.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use hkdf::Hkdf;
use sha2::Sha256;
use toolgate_core::json::to_hex;
use zeroize::Zeroizing;

use crate::key_file;

/// A key, wiped when it is dropped.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// One master key and its public name.
#[derive(Clone)]
struct MasterKey {
    id: String,
    key: Key,
}

/// The master keys, newest first. The first seals; all of them open. It prints ids alone.
#[derive(Clone)]
pub struct Keyring {
    keys: Vec<MasterKey>,
}

/// Why there are no usable master keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// A text that is no key. The text itself is not repeated.
    #[error("{place} holds no master key: 32 random bytes, as 64 hexadecimal digits or as base64")]
    BadKey {
        /// Where it came from.
        place: String,
    },
    /// The file can't be read or made.
    #[error("the file of the master key, `{path}`, can't be used")]
    File {
        /// Which file.
        path: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The machine has no randomness to give.
    #[error("the machine has no randomness to give")]
    NoRandomness,
}

impl Keyring {
    /// The keys from texts: the newest, and those it replaced.
    ///
    /// # Errors
    /// [`KeyringError::BadKey`], naming the place and not the text.
    pub fn from_texts<'a>(
        newest: &'a str,
        old: impl IntoIterator<Item = &'a str>,
        place: &str,
    ) -> Result<Self, KeyringError> {
        let texts = std::iter::once(newest).chain(old).map(str::trim).filter(|text| !text.is_empty());
        let mut keys: Vec<MasterKey> = Vec::new();
        for text in texts {
            let bad = || KeyringError::BadKey { place: place.to_owned() };
            let key = MasterKey::new(parse(text).ok_or_else(bad)?);
            if keys.iter().all(|known| known.id != key.id) {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Err(KeyringError::BadKey { place: place.to_owned() });
        }
        Ok(Self { keys })
    }

    /// The keys from the environment, `TOOLGATE_MASTER_KEY` and `TOOLGATE_MASTER_KEYS_OLD` (separated by commas);
    /// without the first, those in `master.key` in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// When a key is none, or the file can't be used.
    pub fn open(folder: &Path) -> Result<Self, KeyringError> {
        let given = |name: &str| std::env::var(name).map(Zeroizing::new).unwrap_or_default();
        let (newest, old) = (given("TOOLGATE_MASTER_KEY"), given("TOOLGATE_MASTER_KEYS_OLD"));
        if newest.trim().is_empty() {
            return Self::from_file(&folder.join("master.key"));
        }
        Self::from_texts(&newest, old.split(','), "TOOLGATE_MASTER_KEY or TOOLGATE_MASTER_KEYS_OLD")
    }

    /// As [`Keyring::open`], but without making a key: none when there is none.
    ///
    /// # Errors
    /// When a key is none, or the file can't be used.
    pub fn open_if_there(folder: &Path) -> Result<Option<Self>, KeyringError> {
        let given = std::env::var("TOOLGATE_MASTER_KEY").is_ok_and(|text| !text.trim().is_empty());
        if given || folder.join("master.key").exists() { Self::open(folder).map(Some) } else { Ok(None) }
    }

    /// The keys in a file, one a line, newest first; a file that is not there is made with one new key.
    ///
    /// # Errors
    /// When the file can't be used, or holds something else.
    pub fn from_file(path: &Path) -> Result<Self, KeyringError> {
        let text = key_file::read_or_make(path)?;
        let mut lines = text.lines();
        Self::from_texts(lines.next().unwrap_or_default(), lines, &format!("`{}`", path.display()))
    }

    /// The id of the key that seals.
    #[must_use]
    pub fn newest(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// Whether there is a key with this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.id == id)
    }

    /// Keys for one purpose, newest first, each with its master key's id: what is made with one tells nothing about
    /// another purpose's or about the master key. Seal with the first, open with whichever has the id.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Vec<(String, [u8; 32])> {
        self.keys.iter().map(|key| (key.id.clone(), *key.for_purpose(purpose))).collect()
    }

    /// The key of one master key for one purpose.
    pub(crate) fn derived(&self, id: &str, purpose: &str) -> Option<Key> {
        self.keys.iter().find(|key| key.id == id).map(|key| key.for_purpose(purpose))
    }

    /// What the database keeps to tell this key from another: nothing follows from it.
    #[must_use]
    pub fn check_value(&self, id: &str) -> Option<String> {
        self.derived(id, "check").map(|key| to_hex(&*key))
    }
}

impl MasterKey {
    fn new(key: Key) -> Self {
        let mut this = Self { id: String::new(), key };
        let name = this.for_purpose("id");
        this.id = format!("mk_{}", to_hex(&name[..8]));
        this
    }

    fn for_purpose(&self, purpose: &str) -> Key {
        let mut out = Key::default();
        // It fails for outputs of more than 255 hashes alone.
        let done = Hkdf::<Sha256>::new(Some(b"toolgate.master-key.v1"), &*self.key)
            .expand(purpose.as_bytes(), &mut *out)
            .is_ok();
        debug_assert!(done, "32 bytes can be expanded");
        out
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

fn parse(text: &str) -> Option<Key> {
    let bytes = if text.len() == 64 {
        let digits = (0..32).map(|at| u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok());
        // `from_str_radix` would take a sign.
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        Zeroizing::new(digits.collect::<Option<Vec<u8>>>()?)
    } else {
        let bare = text.trim_end_matches('=');
        Zeroizing::new(STANDARD_NO_PAD.decode(bare).or_else(|_| URL_SAFE_NO_PAD.decode(bare)).ok()?)
    };
    let mut key = Key::default();
    // All the same byte is a placeholder, not a key.
    let real = bytes.len() == 32 && bytes.iter().any(|byte| *byte != bytes[0]);
    real.then(|| key.copy_from_slice(&bytes))?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const OTHER: &str = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

    fn ring(newest: &str, old: &[&str]) -> Keyring {
        Keyring::from_texts(newest, old.iter().copied(), "the test").unwrap()
    }

    #[test]
    fn a_key_is_the_same_in_every_spelling() {
        let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        for text in [base64, base64.trim_end_matches('='), &ONE.to_uppercase(), &format!(" {ONE}\n")] {
            assert_eq!(ring(text, &[]).newest(), ring(ONE, &[]).newest(), "{text}");
        }
        assert_ne!(ring(OTHER, &[]).newest(), ring(ONE, &[]).newest());
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        for text in ["", "secret", &ONE[1..], &format!("{ONE}00"), &"0".repeat(64), &"+0".repeat(32), "AAEC"]
        {
            let error = Keyring::from_texts(text, [], "the test").unwrap_err();
            assert!(text.is_empty() || !format!("{error} {error:?}").contains(text), "{error:?}");
        }
    }

    #[test]
    fn the_newest_seals_and_all_are_known() {
        let both = ring(OTHER, &[ONE, OTHER]);
        assert_eq!(both.newest(), ring(OTHER, &[]).newest());
        assert!(both.has(ring(ONE, &[]).newest()));
        assert_eq!(both.derive("x").len(), 2);
        assert_eq!(both.derive("x")[1], ring(ONE, &[]).derive("x")[0]);
    }

    #[test]
    fn purposes_and_keys_have_nothing_in_common() {
        let one = ring(ONE, &[]);
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a")[0].1, ring(OTHER, &[]).derive("a")[0].1);
        assert_eq!(one.derive("a"), ring(ONE, &[]).derive("a"));
    }

    #[test]
    fn it_prints_ids_alone() {
        assert_eq!(format!("{:?}", ring(ONE, &[])), format!("[\"{}\"]", ring(ONE, &[]).newest()));
    }

    #[test]
    fn the_derivation_is_a_promise() {
        // What was sealed once must open for ever: a change here loses secrets. The values are from another program.
        let ring = ring(ONE, &[]);
        assert_eq!(ring.newest(), "mk_f910d9c4a2ee39d8");
        assert_eq!(
            ring.check_value(ring.newest()).unwrap(),
            "5c276c8c918e3808d8ab6d2631090f01bd5ff90c43d8802d9bd57b640d86e57a"
        );
    }
}

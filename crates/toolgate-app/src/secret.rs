//! Secrets that we make: for cookies and for links that work once. Only their SHA-256 is stored.

use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::StoreError;

/// 256 random bits as text. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// When the machine has no randomness to give.
    pub fn generate() -> Result<Self, StoreError> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| StoreError::unavailable("no randomness"))?;
        Ok(Self(to_hex(&bytes)))
    }

    /// One that came in; none when it can't be one of ours.
    #[must_use]
    pub fn given(text: &str) -> Option<Self> {
        let ours = text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        ours.then(|| Self(text.to_owned()))
    }

    /// What is stored of it.
    pub(crate) fn hash(&self) -> [u8; 32] {
        digest(self.0.as_bytes())
    }

    /// Another secret that only the holder of this one can make, and that tells nothing about it.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> String {
        to_hex(&digest(format!("toolgate.{purpose}.v1 {}", self.0).as_bytes()))
    }

    /// The secret itself, to be handed out once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_random_and_never_printed() {
        let (one, other) = (Secret::generate().unwrap(), Secret::generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), "***");
        assert_eq!(Secret::given(one.reveal()), Some(one.clone()));
        assert_eq!(Secret::given(&one.reveal().to_uppercase()), None);
        assert_eq!(Secret::given(""), None);
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a"), other.derive("a"));
    }
}

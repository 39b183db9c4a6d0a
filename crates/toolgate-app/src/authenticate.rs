//! Who is it? Keys are 256 random bits; only their SHA-256 is stored.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolgate_core::Actor;
use toolgate_core::json::{digest, to_hex};

use crate::{App, AppError};

/// How long a key is known without asking the store again, and so how late a revocation is seen.
const FRESH: Duration = Duration::from_secs(1);
const MOST: usize = 10_000;

/// A bearer key as its holder has it. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    /// A new key.
    ///
    /// # Errors
    /// When the machine has no randomness to give.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("tgk_{}", to_hex(&bytes))))
    }

    /// A key someone else made. It must be long enough not to be guessed.
    #[must_use]
    pub fn given(text: &str) -> Option<Self> {
        let long_enough = (32..=512).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        long_enough.then(|| Self(text.to_owned()))
    }

    /// The key itself, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// What is stored of a key.
#[must_use]
pub fn hash_key(key: &str) -> [u8; 32] {
    digest(key.as_bytes())
}

/// Keys seen a moment ago.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys(Mutex<HashMap<[u8; 32], (Actor, Instant)>>);

impl App {
    /// Who a bearer key speaks for. Lookups go by the key's hash, so their time tells nothing about the key.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Actor>, AppError> {
        if key.len() > 512 {
            return Ok(None);
        }
        let hash = hash_key(key);
        let now = Instant::now();
        if let Some((actor, seen)) = self.known_keys.lock().get(&hash)
            && now.duration_since(*seen) < FRESH
        {
            return Ok(Some(actor.clone()));
        }
        let found = self.store().actor_by_key(&hash).await?;
        let mut known = self.known_keys.lock();
        match &found {
            Some(actor) => {
                if known.len() >= MOST {
                    known.clear();
                }
                known.insert(hash, (actor.clone(), now));
            }
            None => {
                known.remove(&hash);
            }
        }
        Ok(found)
    }
}

impl KnownKeys {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], (Actor, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_long_random_and_never_printed() {
        let (one, other) = (ApiKeySecret::generate().unwrap(), ApiKeySecret::generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 68);
        assert_eq!(format!("{one:?}"), "***");
        assert!(ApiKeySecret::given("short").is_none());
        assert!(ApiKeySecret::given(&"k ".repeat(32)).is_none());
    }
}

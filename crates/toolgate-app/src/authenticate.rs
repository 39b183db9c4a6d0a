//! Who is it? Keys are 256 random bits; only their SHA-256 is stored.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolgate_core::actor::Credential;
use toolgate_core::id::{ApiKeyId, OauthGrantId};
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::Principal;
use toolgate_core::scope::Scopes;
use toolgate_core::{Actor, Timestamp};

use crate::oauth::Audience;
use crate::{App, AppError};

/// How long a caller is known without asking the store again. A revocation is seen sooner: it moves the tenant on.
const FRESH: Duration = Duration::from_secs(10);
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

/// Callers seen a moment ago, by the hash of what they showed.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys {
    callers: Mutex<HashMap<[u8; 32], Known>>,
    /// Keys that have worked here, some time ago perhaps.
    worked: Mutex<HashSet<[u8; 32]>>,
    used: Mutex<HashMap<ApiKeyId, Timestamp>>,
    used_grants: Mutex<HashMap<OauthGrantId, Timestamp>>,
}

#[derive(Debug)]
struct Known {
    actor: Actor,
    /// What a token is for; none for a key, which is for everything.
    audience: Option<Audience>,
    expires_at: Option<Timestamp>,
    generation: u64,
    seen: Instant,
}

impl App {
    /// Who a bearer key speaks for: none when it is not a key, does not work any more, or speaks for someone who is
    /// switched off. Lookups go by the key's hash, so their time tells nothing about the key.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Actor>, AppError> {
        if key.len() > 512 {
            return Ok(None);
        }
        let (hash, now) = (hash_key(key), self.now());
        // A token is not taken for a key: where it is shown is not known here.
        if let Some((actor, None)) = self.known(&hash, now) {
            self.note_use(&actor, now);
            return Ok(Some(actor));
        }
        let before = self.snapshots.moves();
        let Some(holder) = self.store().key_by_hash(&hash).await? else {
            return Ok(None);
        };
        let key = holder.key;
        // A key for someone who is gone must not become one for nobody in particular.
        if !key.works_at(now) || key.subject.is_some() != holder.subject.is_some() {
            return Ok(None);
        }
        let credential = Credential::Key(key.id);
        let found = self.actor_from(holder.principal, credential, key.scopes, holder.subject).await?;
        if let Some(actor) = &found {
            self.note_working(hash);
            self.remember(hash, actor, key.expires_at, None, before);
            self.note_use(actor, now);
        }
        Ok(found)
    }

    /// A caller from the records, with the roles of their tenant; none when they may not come in.
    pub(crate) async fn actor_from(
        &self,
        principal: Principal,
        credential: Credential,
        scopes: Scopes,
        subject: Option<Principal>,
    ) -> Result<Option<Actor>, AppError> {
        let snapshot = self.snapshots.load(&principal.tenant).await?;
        Ok(snapshot.and_then(|snapshot| snapshot.actor(principal, credential, scopes, subject)))
    }

    /// A caller seen a moment ago whose tenant has not changed since.
    pub(crate) fn known(&self, hash: &[u8; 32], now: Timestamp) -> Option<(Actor, Option<Audience>)> {
        let callers = lock(&self.known_keys.callers);
        let known = callers.get(hash)?;
        let generation = self.snapshots.get(&known.actor.tenant)?.tenant.generation;
        let valid = known.generation == generation
            && known.seen.elapsed() < FRESH
            && known.expires_at.is_none_or(|end| now < end);
        valid.then(|| (known.actor.clone(), known.audience.clone()))
    }

    /// Remembers a caller until the tenant changes, for a few seconds at most. `before` is `snapshots.moves()` from
    /// before the caller was read from the store.
    pub(crate) fn remember(
        &self,
        hash: [u8; 32],
        actor: &Actor,
        expires_at: Option<Timestamp>,
        audience: Option<Audience>,
        before: u64,
    ) {
        let Some(snapshot) = self.snapshots.get(&actor.tenant) else { return };
        // Invariant: what was read before a change is not remembered as if it were read after it.
        if self.snapshots.moves() != before {
            return;
        }
        let mut callers = lock(&self.known_keys.callers);
        if callers.len() >= MOST {
            callers.clear();
        }
        let generation = snapshot.tenant.generation;
        let actor = actor.clone();
        callers.insert(hash, Known { actor, audience, expires_at, generation, seen: Instant::now() });
    }

    /// Whether a key has worked here before, some time ago perhaps.
    pub(crate) fn has_worked(&self, key: &str) -> bool {
        lock(&self.known_keys.worked).contains(&hash_key(key))
    }

    pub(crate) fn note_working(&self, hash: [u8; 32]) {
        let mut worked = lock(&self.known_keys.worked);
        if worked.len() >= MOST {
            worked.clear();
        }
        worked.insert(hash);
    }

    pub(crate) fn note_use(&self, actor: &Actor, now: Timestamp) {
        match actor.credential {
            Credential::Key(id) => {
                lock(&self.known_keys.used).insert(id, now);
            }
            Credential::Token(id) => {
                lock(&self.known_keys.used_grants).insert(id, now);
            }
            Credential::SignIn(_) | Credential::Internal => {}
        }
    }

    /// Writes down when keys and grants were last used.
    ///
    /// # Errors
    /// When the store can't be written; what was to be written is lost, and nobody is the worse for it.
    pub async fn record_key_uses(&self) -> Result<(), StoreError> {
        let grants: Vec<_> = std::mem::take(&mut *lock(&self.known_keys.used_grants)).into_iter().collect();
        if !grants.is_empty() {
            self.store().touch_oauth_grants(&grants).await?;
        }
        let uses: Vec<_> = std::mem::take(&mut *lock(&self.known_keys.used)).into_iter().collect();
        if uses.is_empty() {
            return Ok(());
        }
        self.store().touch_keys(&uses).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

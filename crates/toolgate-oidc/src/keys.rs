//! The keys an issuer publishes: asked for when they are needed, remembered, and asked for again when a token names one
//! that nobody knows, but not as often as forged tokens could make us.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use toolgate_core::port::identity::IdentityError;

use crate::discovery::chain;
use crate::http;
use crate::provider::safe_issuer;

/// How long keys are taken for the issuer's.
const FRESH: Duration = Duration::from_secs(3600);
/// How soon an issuer that did not answer is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How often unknown keys make us ask, at most.
const NEW_AGAIN: Duration = Duration::from_secs(5);
const MOST_KEYS: usize = 100;

/// An issuer's keys.
#[derive(Debug)]
pub(crate) struct Keys {
    issuer: String,
    http: reqwest::Client,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    keys: Option<Arc<[Jwk]>>,
    asked: Option<Instant>,
    new_asked: Option<Instant>,
    failed: Option<(Instant, String)>,
}

/// What is read of what an issuer says of itself.
#[derive(Debug, Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

#[derive(Debug, Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

impl Keys {
    pub(crate) fn new(issuer: String, http: reqwest::Client) -> Self {
        Self { issuer, http, known: Mutex::default() }
    }

    /// The first key that fits, from memory while that is fresh. One asks, the others wait for it.
    pub(crate) async fn find(&self, fits: impl Fn(&Jwk) -> bool) -> Result<Option<Jwk>, IdentityError> {
        let mut known = self.known.lock().await;
        if let (Some(keys), Some(asked)) = (&known.keys, known.asked)
            && asked.elapsed() < FRESH
        {
            return Ok(first(keys, fits));
        }
        match (self.ask(&mut known).await, &known.keys) {
            (Ok(keys), _) => Ok(first(&keys, fits)),
            // Better what it said an hour ago than nobody getting in.
            (Err(_), Some(stale)) => Ok(first(stale, fits)),
            (Err(cause), None) => Err(cause),
        }
    }

    /// The same with the keys it has now.
    pub(crate) async fn find_anew(&self, fits: impl Fn(&Jwk) -> bool) -> Result<Option<Jwk>, IdentityError> {
        let mut known = self.known.lock().await;
        if known.new_asked.is_some_and(|asked| asked.elapsed() < NEW_AGAIN) {
            return Ok(known.keys.as_ref().and_then(|keys| first(keys, fits)));
        }
        known.new_asked = Some(Instant::now());
        Ok(first(&self.ask(&mut known).await?, fits))
    }

    async fn ask(&self, known: &mut Known) -> Result<Arc<[Jwk]>, IdentityError> {
        if let Some((at, why)) = &known.failed
            && at.elapsed() < ASK_AGAIN
        {
            return Err(IdentityError::Unavailable(why.clone()));
        }
        match self.fetch().await {
            Ok(keys) => {
                known.keys = Some(Arc::clone(&keys));
                known.asked = Some(Instant::now());
                known.failed = None;
                Ok(keys)
            }
            Err(why) => {
                tracing::warn!(issuer = self.issuer, error = why, "an issuer's keys can't be had");
                known.failed = Some((Instant::now(), why.clone()));
                Err(IdentityError::Unavailable(why))
            }
        }
    }

    async fn fetch(&self) -> Result<Arc<[Jwk]>, String> {
        let mut metadata = Err("it says nothing of itself".to_owned());
        for address in self.addresses() {
            metadata = self.get::<Metadata>(&address).await;
            if metadata.is_ok() {
                break;
            }
        }
        let metadata = metadata?;
        if metadata.issuer != self.issuer {
            return Err("what it says of itself is another issuer's".to_owned());
        }
        safe_issuer(&metadata.jwks_uri).map_err(|cause| cause.to_string())?;
        let set = self.get::<KeySet>(&metadata.jwks_uri).await?;
        // Keys of a kind we do not know are no reason to refuse the others.
        Ok(set.keys.into_iter().take(MOST_KEYS).filter_map(|key| serde_json::from_value(key).ok()).collect())
    }

    /// Where an issuer says what it is: as OpenID Connect has it, and as RFC 8414 does.
    fn addresses(&self) -> [String; 2] {
        let issuer = self.issuer.trim_end_matches('/');
        let (origin, path) = match issuer.split_once("://").and_then(|(_, rest)| rest.find('/')) {
            Some(at) => issuer.split_at(issuer.find("://").unwrap_or_default() + 3 + at),
            None => (issuer, ""),
        };
        [
            format!("{issuer}/.well-known/openid-configuration"),
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
        ]
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, String> {
        let body = http::get(&self.http, url).await.map_err(|cause| chain(&cause))?;
        serde_json::from_slice(&body).map_err(|_| "its answer is not what it should be".to_owned())
    }
}

fn first(keys: &[Jwk], fits: impl Fn(&Jwk) -> bool) -> Option<Jwk> {
    keys.iter().find(|key| fits(key)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_with_a_path_have_it_where_each_standard_wants_it() {
        let check = |issuer: &str, expected: [&str; 2]| {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let keys = Keys::new(issuer.to_owned(), http::client().unwrap());
            assert_eq!(keys.addresses(), expected.map(str::to_owned));
        };
        check(
            "https://id.example",
            [
                "https://id.example/.well-known/openid-configuration",
                "https://id.example/.well-known/oauth-authorization-server",
            ],
        );
        check(
            "https://id.example/realms/a/",
            [
                "https://id.example/realms/a/.well-known/openid-configuration",
                "https://id.example/.well-known/oauth-authorization-server/realms/a",
            ],
        );
    }
}

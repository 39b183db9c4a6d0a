//! What a provider says of itself: asked lazily, remembered, and asked again when its keys change.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openidconnect::IssuerUrl;
use openidconnect::core::CoreProviderMetadata;
use tokio::sync::Mutex;
use toolgate_core::port::identity::IdentityError;

use crate::http;

/// How long what a provider says of itself is taken for true.
const FRESH: Duration = Duration::from_secs(3600);
/// How soon a provider that did not answer is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How often unknown keys make us ask for the key set, at most: else forged tokens would.
const KEYS_AGAIN: Duration = Duration::from_secs(5);

/// What is known of a provider.
#[derive(Debug)]
pub(crate) struct Discovery {
    issuer: IssuerUrl,
    http: reqwest::Client,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    metadata: Option<Arc<CoreProviderMetadata>>,
    asked: Option<Instant>,
    keys_asked: Option<Instant>,
    failed: Option<(Instant, String)>,
}

impl Discovery {
    pub(crate) fn new(issuer: IssuerUrl, http: reqwest::Client) -> Self {
        Self { issuer, http, known: Mutex::default() }
    }

    /// What the provider says of itself, from memory while that is fresh. One asks, the others wait for it.
    pub(crate) async fn metadata(&self) -> Result<Arc<CoreProviderMetadata>, IdentityError> {
        let mut known = self.known.lock().await;
        if let (Some(metadata), Some(asked)) = (&known.metadata, known.asked)
            && asked.elapsed() < FRESH
        {
            return Ok(Arc::clone(metadata));
        }
        match (self.ask(&mut known).await, &known.metadata) {
            (Ok(metadata), _) => Ok(metadata),
            // Better what it said an hour ago than nobody getting in.
            (Err(_), Some(stale)) => Ok(Arc::clone(stale)),
            (Err(cause), None) => Err(cause),
        }
    }

    /// The same with the keys it has now, for a token signed by a key nobody knew.
    pub(crate) async fn with_new_keys(&self) -> Result<Arc<CoreProviderMetadata>, IdentityError> {
        let mut known = self.known.lock().await;
        if let (Some(metadata), Some(asked)) = (&known.metadata, known.keys_asked)
            && asked.elapsed() < KEYS_AGAIN
        {
            return Ok(Arc::clone(metadata));
        }
        known.keys_asked = Some(Instant::now());
        self.ask(&mut known).await
    }

    async fn ask(&self, known: &mut Known) -> Result<Arc<CoreProviderMetadata>, IdentityError> {
        if let Some((at, why)) = &known.failed
            && at.elapsed() < ASK_AGAIN
        {
            return Err(IdentityError::Unavailable(why.clone()));
        }
        match CoreProviderMetadata::discover_async(self.issuer.clone(), &http::sender(&self.http)).await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                *known = Known {
                    metadata: Some(Arc::clone(&metadata)),
                    asked: Some(Instant::now()),
                    keys_asked: known.keys_asked,
                    failed: None,
                };
                Ok(metadata)
            }
            Err(cause) => {
                let why = chain(&cause);
                tracing::warn!(
                    issuer = self.issuer.as_str(),
                    error = why,
                    "an identity provider does not answer"
                );
                known.failed = Some((Instant::now(), why.clone()));
                Err(IdentityError::Unavailable(why))
            }
        }
    }
}

/// An error with all its causes, for the operator.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

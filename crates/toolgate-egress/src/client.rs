//! The client itself.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use url::Url;

use crate::allow::BadAllowed;
use crate::error::EgressError;
use crate::lean::LeanClient;
use crate::policy::EgressPolicy;
use crate::request::EgressRequest;
use crate::resolve::{Filtered, Lookup, SystemLookup};

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// More headers than any honest answer has.
pub(crate) const MOST_HEADERS: usize = 100;

/// Sends requests to where they may go. Cheap to clone; connections are kept and shared between clones.
#[derive(Clone)]
pub struct EgressClient {
    http: reqwest::Client,
    lean: LeanClient,
    policy: Arc<EgressPolicy>,
    lookup: Arc<dyn Lookup>,
}

impl std::fmt::Debug for EgressClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EgressClient").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl EgressClient {
    /// A client that goes where the policy lets it.
    ///
    /// # Errors
    /// [`EgressError::Client`] when the system has no usable TLS.
    pub fn new(policy: EgressPolicy) -> Result<Self, EgressError> {
        Self::with_lookup(policy, Arc::new(SystemLookup))
    }

    /// The same, with names looked up in another way.
    ///
    /// # Errors
    /// [`EgressError::Client`] when the system has no usable TLS.
    pub fn with_lookup(policy: EgressPolicy, lookup: Arc<dyn Lookup>) -> Result<Self, EgressError> {
        // The binary installs a provider as well; whoever comes second is told so, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let policy = Arc::new(policy);
        let resolver = Filtered { lookup: Arc::clone(&lookup), policy: Arc::clone(&policy) };
        let lean = LeanClient::new(resolver.clone())?;
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(resolver)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .http1_max_headers(MOST_HEADERS);
        if policy.proxy.is_some() {
            let policy = Arc::clone(&policy);
            http = http.proxy(reqwest::Proxy::custom(move |url| policy.proxy_to(url)));
        }
        let http = http.build().map_err(EgressError::Client)?;
        Ok(Self { http, lean, policy, lookup })
    }

    /// The same client, for one more host, address or range: one that an operator gave. It has connections of its own,
    /// so make it once and keep it.
    ///
    /// # Errors
    /// [`EgressError::Address`] for a text that is none of those.
    pub fn allowing(&self, host: &str) -> Result<Self, EgressError> {
        let mut policy = (*self.policy).clone();
        policy.allow.push(host.parse().map_err(|_: BadAllowed| EgressError::Address)?);
        Self::with_lookup(policy, Arc::clone(&self.lookup))
    }

    /// A request. What is wrong with its address is said when it is sent.
    pub fn request(&self, method: Method, url: impl AsRef<str>) -> EgressRequest {
        EgressRequest::new(self.clone(), method, url.as_ref())
    }

    /// Whether a request may go to an address, before its name is looked up.
    ///
    /// # Errors
    /// [`EgressError::Address`], [`EgressError::Refused`] or [`EgressError::Insecure`].
    pub fn check_url(&self, url: &Url) -> Result<(), EgressError> {
        self.policy.check(url)
    }

    /// The short way for many small requests to one address; none where they go through a proxy.
    #[must_use]
    pub fn lean_to(&self, url: &Url) -> Option<LeanClient> {
        self.policy.proxy_to(url).is_none().then(|| self.lean.clone())
    }

    /// The client underneath, for transports that want one. It looks names up with the same care and follows no
    /// redirect, but it does not see addresses that are written out: check each with [`check_url`](Self::check_url)
    /// first. It has no limit on time and size beyond that on connecting.
    #[must_use]
    pub fn http(&self) -> reqwest::Client {
        self.http.clone()
    }
}

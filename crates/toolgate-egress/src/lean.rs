//! The short way for many small requests to an address that was checked once: the same lookups, the same trust and the
//! same patience as the client has, without what it does for requests in general.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use tower_service::Service;

use crate::client::{CONNECT_TIMEOUT, MOST_HEADERS};
use crate::error::EgressError;
use crate::resolve::Filtered;

/// Sends requests as they are. Cheap to clone; connections are kept and shared between clones.
#[derive(Clone)]
pub struct LeanClient(Client<HttpsConnector<HttpConnector<Filtered>>, Full<Bytes>>);

impl std::fmt::Debug for LeanClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeanClient").finish_non_exhaustive()
    }
}

impl LeanClient {
    pub(crate) fn new(resolver: Filtered) -> Result<Self, EgressError> {
        let trust = ClientConfig::with_platform_verifier().map_err(EgressError::Trust)?;
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(trust)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .http1_max_headers(MOST_HEADERS)
            .build(connector);
        Ok(Self(client))
    }

    /// Sends a request. Its address must have been checked by [`check_url`](crate::EgressClient::check_url): one that is
    /// written out is not looked up. There is no limit on time and size beyond that on connecting.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        self.0.request(request).await
    }
}

impl Service<Name> for Filtered {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { this.addresses(name.as_str()).await.map(Vec::into_iter) })
    }
}

//! One request and its answer.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Method, StatusCode};
use serde::Serialize;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::client::EgressClient;
use crate::error::EgressError;
use crate::resolve::LedInside;

const TOTAL: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(15);
const MOST_BYTES: usize = 4 << 20;
const MOST_HEADER_BYTES: usize = 64 << 10;

/// A request that is being put together. It prints without what it holds.
#[must_use = "a request does nothing until it is sent"]
pub struct EgressRequest {
    client: EgressClient,
    method: Method,
    url: Result<Url, EgressError>,
    headers: HeaderMap,
    body: Option<Bytes>,
    fault: Option<EgressError>,
    total: Duration,
    idle: Duration,
    most: usize,
    redirects: u32,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct EgressResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub bytes: Bytes,
}

impl std::fmt::Debug for EgressRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EgressRequest").field("method", &self.method).finish_non_exhaustive()
    }
}

impl EgressRequest {
    pub(crate) fn new(client: EgressClient, method: Method, url: &str) -> Self {
        Self {
            client,
            method,
            url: Url::parse(url).map_err(|_| EgressError::Address),
            headers: HeaderMap::new(),
            body: None,
            fault: None,
            total: TOTAL,
            idle: IDLE,
            most: MOST_BYTES,
            redirects: 0,
        }
    }

    /// With a header; it replaces one of the same name.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        match (name.as_ref().parse::<HeaderName>(), HeaderValue::from_str(value.as_ref())) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.insert(name, value);
            }
            _ => self.fault = Some(EgressError::Header),
        }
        self
    }

    /// With a bearer token.
    pub fn bearer(self, token: &str) -> Self {
        self.header(AUTHORIZATION, format!("Bearer {token}"))
    }

    /// With a JSON body.
    pub fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(body) => self.body = Some(body.into()),
            Err(_) => self.fault = Some(EgressError::Body),
        }
        self.header(CONTENT_TYPE, "application/json")
    }

    /// With a form as its body.
    pub fn form<'a>(mut self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.body = Some(body.into());
        self.header(CONTENT_TYPE, "application/x-www-form-urlencoded")
    }

    /// With a body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// With this much time for all of it, redirects and body included.
    pub const fn timeout(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// With this much time between two pieces of the answer.
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// With this much body at most.
    pub const fn max_bytes(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Following this many redirects. Each is checked like the first address; another origin gets no credentials, no
    /// headers of ours and no body.
    pub const fn redirects(mut self, most: u32) -> Self {
        self.redirects = most;
        self
    }

    /// Sends it and reads the answer.
    ///
    /// # Errors
    /// Every [`EgressError`] but [`EgressError::Client`]. An answer with an error status is an answer.
    pub async fn send(self) -> Result<EgressResponse, EgressError> {
        let url = self.url?;
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut exchange = Exchange {
            client: self.client,
            until: Instant::now() + self.total,
            idle: self.idle,
            most: self.most,
            method: self.method,
            url,
            headers: self.headers,
            body: self.body,
        };
        let mut left = self.redirects;
        loop {
            let answer = exchange.once().await?;
            let Some(next) = exchange.sent_on_to(&answer, self.redirects > 0)? else {
                return exchange.read(answer).await;
            };
            left = left.checked_sub(1).ok_or_else(|| exchange.cannot_follow())?;
            exchange.turn_to(next, answer.status())?;
        }
    }
}

/// The request as it stands after the redirects so far.
struct Exchange {
    client: EgressClient,
    until: Instant,
    idle: Duration,
    most: usize,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Exchange {
    async fn once(&self) -> Result<reqwest::Response, EgressError> {
        self.client.check_url(&self.url)?;
        let mut request =
            self.client.http().request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let answer = timeout_at(self.until, request.send())
            .await
            .map_err(|_| self.timed_out())?
            .map_err(|error| self.fault(error))?;
        let size: usize =
            answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if size > MOST_HEADER_BYTES {
            return Err(EgressError::TooLarge { host: self.host(), most: MOST_HEADER_BYTES });
        }
        Ok(answer)
    }

    /// Where an answer sends the request on to, if it does and that is wanted.
    fn sent_on_to(&self, answer: &reqwest::Response, wanted: bool) -> Result<Option<Url>, EgressError> {
        if !wanted || !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = answer.headers().get(LOCATION) else { return Ok(None) };
        let next = location.to_str().ok().and_then(|text| self.url.join(text).ok());
        next.map(Some).ok_or_else(|| self.cannot_follow())
    }

    fn turn_to(&mut self, next: Url, status: StatusCode) -> Result<(), EgressError> {
        let keeps_method = matches!(status.as_u16(), 307 | 308);
        if !keeps_method && self.method != Method::GET && self.method != Method::HEAD {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(CONTENT_TYPE);
        }
        if next.origin() != self.url.origin() {
            // A body may hold a secret as well as a header may.
            if self.body.is_some() {
                return Err(self.cannot_follow());
            }
            let mut kept = HeaderMap::new();
            for name in [ACCEPT, ACCEPT_LANGUAGE] {
                if let Some(value) = self.headers.get(&name) {
                    kept.insert(name, value.clone());
                }
            }
            self.headers = kept;
        }
        self.url = next;
        Ok(())
    }

    async fn read(&self, mut answer: reqwest::Response) -> Result<EgressResponse, EgressError> {
        let too_large = || EgressError::TooLarge { host: self.host(), most: self.most };
        let said = answer.content_length().and_then(|length| usize::try_from(length).ok());
        if said.is_some_and(|length| length > self.most) && self.method != Method::HEAD {
            return Err(too_large());
        }
        let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
        let mut read = Vec::new();
        loop {
            let waited = timeout_at(self.until, timeout(self.idle, answer.chunk())).await;
            let Ok(Ok(chunk)) = waited else { return Err(self.timed_out()) };
            let Some(chunk) = chunk.map_err(|error| self.fault(error))? else { break };
            if read.len() + chunk.len() > self.most {
                return Err(too_large());
            }
            read.extend_from_slice(&chunk);
        }
        Ok(EgressResponse { status, headers, bytes: read.into() })
    }

    fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    fn timed_out(&self) -> EgressError {
        EgressError::Timeout { host: self.host() }
    }

    fn cannot_follow(&self) -> EgressError {
        EgressError::Redirect { host: self.host() }
    }

    fn fault(&self, error: reqwest::Error) -> EgressError {
        let host = self.host();
        // The address may hold a secret in its query.
        let error = error.without_url();
        if led_inside(&error) {
            return EgressError::Refused { host };
        }
        if error.is_timeout() {
            return EgressError::Timeout { host };
        }
        if error.is_connect() {
            return EgressError::Unreachable { host, cause: Some(error) };
        }
        EgressError::Failed { host, cause: Some(error) }
    }
}

fn led_inside(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<LedInside>())
}

//! Requests to a gate.

use std::io::Read;
use std::time::{Duration, Instant};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgate_api::ErrorBody;

use super::Global;
use super::fail::Stop;
use super::show;
use crate::print;

const DEFAULT_URL: &str = "http://127.0.0.1:8787";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may take that nobody waits for on purpose.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A gate we talk to.
#[derive(Debug)]
pub(super) struct Gate {
    base: Url,
    client: Client,
    key: Option<HeaderValue>,
    verbose: bool,
}

/// A gate for requests that are made elsewhere.
#[derive(Debug)]
pub(crate) struct RawGate {
    pub(crate) client: Client,
    pub(crate) url: Url,
    pub(crate) key: Option<HeaderValue>,
}

impl RawGate {
    /// The gate the person named, with their key; why not, as one sentence.
    pub(crate) fn of(global: &Global, path: &str) -> Result<Self, String> {
        Gate::of(global).map(|gate| gate.into_raw(path)).map_err(|stop| stop.message().to_owned())
    }
}

/// What the gate answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
    has_key: bool,
}

impl Gate {
    /// Gets ready to talk to the gate the person named, with their key.
    pub(super) fn of(global: &Global) -> Result<Self, Stop> {
        let named = global.url.clone().or_else(|| std::env::var("TOOLGATE_URL").ok());
        let base = parse_base(named.as_deref().filter(|url| !url.is_empty()).unwrap_or(DEFAULT_URL))?;
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        if base.scheme() == "http" {
            // Without TLS there is no need for certificates, and small machines have none.
            builder = builder.tls_certs_only([]);
        }
        let client = builder
            .build()
            .map_err(|cause| Stop::failed(format!("no HTTP client: {}", innermost(&cause))))?;
        Ok(Self { base, client, key: read_key(global.key_stdin)?, verbose: global.verbose })
    }

    /// What `toolgate mcp` sends its own requests with: the client, the address of this path, and the key.
    pub(super) fn into_raw(self, path: &str) -> RawGate {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let url = self.url(&parts, &[]);
        RawGate { client: self.client, url, key: self.key }
    }

    /// The gate's address.
    pub(super) const fn base(&self) -> &Url {
        &self.base
    }

    /// Whether requests carry a key.
    pub(super) const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Whether what is sent can be read on the way.
    pub(super) fn is_exposed(&self) -> bool {
        self.base.scheme() == "http" && !is_loopback(&self.base)
    }

    /// An address under the gate's, each part escaped.
    pub(super) fn url(&self, path: &[&str], query: &[(&str, String)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Reads; an error status is an error.
    pub(super) async fn get(&self, url: Url) -> Result<Answer, Stop> {
        self.send(self.request(Method::GET, url).timeout(PATIENCE)).await?.ok()
    }

    /// Posts JSON; an error status is an error.
    pub(super) async fn post<T: Serialize>(
        &self,
        url: Url,
        body: &T,
        patience: Duration,
    ) -> Result<Answer, Stop> {
        self.send(self.request(Method::POST, url).json(body).timeout(patience)).await?.ok()
    }

    /// A request with the key.
    pub(super) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.client.request(method, url);
        match &self.key {
            Some(key) => request.header(AUTHORIZATION, key.clone()),
            None => request,
        }
    }

    /// Sends a request and reads the whole answer, whatever its status.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Answer, Stop> {
        let response = self.open(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.map_err(|cause| self.unreachable(&cause))?;
        Ok(Answer { status, headers, text, has_key: self.has_key() })
    }

    /// Sends a request and leaves the body to be read bit by bit; an error status is an error.
    pub(super) async fn stream(&self, request: RequestBuilder) -> Result<Response, Stop> {
        let response = self.open(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.map_err(|cause| self.unreachable(&cause))?;
        Err(Answer { status, headers, text, has_key: self.has_key() }.error())
    }

    async fn open(&self, request: RequestBuilder) -> Result<Response, Stop> {
        let request = request.build().map_err(|cause| Stop::failed(innermost(&cause)))?;
        let what = format!("{} {}", request.method(), request.url());
        let began = Instant::now();
        let response = self.client.execute(request).await.map_err(|cause| self.unreachable(&cause))?;
        if self.verbose {
            let gate =
                response.headers().get("server-timing").and_then(|value| value.to_str().ok()).unwrap_or("-");
            let took = began.elapsed().as_secs_f64() * 1000.0;
            print::talk(format_args!("{what} -> {} in {took:.1} ms ({gate})", response.status().as_u16()));
        }
        Ok(response)
    }

    /// What to say when the gate does not answer, or stops in the middle.
    pub(super) fn unreachable(&self, cause: &reqwest::Error) -> Stop {
        let address = self.base.as_str().trim_end_matches('/');
        if cause.is_timeout() && !cause.is_connect() {
            return Stop::failed(format!("the gate at {address} did not answer in time"))
                .hint("look at what became of it with `toolgate invocation list`")
                .passing();
        }
        let what = if cause.is_connect() { "can't be reached" } else { "broke off" };
        Stop::failed(format!("the gate at {address} {what}: {}", innermost(cause)))
            .hint("start one with `toolgate serve`, or name yours with --url or TOOLGATE_URL")
            .passing()
    }
}

impl Answer {
    /// Turns an error status into an error.
    pub(super) fn ok(self) -> Result<Self, Stop> {
        if (200..300).contains(&self.status) { Ok(self) } else { Err(self.error()) }
    }

    /// The error this answer is.
    pub(super) fn error(self) -> Stop {
        let Ok(ErrorBody { mut error }) = serde_json::from_str(&self.text) else {
            let stop = Stop::failed(format!("the answer has status {} and is not a gate's", self.status))
                .hint("check that --url or TOOLGATE_URL names a gate");
            // A proxy in between says so while the gate is away.
            return if matches!(self.status, 502..=504) { stop.passing() } else { stop };
        };
        if error.code == "unauthenticated" {
            let hint = if self.has_key {
                "the gate does not know this key; check TOOLGATE_KEY"
            } else {
                "set TOOLGATE_KEY to your key, or pipe it in with --key-stdin"
            };
            error.hint = Some(hint.to_owned());
        }
        Stop::answered(self.status, error, self.text)
    }

    /// The answer as what it should be.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Stop> {
        serde_json::from_str(&self.text).map_err(|_| {
            Stop::failed("the answer is not what this command understands")
                .hint("compare the versions of the gate and of this command with `toolgate doctor`")
        })
    }
}

fn parse_base(text: &str) -> Result<Url, Stop> {
    let wrong = || {
        Stop::usage(format!("`{}` is not the address of a gate", show::plain(text)))
            .hint("give one such as http://127.0.0.1:8787 with --url or TOOLGATE_URL")
    };
    let url = Url::parse(text.trim()).map_err(|_| wrong())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(wrong()) }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn read_key(from_stdin: bool) -> Result<Option<HeaderValue>, Stop> {
    let (text, source) = if from_stdin {
        let mut text = String::new();
        // A key has at most 512 characters; more is some other file.
        let read = std::io::stdin().take(4096).read_to_string(&mut text);
        read.map_err(|_| {
            Stop::usage("no key could be read from standard input").hint("pipe the key in as text")
        })?;
        (text, "the key on standard input")
    } else {
        (std::env::var("TOOLGATE_KEY").unwrap_or_default(), "TOOLGATE_KEY")
    };
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| {
        Stop::usage(format!("{source} is not a key")).hint("a key is one line of visible ASCII")
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// The bottom of a chain of causes: what people can act on.
fn innermost(cause: &dyn std::error::Error) -> String {
    let mut inner = cause;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(url: &str) -> Result<Gate, Stop> {
        let base = parse_base(url)?;
        Ok(Gate {
            base,
            client: Client::builder().tls_certs_only([]).build().unwrap(),
            key: None,
            verbose: false,
        })
    }

    #[test]
    fn addresses_are_built_from_escaped_parts() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = |base: &str| {
            gate(base).unwrap().url(&["api", "v1", "tools", "a/b c?"], &[("q", "1&2".to_owned())])
        };
        assert_eq!(
            url("http://127.0.0.1:1").as_str(),
            "http://127.0.0.1:1/api/v1/tools/a%2Fb%20c%3F?q=1%262"
        );
        assert_eq!(
            url("https://g.example/in/").as_str(),
            "https://g.example/in/api/v1/tools/a%2Fb%20c%3F?q=1%262"
        );
    }

    #[test]
    fn only_web_addresses_are_gates() {
        for bad in ["", "127.0.0.1:8787", "file:///etc/passwd", "ftp://x", "http://"] {
            assert!(parse_base(bad).is_err(), "{bad}");
        }
        assert!(parse_base(" http://localhost:8787/ ").is_ok());
    }

    #[test]
    fn loopback_is_known_by_name_and_address() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.9:1", true),
            ("http://[::1]:1", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}

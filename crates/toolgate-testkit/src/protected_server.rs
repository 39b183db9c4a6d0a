//! An MCP server that wants a login, and its authorization server, in one: strict about everything a client promises
//! (PKCE, redirect address, resource, single use), and with faults that tests choose.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the server does otherwise than it should, or than most do.
#[derive(Debug, Clone)]
pub struct ProtectedServerFaults {
    /// How long tokens last.
    pub expires_in: u64,
    /// Whether the token endpoint answers with an error.
    pub down: bool,
    /// The issuer it says it is, if not its own.
    pub issuer: Option<String>,
    /// Whether it offers PKCE.
    pub pkce: bool,
    /// Whether it lets clients register.
    pub registers: bool,
    /// Whether it reads about clients at their own address.
    pub reads_documents: bool,
    /// Where its metadata says tokens come from, if not from itself.
    pub token_endpoint: Option<String>,
}

impl Default for ProtectedServerFaults {
    fn default() -> Self {
        Self {
            expires_in: 3600,
            down: false,
            issuer: None,
            pkce: true,
            registers: true,
            reads_documents: false,
            token_endpoint: None,
        }
    }
}

#[derive(Debug, Default)]
struct Known {
    faults: ProtectedServerFaults,
    clients: HashMap<String, (Vec<String>, Option<String>)>,
    /// The scopes that clients registered for.
    registered_for: HashMap<String, String>,
    /// Codes with what they are bound to: client, redirect address, challenge, resource.
    codes: HashMap<String, [String; 4]>,
    refresh: HashSet<String>,
    spent: HashSet<String>,
    access: HashSet<String>,
    /// Every refresh that was tried.
    refreshes: u64,
    made: u64,
    requests: Vec<String>,
}

/// A server on a free loopback port. Ends on drop.
#[derive(Debug)]
pub struct ProtectedServer {
    address: SocketAddr,
    known: Arc<Mutex<Known>>,
    server: JoinHandle<()>,
}

impl ProtectedServer {
    /// Starts one.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port");
        let address = listener.local_addr().expect("the port just bound");
        let known = Arc::new(Mutex::new(Known::default()));
        let shared = Arc::clone(&known);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let known = Arc::clone(&shared);
                let service = service_fn(move |request| answer(address, Arc::clone(&known), request));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { address, known, server }
    }

    /// The MCP server's address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Host and port.
    #[must_use]
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The authorization server.
    #[must_use]
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes how it behaves.
    pub fn faults(&self, change: impl FnOnce(&mut ProtectedServerFaults)) {
        change(&mut lock(&self.known).faults);
    }

    /// Makes a client known, with a secret or without.
    pub fn add_client(&self, id: &str, redirect_uri: &str, secret: Option<&str>) {
        let client = (vec![redirect_uri.to_owned()], secret.map(ToOwned::to_owned));
        lock(&self.known).clients.insert(id.to_owned(), client);
    }

    /// A person says yes at the address a browser was sent to. Returns where the browser is sent back.
    #[must_use]
    pub fn consent(&self, authorize_url: &str) -> String {
        let (_, query) = authorize_url.split_once('?').expect("an address with a query");
        let asked = fields(query);
        let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
        assert_eq!(of("response_type"), "code");
        assert_eq!(of("code_challenge_method"), "S256");
        assert_eq!(of("resource"), self.url());
        let mut known = lock(&self.known);
        let (client, redirect) = (of("client_id"), of("redirect_uri"));
        if !client.starts_with("http") {
            let (allowed, _) = known.clients.get(&client).expect("a client that is known");
            assert!(allowed.contains(&redirect), "the redirect address is registered");
            // Many authorization servers refuse what a client did not register for.
            if let Some(scope) = known.registered_for.get(&client) {
                assert_eq!(&of("scope"), scope, "what is asked for is registered");
            }
        }
        known.made += 1;
        let code = format!("code-{}", known.made);
        known.codes.insert(code.clone(), [client, redirect.clone(), of("code_challenge"), of("resource")]);
        let issuer = format!("http%3A%2F%2F{}", self.address.to_string().replace(':', "%3A"));
        format!("{redirect}?code={code}&state={}&iss={issuer}", of("state"))
    }

    /// Ends every token: neither access nor refresh tokens are worth anything.
    pub fn revoke_all(&self) {
        let mut known = lock(&self.known);
        known.refresh.clear();
        known.access.clear();
    }

    /// How often a refresh was tried.
    #[must_use]
    pub fn refreshes(&self) -> u64 {
        lock(&self.known).refreshes
    }

    /// Whether a refresh token came twice: what a server takes for theft.
    #[must_use]
    pub fn saw_reuse(&self) -> bool {
        !lock(&self.known).spent.is_empty() && lock(&self.known).refresh.is_empty()
    }

    /// Whether this is a token that works.
    #[must_use]
    pub fn accepts(&self, token: &str) -> bool {
        lock(&self.known).access.contains(token)
    }

    /// Every secret it ever gave out or was given.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let known = lock(&self.known);
        known.access.iter().chain(&known.refresh).chain(&known.spent).cloned().collect()
    }

    /// What was asked of it, as methods and paths.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        lock(&self.known).requests.clone()
    }
}

impl Drop for ProtectedServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    address: SocketAddr,
    known: Arc<Mutex<Known>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    let issuer = format!("http://{address}");
    let mut known = lock(&known);
    known.requests.push(format!("{} {}", parts.method, parts.uri.path()));
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Ok(match (&parts.method, parts.uri.path()) {
        (_, "/mcp") => {
            let token = header("authorization").strip_prefix("Bearer ").unwrap_or_default();
            if known.access.contains(token) {
                reply(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))
            } else {
                // A careless server repeats what it was sent.
                let mut refusal = reply(401, &json!({ "error": format!("bad token: {token}") }));
                let told = format!(
                    "Bearer resource_metadata=\"{issuer}/.well-known/oauth-protected-resource/mcp\", scope=\"tools\""
                );
                refusal.headers_mut().insert("www-authenticate", told.parse().expect("a header"));
                refusal
            }
        }
        (&Method::GET, "/.well-known/oauth-protected-resource/mcp") => reply(
            200,
            &json!({ "resource": format!("{issuer}/mcp"), "authorization_servers": [issuer],
                     "scopes_supported": ["tools", "more"] }),
        ),
        (&Method::GET, "/.well-known/oauth-authorization-server") => {
            let faults = &known.faults;
            let mut metadata = json!({
                "issuer": faults.issuer.clone().unwrap_or_else(|| issuer.clone()),
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": faults.token_endpoint.clone().unwrap_or_else(|| format!("{issuer}/token")),
                "scopes_supported": ["tools", "offline_access"],
                "authorization_response_iss_parameter_supported": true,
                "client_id_metadata_document_supported": faults.reads_documents,
            });
            if faults.pkce {
                metadata["code_challenge_methods_supported"] = json!(["S256"]);
            }
            if faults.registers {
                metadata["registration_endpoint"] = json!(format!("{issuer}/register"));
            }
            reply(200, &metadata)
        }
        (&Method::POST, "/register") => {
            let asked: Value = serde_json::from_str(&body).unwrap_or_default();
            let uris = asked["redirect_uris"].as_array().cloned().unwrap_or_default();
            let uris = uris.iter().filter_map(|uri| uri.as_str().map(ToOwned::to_owned)).collect();
            known.made += 1;
            let id = format!("client-{}", known.made);
            known.registered_for.insert(id.clone(), asked["scope"].as_str().unwrap_or_default().to_owned());
            known.clients.insert(id.clone(), (uris, None));
            reply(201, &json!({ "client_id": id, "token_endpoint_auth_method": "none" }))
        }
        (&Method::POST, "/token") => token(&mut known, &fields(&body), header("authorization")),
        _ => reply(404, &json!({})),
    })
}

fn token(known: &mut Known, asked: &HashMap<String, String>, basic: &str) -> Response<Full<Bytes>> {
    let of = |name: &str| asked.get(name).map_or("", String::as_str);
    let refuse =
        |why: &str| reply(400, &json!({ "error": why, "error_description": "the server's own words" }));
    if of("grant_type") == "refresh_token" {
        known.refreshes += 1;
    }
    if known.faults.down {
        return reply(503, &json!({}));
    }
    let secret = known.clients.values().find_map(|(_, secret)| secret.clone());
    if secret.is_some() && !basic.starts_with("Basic ") && of("client_secret") != secret.unwrap_or_default() {
        return reply(401, &json!({ "error": "invalid_client" }));
    }
    match of("grant_type") {
        "authorization_code" => {
            let Some(bound) = known.codes.remove(of("code")) else { return refuse("invalid_grant") };
            let challenge = challenge_of(of("code_verifier"));
            let client = if basic.is_empty() { of("client_id").to_owned() } else { bound[0].clone() };
            if bound != [client, of("redirect_uri").to_owned(), challenge, of("resource").to_owned()] {
                return refuse("invalid_grant");
            }
        }
        "refresh_token" => {
            let token = of("refresh_token").to_owned();
            if known.spent.contains(&token) {
                // Someone has a copy: the whole family ends.
                known.refresh.clear();
                known.access.clear();
                return refuse("invalid_grant");
            }
            if !known.refresh.remove(&token) {
                return refuse("invalid_grant");
            }
            known.spent.insert(token);
        }
        _ => return refuse("unsupported_grant_type"),
    }
    known.made += 1;
    let (access, refresh) =
        (format!("s3cret-access-{}", known.made), format!("s3cret-refresh-{}", known.made));
    known.access.insert(access.clone());
    known.refresh.insert(refresh.clone());
    reply(
        200,
        &json!({ "access_token": access, "token_type": "bearer", "expires_in": known.faults.expires_in,
                 "refresh_token": refresh, "scope": "tools" }),
    )
}

fn reply(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let built = Response::builder().status(status).header("content-type", "application/json");
    built.body(Full::new(body.to_string().into())).expect("a response")
}

fn challenge_of(verifier: &str) -> String {
    use base64::Engine;
    use sha2::Digest;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier.as_bytes()))
}

fn fields(form: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(form.as_bytes()).into_owned().collect()
}

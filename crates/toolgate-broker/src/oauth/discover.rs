//! Where one logs in: from the server to what it says of itself, and on to its authorization server.

use serde::Deserialize;
use toolgate_core::CallError;
use toolgate_egress::{EgressClient, EgressResponse, Method, StatusCode, Url, header};

use super::{send, unreachable, unusable};

/// An authorization server and what is asked of it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) metadata: Metadata,
    /// What tokens are for.
    pub(crate) resource: String,
    /// What they should let us do.
    pub(crate) scopes: Vec<String>,
}

/// What an authorization server says of itself (RFC 8414), as far as it is used.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    pub(crate) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
}

/// What a protected server says of itself (RFC 9728), as far as it is used.
#[derive(Debug, Deserialize)]
struct Protected {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Finds the authorization server of an MCP server.
pub(crate) async fn discover(client: &EgressClient, server: &str) -> Result<Server, CallError> {
    let server = Url::parse(server).map_err(|_| unusable("the server has no address to log in at"))?;
    let challenge = challenge_of(client, &server).await?;
    let protected = match challenge.metadata {
        Some(named) => protected_at(client, &server, &named).await?,
        None => protected_by_custom(client, &server).await?,
    };
    let scopes = if challenge.scopes.is_empty() {
        protected.as_ref().map(|found| found.scopes_supported.clone()).unwrap_or_default()
    } else {
        challenge.scopes
    };
    let (resource, issuer) = match protected {
        Some(found) => {
            let issuer = found.authorization_servers.into_iter().next();
            (found.resource, issuer.ok_or_else(|| unusable("the server names no authorization server"))?)
        }
        // Servers of before RFC 9728 are their own authorization servers.
        None => (plain(&server), server.origin().ascii_serialization()),
    };
    let metadata = metadata_of(client, &issuer).await?;
    Ok(Server { metadata, resource, scopes })
}

#[derive(Debug, Default)]
struct Challenge {
    metadata: Option<Url>,
    scopes: Vec<String>,
}

/// What a request without a token is told.
async fn challenge_of(client: &EgressClient, server: &Url) -> Result<Challenge, CallError> {
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let request = client.request(Method::POST, server).json(&body);
    let request = request.header("accept", "application/json, text/event-stream");
    let answer = request.timeout(super::PATIENCE).max_bytes(super::MOST_BYTES).send().await;
    let answer = answer.map_err(|cause| unreachable("the server", &cause))?;
    let told =
        answer.headers.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let told: Vec<&str> = told.filter(|text| text.to_ascii_lowercase().starts_with("bearer")).collect();
    let parameter = |name: &str| told.iter().find_map(|text| parameter_of(text, name));
    Ok(Challenge {
        metadata: parameter("resource_metadata").and_then(|url| Url::parse(&url).ok()),
        scopes: parameter("scope").map(|scopes| words(&scopes)).unwrap_or_default(),
    })
}

/// One parameter of a challenge: `name="text"` or `name=text`.
fn parameter_of(challenge: &str, name: &str) -> Option<String> {
    let lower = challenge.to_ascii_lowercase();
    let at = lower.match_indices(&format!("{name}=")).find(|(at, _)| {
        challenge[..*at].chars().next_back().is_some_and(|before| before == ' ' || before == ',')
    })?;
    let rest = &challenge[at.0 + name.len() + 1..];
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map(|(text, _)| text.to_owned()),
        None => rest.split([',', ' ']).next().map(ToOwned::to_owned),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().take(64).map(ToOwned::to_owned).collect()
}

async fn protected_at(client: &EgressClient, server: &Url, at: &Url) -> Result<Option<Protected>, CallError> {
    let answer =
        send(client.request(Method::GET, at)).await.map_err(|cause| unreachable("the server", &cause))?;
    let found = answer.status.is_success().then(|| parsed::<Protected>(&answer)).flatten();
    let found = found.ok_or_else(|| unusable("the server names metadata that can't be used"))?;
    if speaks_for(&found.resource, server) {
        return Ok(Some(found));
    }
    Err(unusable("the server's metadata is that of another"))
}

/// The metadata at the places where it has to be: for the path first, then for the host.
async fn protected_by_custom(client: &EgressClient, server: &Url) -> Result<Option<Protected>, CallError> {
    for at in well_known(server, "oauth-protected-resource") {
        let answer = send(client.request(Method::GET, &at)).await;
        let answer = answer.map_err(|cause| unreachable("the server", &cause))?;
        let found = answer.status.is_success().then(|| parsed::<Protected>(&answer)).flatten();
        if let Some(found) = found.filter(|found| speaks_for(&found.resource, server)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether metadata for `resource` is about a server: the same origin, and a path the server's lies below.
fn speaks_for(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let path = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == server.origin() && below
}

async fn metadata_of(client: &EgressClient, issuer: &str) -> Result<Metadata, CallError> {
    let at = Url::parse(issuer).map_err(|_| unusable("the authorization server has no address"))?;
    let mut places = well_known(&at, "oauth-authorization-server");
    places.extend(well_known(&at, "openid-configuration"));
    let mut appended = at.clone();
    appended.set_path(&format!("{}/.well-known/openid-configuration", at.path().trim_end_matches('/')));
    places.push(appended);
    for place in places {
        let answer = send(client.request(Method::GET, &place)).await;
        let answer = answer.map_err(|cause| unreachable("the authorization server", &cause))?;
        if answer.status != StatusCode::OK {
            continue;
        }
        let Some(found) = parsed::<Metadata>(&answer) else { continue };
        // RFC 8414: whoever answers for another issuer is not to be used.
        if found.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            return Err(unusable("the authorization server answers in another's name"));
        }
        if !found.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(unusable("the authorization server does not offer PKCE"));
        }
        for endpoint in [
            Some(&found.authorization_endpoint),
            Some(&found.token_endpoint),
            found.registration_endpoint.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            let url = Url::parse(endpoint)
                .map_err(|_| unusable("the authorization server's metadata is broken"))?;
            client.check_url(&url).map_err(|cause| unreachable("the authorization server", &cause))?;
        }
        return Ok(found);
    }
    Err(unusable("the authorization server says nothing of itself"))
}

/// Where metadata of this name is: with the address's path behind it, and without.
fn well_known(at: &Url, name: &str) -> Vec<Url> {
    let path = at.path().trim_end_matches('/');
    let mut places = Vec::new();
    for path in [path, ""] {
        let mut place = at.clone();
        place.set_path(&format!("/.well-known/{name}{path}"));
        place.set_query(None);
        place.set_fragment(None);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// A server's address as a resource: without query and fragment.
fn plain(server: &Url) -> String {
    let mut plain = server.clone();
    plain.set_query(None);
    plain.set_fragment(None);
    plain.to_string()
}

fn parsed<T: serde::de::DeserializeOwned>(answer: &EgressResponse) -> Option<T> {
    serde_json::from_slice(&answer.bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_whatever_their_order() {
        let check = |text: &str, name: &str, expected: Option<&str>| {
            assert_eq!(parameter_of(text, name).as_deref(), expected, "{text}");
        };
        let full = r#"Bearer realm="x, scope=y", resource_metadata="https://a.example/m", scope="a b""#;
        check(full, "resource_metadata", Some("https://a.example/m"));
        check("Bearer scope=a, resource_metadata=https://a.example", "scope", Some("a"));
        check("Bearer SCOPE=\"a\"", "scope", Some("a"));
        check("Bearer", "scope", None);
        check("Bearer xscope=\"a\"", "scope", None);
        check("Bearer scope=\"a", "scope", None);
    }

    #[test]
    fn metadata_speaks_for_its_own_server_alone() {
        let check = |resource: &str, expected: bool| {
            let server = Url::parse("https://mcp.example/a/mcp").unwrap();
            assert_eq!(speaks_for(resource, &server), expected, "{resource}");
        };
        check("https://mcp.example/a/mcp", true);
        check("https://mcp.example/a/mcp/", true);
        check("https://mcp.example/a", true);
        check("https://mcp.example", true);
        check("https://mcp.example/a/m", false);
        check("https://mcp.example/b", false);
        check("https://evil.example/a/mcp", false);
        check("http://mcp.example/a/mcp", false);
        check("nonsense", false);
    }

    #[test]
    fn metadata_is_looked_for_by_path_and_by_host() {
        let places = |url: &str| -> Vec<String> {
            let url = Url::parse(url).unwrap();
            well_known(&url, "x").iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            places("https://a.example/b/c?d#e"),
            ["https://a.example/.well-known/x/b/c", "https://a.example/.well-known/x"]
        );
        assert_eq!(places("https://a.example"), ["https://a.example/.well-known/x"]);
    }
}

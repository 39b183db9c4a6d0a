//! The token endpoint: a code or a refresh token for tokens.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use toolgate_core::connection::{ClientAuth, OauthAccount};
use toolgate_egress::{EgressClient, EgressError, Method};
use zeroize::{Zeroize, Zeroizing};

use super::send;

/// What is exchanged.
#[derive(Clone, Copy)]
pub(crate) enum Grant<'a> {
    /// What a browser brought back, and the verifier that goes with it.
    Code { code: &'a str, verifier: &'a str },
    /// What came with an earlier token.
    Refresh(&'a str),
}

/// What came of it.
#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access_token: String,
    token_type: String,
    pub(crate) expires_in: Option<u64>,
    pub(crate) refresh_token: Option<String>,
    pub(crate) scope: Option<String>,
}

impl Drop for Tokens {
    fn drop(&mut self) {
        self.access_token.zeroize();
        self.refresh_token.zeroize();
    }
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenFault {
    /// The grant is worth nothing, now and later.
    #[error("the authorization server refused: {0}")]
    Refused(&'static str),
    /// Perhaps later.
    #[error("the authorization server does not answer as it should")]
    Later(#[source] Option<EgressError>),
}

impl Tokens {
    /// How long the access token lasts, as far as is said. A lie does not make it last for ever.
    pub(crate) fn lasts(&self) -> Option<Duration> {
        self.expires_in.map(|seconds| Duration::from_secs(seconds.min(366 * 24 * 3600)))
    }
}

/// Asks for tokens.
pub(crate) async fn redeem(
    client: &EgressClient,
    account: &OauthAccount,
    secret: Option<&str>,
    grant: Grant<'_>,
) -> Result<Tokens, TokenFault> {
    let mut fields = vec![("resource", account.resource.as_str())];
    match grant {
        Grant::Code { code, verifier } => fields.extend([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", account.redirect_uri.as_str()),
        ]),
        Grant::Refresh(token) => {
            fields.extend([("grant_type", "refresh_token"), ("refresh_token", token)]);
        }
    }
    let mut basic = None;
    match (account.client_auth, secret) {
        (ClientAuth::Basic, Some(secret)) => basic = Some(basic_auth(&account.client_id, secret)),
        (ClientAuth::Post, Some(secret)) => {
            fields.extend([("client_id", account.client_id.as_str()), ("client_secret", secret)]);
        }
        _ => fields.push(("client_id", &account.client_id)),
    }
    let mut request = client.request(Method::POST, &account.token_endpoint).form(fields);
    if let Some(basic) = basic {
        request = request.header("authorization", basic.as_str());
    }
    let answer = send(request).await.map_err(|cause| TokenFault::Later(Some(cause)))?;
    if !answer.status.is_success() {
        return Err(refusal(answer.status.as_u16(), &answer.bytes));
    }
    let tokens: Tokens = serde_json::from_slice(&answer.bytes).map_err(|_| TokenFault::Later(None))?;
    let sendable =
        |text: &str| (1..=16_384).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    if !tokens.token_type.eq_ignore_ascii_case("bearer") || !sendable(&tokens.access_token) {
        return Err(TokenFault::Refused("it gives tokens of a kind this gate can't send"));
    }
    Ok(tokens)
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

fn refusal(status: u16, body: &[u8]) -> TokenFault {
    // Only words of the standard are repeated: the text beside them is the server's own.
    let word = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.error).unwrap_or_default();
    match word.as_str() {
        "invalid_grant" => TokenFault::Refused("invalid_grant"),
        "invalid_client" => TokenFault::Refused("invalid_client"),
        "unauthorized_client" => TokenFault::Refused("unauthorized_client"),
        "invalid_scope" => TokenFault::Refused("invalid_scope"),
        "invalid_target" => TokenFault::Refused("invalid_target"),
        "invalid_request" => TokenFault::Refused("invalid_request"),
        "unsupported_grant_type" => TokenFault::Refused("unsupported_grant_type"),
        "access_denied" => TokenFault::Refused("access_denied"),
        _ if matches!(status, 400 | 401 | 403) => TokenFault::Refused("no reason given"),
        _ => TokenFault::Later(None),
    }
}

/// RFC 6749: both parts are form-encoded first.
fn basic_auth(id: &str, secret: &str) -> Zeroizing<String> {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encoded(id), encoded(secret)));
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}

//! One identity provider: where to send people, and who comes back.

use async_trait::async_trait;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse,
    CoreTokenType,
};
use openidconnect::{
    AccessToken, AccessTokenHash, AuthType, AuthorizationCode, ClaimsVerificationError, Client, ClientId,
    ClientSecret, CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    IdTokenClaims, IdTokenFields, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, Scope, SignatureVerificationError, StandardErrorResponse, StandardTokenResponse,
    TokenResponse, UserInfoClaims,
};
use toolgate_core::port::identity::{Binding, Identity, IdentityError, IdentityProvider};

use crate::claims::OtherClaims;
use crate::discovery::{Discovery, chain};
use crate::http;

/// Signatures with a provider's own key. Not `none`, and none that our own secret could make.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// How to reach a provider, and as whom.
#[derive(Clone)]
pub struct OidcSettings {
    /// Its issuer URL, exactly as it names itself.
    pub issuer: String,
    /// Who we are there.
    pub client_id: String,
    /// Our secret there; none for a public client, which PKCE alone protects.
    pub client_secret: Option<String>,
    /// What to ask for, beside `openid`.
    pub scopes: Vec<String>,
    /// The claim that names a person's groups.
    pub group_claim: Option<String>,
}

impl std::fmt::Debug for OidcSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcSettings")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "***"))
            .field("scopes", &self.scopes)
            .field("group_claim", &self.group_claim)
            .finish()
    }
}

/// Why a provider can't be used as it is described.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not an address.
    #[error("the issuer `{0}` is not a URL")]
    NotAUrl(String),
    /// Anyone on the way could read along and answer.
    #[error("the issuer `{0}` must be https; plain http is for this machine alone")]
    NotSafe(String),
    /// No TLS, most likely.
    #[error("the HTTP client could not be made")]
    Client(#[from] reqwest::Error),
}

/// An identity provider that speaks OpenID Connect.
#[derive(Debug)]
pub struct OidcProvider {
    settings: OidcSettings,
    issuer: IssuerUrl,
    http: reqwest::Client,
    discovery: Discovery,
}

type OidcTokenResponse = StandardTokenResponse<
    IdTokenFields<
        OtherClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;
type OidcClient = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    OidcTokenResponse,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;
type Claims = IdTokenClaims<OtherClaims, CoreGenderClaim>;

impl OidcProvider {
    /// A provider. Nothing is asked of it yet, so one that is down keeps nobody from starting.
    ///
    /// # Errors
    /// When the issuer is no safe address.
    pub fn new(settings: OidcSettings) -> Result<Self, SettingsError> {
        let issuer = safe_issuer(&settings.issuer)?;
        let http = http::client()?;
        let discovery = Discovery::new(issuer.clone(), http.clone());
        Ok(Self { settings, issuer, http, discovery })
    }

    fn client(
        &self,
        metadata: &CoreProviderMetadata,
        binding: &Binding<'_>,
    ) -> Result<OidcClient, IdentityError> {
        let redirect = RedirectUrl::new(binding.redirect_uri.to_owned())
            .map_err(|_| IdentityError::Unavailable("our own address is not a URL".to_owned()))?;
        let secret = self.settings.client_secret.clone().map(ClientSecret::new);
        let client: OidcClient = Client::from_provider_metadata(
            metadata.clone(),
            ClientId::new(self.settings.client_id.clone()),
            secret,
        );
        // Basic unless the provider names methods and only knows the other one.
        let in_body = metadata.token_endpoint_auth_methods_supported().is_some_and(|methods| {
            !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
                && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
        });
        let auth = if in_body { AuthType::RequestBody } else { AuthType::BasicAuth };
        Ok(client.set_redirect_uri(redirect).set_auth_type(auth))
    }

    fn verify<'t>(
        &self,
        metadata: &CoreProviderMetadata,
        tokens: &'t OidcTokenResponse,
        nonce: &str,
    ) -> Result<&'t Claims, ClaimsVerificationError> {
        let token =
            tokens.id_token().ok_or_else(|| ClaimsVerificationError::Other("no ID token".to_owned()))?;
        let verifier = openidconnect::IdTokenVerifier::new_public_client(
            ClientId::new(self.settings.client_id.clone()),
            self.issuer.clone(),
            metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS);
        let claims = token.claims(&verifier, &Nonce::new(nonce.to_owned()))?;
        if let Some(expected) = claims.access_token_hash() {
            let actual = AccessTokenHash::from_token(
                tokens.access_token(),
                token.signing_alg().map_err(|cause| ClaimsVerificationError::Other(cause.to_string()))?,
                token.signing_key(&verifier).map_err(ClaimsVerificationError::SignatureVerification)?,
            )
            .map_err(|cause| ClaimsVerificationError::Other(cause.to_string()))?;
            if actual != *expected {
                return Err(ClaimsVerificationError::Other("the access token is another's".to_owned()));
            }
        }
        Ok(claims)
    }

    async fn user_info(
        &self,
        client: &OidcClient,
        token: &AccessToken,
        claims: &Claims,
    ) -> Result<Option<UserInfoClaims<OtherClaims, CoreGenderClaim>>, IdentityError> {
        let Ok(request) = client.user_info(token.clone(), Some(claims.subject().clone())) else {
            return Ok(None);
        };
        // Without an answer there would be no groups, and so no roles: better to try again.
        let info = request.request_async(&http::sender(&self.http)).await;
        info.map(Some).map_err(|cause| IdentityError::Unavailable(chain(&cause)))
    }
}

#[async_trait]
impl IdentityProvider for OidcProvider {
    fn issuer(&self) -> Option<&str> {
        Some(self.issuer.as_str())
    }

    async fn sign_in_url(&self, binding: &Binding<'_>) -> Result<String, IdentityError> {
        let metadata = self.discovery.metadata().await?;
        let client = self.client(&metadata, binding)?;
        let verifier = PkceCodeVerifier::new(binding.verifier.to_owned());
        let (state, nonce) = (binding.state.to_owned(), binding.nonce.to_owned());
        let (url, _, _) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state),
                move || Nonce::new(nonce),
            )
            .add_scopes(self.settings.scopes.iter().filter(|s| *s != "openid").cloned().map(Scope::new))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    async fn identify(
        &self,
        binding: &Binding<'_>,
        code: &str,
        issuer: Option<&str>,
    ) -> Result<Identity, IdentityError> {
        if issuer.is_some_and(|issuer| issuer != self.issuer.as_str()) {
            return Err(IdentityError::Untrusted("it names another issuer".to_owned()));
        }
        let metadata = self.discovery.metadata().await?;
        let client = self.client(&metadata, binding)?;
        let tokens = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|_| IdentityError::Unavailable("it has no token endpoint".to_owned()))?
            .set_pkce_verifier(PkceCodeVerifier::new(binding.verifier.to_owned()))
            .request_async(&http::sender(&self.http))
            .await
            .map_err(|cause| match cause {
                openidconnect::RequestTokenError::ServerResponse(_) => {
                    IdentityError::Untrusted(chain(&cause))
                }
                _ => IdentityError::Unavailable(chain(&cause)),
            })?;
        let claims = match self.verify(&metadata, &tokens, binding.nonce) {
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey | SignatureVerificationError::CryptoError(_),
            )) => {
                let metadata = self.discovery.with_new_keys().await?;
                self.verify(&metadata, &tokens, binding.nonce)
            }
            checked => checked,
        }
        .map_err(|cause| IdentityError::Untrusted(chain(&cause)))?;

        let mut identity = from_claims(&self.settings, claims);
        let groups =
            self.settings.group_claim.as_deref().map(|claim| claims.additional_claims().groups(claim));
        if let Some(Some(groups)) = &groups {
            identity.groups.clone_from(groups);
        }
        let incomplete = groups == Some(None) || (identity.email.is_none() && identity.username.is_none());
        if incomplete && let Some(info) = self.user_info(&client, tokens.access_token(), claims).await? {
            complete(&mut identity, &self.settings, &info);
        }
        Ok(identity)
    }
}

/// An address that is safe to talk to.
pub(crate) fn safe_issuer(text: &str) -> Result<IssuerUrl, SettingsError> {
    let issuer = IssuerUrl::new(text.to_owned()).map_err(|_| SettingsError::NotAUrl(text.to_owned()))?;
    let here = || match issuer.url().host_str() {
        Some("localhost" | "127.0.0.1" | "[::1]") => issuer.url().scheme() == "http",
        _ => false,
    };
    if issuer.url().scheme() != "https" && !here() {
        return Err(SettingsError::NotSafe(text.to_owned()));
    }
    Ok(issuer)
}

fn from_claims(settings: &OidcSettings, claims: &Claims) -> Identity {
    Identity {
        issuer: settings.issuer.clone(),
        sub: claims.subject().as_str().to_owned(),
        email: claims.email().map(|email| email.as_str().to_owned()),
        email_verified: claims.email_verified().unwrap_or(false),
        username: claims.preferred_username().map(|name| name.as_str().to_owned()),
        title: claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned()),
        groups: Vec::new(),
    }
}

/// Fills in what the ID token left out; what it said stays.
fn complete(
    identity: &mut Identity,
    settings: &OidcSettings,
    info: &UserInfoClaims<OtherClaims, CoreGenderClaim>,
) {
    if identity.email.is_none() {
        identity.email = info.email().map(|email| email.as_str().to_owned());
        identity.email_verified = info.email_verified().unwrap_or(false);
    }
    if identity.username.is_none() {
        identity.username = info.preferred_username().map(|name| name.as_str().to_owned());
    }
    if identity.title.is_none() {
        identity.title = info.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned());
    }
    if identity.groups.is_empty()
        && let Some(claim) = &settings.group_claim
    {
        identity.groups = info.additional_claims().groups(claim).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn with_issuer(issuer: &str) -> Result<OidcProvider, SettingsError> {
        OidcProvider::new(OidcSettings {
            issuer: issuer.to_owned(),
            client_id: "toolgate".to_owned(),
            client_secret: Some("very secret".to_owned()),
            scopes: vec![],
            group_claim: None,
        })
    }

    #[test]
    fn issuers_must_be_safe_to_talk_to() {
        let _ = rustls_provider();
        for good in
            ["https://login.example", "http://localhost:1234", "http://127.0.0.1:1/x", "http://[::1]:1"]
        {
            assert!(with_issuer(good).is_ok(), "{good}");
        }
        for bad in
            ["http://login.example", "ftp://localhost", "login.example", "", "http://localhost.example"]
        {
            assert!(with_issuer(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let _ = rustls_provider();
        assert!(!format!("{:?}", with_issuer("https://login.example").unwrap()).contains("very secret"));
    }

    #[tokio::test]
    async fn a_dead_provider_says_so_and_is_not_asked_again_at_once() {
        let _ = rustls_provider();
        let provider = with_issuer("http://127.0.0.1:1").unwrap();
        let binding = Binding { redirect_uri: "http://localhost/x", state: "s", nonce: "n", verifier: "v" };
        let first = provider.sign_in_url(&binding).await.unwrap_err();
        let began = Instant::now();
        let again = provider.sign_in_url(&binding).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_millis(50));
        assert_eq!(first.to_string(), again.to_string());
    }

    fn rustls_provider() -> Result<(), std::sync::Arc<rustls::crypto::CryptoProvider>> {
        rustls::crypto::ring::default_provider().install_default()
    }
}

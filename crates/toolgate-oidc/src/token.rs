//! Access tokens of another server: signed JSON (RFC 7519, RFC 9068), checked with the keys it publishes.

use async_trait::async_trait;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolgate_core::Timestamp;
use toolgate_core::port::identity::{Identity, IdentityError};
use toolgate_core::port::oauth::{TokenVerifier, Vouched};

use crate::claims::OtherClaims;
use crate::http;
use crate::keys::Keys;
use crate::provider::{SettingsError, safe_issuer};

/// Signatures with the issuer's own key. Not `none`, and none that a published key could make.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];
/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 30;

/// Whose tokens are taken, and how they are read.
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    /// Its issuer URL, exactly as it names itself.
    pub issuer: String,
    /// What its tokens must be for.
    pub audience: String,
    /// The claim that says who it is, and never says it of anyone else.
    pub principal_claim: String,
    /// The claim that names a person's groups. A token without it is not taken.
    pub group_claim: Option<String>,
}

/// An issuer of access tokens.
#[derive(Debug)]
pub struct TokenIssuer {
    settings: IssuerSettings,
    keys: Keys,
}

#[derive(Debug, Deserialize)]
struct Unproven {
    iss: Option<String>,
}

impl TokenIssuer {
    /// An issuer. Nothing is asked of it yet, so one that is down keeps nobody from starting.
    ///
    /// # Errors
    /// When the issuer is no safe address.
    pub fn new(settings: IssuerSettings) -> Result<Self, SettingsError> {
        safe_issuer(&settings.issuer)?;
        // One of two in this process may be asked for by others; ours is said aloud.
        let _ = jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER.install_default();
        let keys = Keys::new(settings.issuer.clone(), http::client()?);
        Ok(Self { settings, keys })
    }

    fn checked(&self, token: &str, header: &Header, key: &Jwk) -> Result<Map<String, Value>, String> {
        // The one it names, which was found among those that are taken, and which the key's kind must fit.
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(&[&self.settings.audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let key = DecodingKey::from_jwk(key).map_err(|cause| cause.to_string())?;
        let read =
            decode::<Map<String, Value>>(token, &key, &validation).map_err(|cause| cause.to_string())?;
        // A list of issuers is nobody's word.
        match read.claims.get("iss") {
            Some(Value::String(issuer)) if *issuer == self.settings.issuer => Ok(read.claims),
            _ => Err("it names another issuer".to_owned()),
        }
    }
}

#[async_trait]
impl TokenVerifier for TokenIssuer {
    fn is_issuer_of(&self, token: &str) -> bool {
        jsonwebtoken::dangerous::insecure_decode_claims::<Unproven>(token)
            .is_ok_and(|claims| claims.iss.as_deref() == Some(self.settings.issuer.as_str()))
    }

    async fn verify(&self, token: &str, now: Timestamp) -> Result<Vouched, IdentityError> {
        let untrusted = |why: String| IdentityError::Untrusted(why);
        let header = decode_header(token).map_err(|cause| untrusted(cause.to_string()))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(untrusted("its algorithm is not taken".to_owned()));
        }
        if !is_access_token(header.typ.as_deref()) {
            return Err(untrusted("it is not an access token".to_owned()));
        }
        let fits = |key: &Jwk| fits(key, &header);
        let key = match self.keys.find(fits).await? {
            Some(key) => key,
            None => self
                .keys
                .find_anew(fits)
                .await?
                .ok_or_else(|| untrusted("no key of the issuer fits it".to_owned()))?,
        };
        let claims = self.checked(token, &header, &key).map_err(untrusted)?;
        let expires_at = expiry(&claims).filter(|end| now < end.plus(std::time::Duration::from_secs(LEEWAY)));
        let expires_at = expires_at.ok_or_else(|| untrusted("its time is over".to_owned()))?;
        let identity = self.identity(&claims).map_err(untrusted)?;
        Ok(Vouched { identity, scopes: scopes(&claims), expires_at })
    }
}

impl TokenIssuer {
    fn identity(&self, claims: &Map<String, Value>) -> Result<Identity, String> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let claim = &self.settings.principal_claim;
        let sub = text(claim).filter(|sub| !sub.is_empty() && sub.len() <= 255);
        let groups = match &self.settings.group_claim {
            None => Vec::new(),
            // Without it a person would lose the roles their groups give.
            Some(claim) => OtherClaims::of(claims)
                .groups(claim)
                .ok_or_else(|| format!("it lacks the claim `{claim}`"))?,
        };
        Ok(Identity {
            issuer: self.settings.issuer.clone(),
            sub: sub.ok_or_else(|| format!("it lacks the claim `{claim}`"))?,
            email: text("email"),
            email_verified: claims.get("email_verified") == Some(&Value::Bool(true)),
            username: text("preferred_username"),
            title: text("name"),
            groups,
        })
    }
}

/// Whether a key may have signed this: the one it names, or any of the right kind when it names none.
fn fits(key: &Jwk, header: &Header) -> bool {
    let named = header.kid.is_none() || key.common.key_id == header.kid;
    let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    let said = key.common.key_algorithm.is_none_or(|known| known.to_string() == format!("{:?}", header.alg));
    let kind = match &key.algorithm {
        AlgorithmParameters::RSA(_) => header.alg == Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(_) => header.alg == Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(_) => header.alg == Algorithm::EdDSA,
        // A secret that is published is none.
        _ => false,
    };
    named && signs && said && kind
}

/// Whether a token's type is one that access tokens have; many issuers name none, or the general one.
fn is_access_token(typ: Option<&str>) -> bool {
    typ.is_none_or(|typ| {
        ["jwt", "at+jwt", "application/at+jwt"].iter().any(|known| typ.eq_ignore_ascii_case(known))
    })
}

fn expiry(claims: &Map<String, Value>) -> Option<Timestamp> {
    let seconds = claims.get("exp")?.as_f64().filter(|seconds| (0.0..1e11).contains(seconds))?;
    #[allow(clippy::cast_possible_truncation, reason = "whole seconds within the bounds above")]
    let seconds = seconds as i64;
    Some(Timestamp::from_micros(seconds * 1_000_000))
}

/// `scope` as a text with spaces (RFC 8693), or `scp` as a list.
fn scopes(claims: &Map<String, Value>) -> Vec<String> {
    match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(text)) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

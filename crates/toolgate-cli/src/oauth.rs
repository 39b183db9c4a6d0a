//! Applications that act for people, from the operator's file: who hands out tokens, and whose are taken.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use async_trait::async_trait;
use serde::Deserialize;
use toolgate_app::{ConnectedIssuer, ConnectedProvider, DynamicRegistration, OauthSettings, TokensOnly};
use toolgate_core::id::{Slug, TenantId};
use toolgate_core::oauth::OauthScope;
use toolgate_core::port::oauth::ClientDocuments;
use toolgate_egress::{EgressClient, EgressPolicy, Method};
use toolgate_oidc::{IssuerSettings, TokenIssuer};

/// How long an application's document may take to come.
const FETCH_WITHIN: Duration = Duration::from_secs(5);
/// How large it may be.
const MOST_BYTES: usize = 64 * 1024;

/// `[oauth]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OauthConfig {
    /// Whether this server hands out tokens itself.
    built_in: bool,
    /// Which applications may name themselves.
    dynamic_registration: Registration,
    /// Whether an application's id may be the address of a document about it.
    client_documents: bool,
    /// Other servers whose access tokens are taken.
    issuers: Vec<IssuerConfig>,
}

impl Default for OauthConfig {
    fn default() -> Self {
        Self {
            built_in: true,
            dynamic_registration: Registration::default(),
            client_documents: true,
            issuers: Vec::new(),
        }
    }
}

/// `false`, `"local"` or `true`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(untagged, expecting = "`dynamic_registration` is `false`, `\"local\"` or `true`")]
enum Registration {
    All(bool),
    #[default]
    #[serde(with = "local")]
    Local,
}

mod local {
    use serde::{Deserialize, Deserializer};

    #[derive(Deserialize)]
    enum Word {
        #[serde(rename = "local")]
        Local,
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        Word::deserialize(deserializer).map(|Word::Local| ())
    }
}

impl From<Registration> for DynamicRegistration {
    fn from(registration: Registration) -> Self {
        match registration {
            Registration::All(true) => Self::Any,
            Registration::All(false) => Self::Off,
            Registration::Local => Self::Local,
        }
    }
}

/// `[[oauth.issuers]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssuerConfig {
    /// Its issuer URL, exactly as it names itself.
    issuer: String,
    /// What its tokens must be for. An address of this server says where they work; any other word means `/mcp`.
    audience: String,
    /// The tenant its people belong to.
    #[serde(default = "TenantId::default_tenant")]
    tenant: TenantId,
    /// The claim that says who it is.
    #[serde(default = "sub")]
    principal_claim: String,
    /// The claim that names a person's groups.
    group_claim: Option<String>,
    /// What tokens may do that name no scope of ours.
    #[serde(default = "tools")]
    scopes: Vec<OauthScope>,
    /// Whether people who are new here are made users.
    #[serde(default)]
    create_users: bool,
    /// Whether someone with a proven address becomes the user of that name.
    #[serde(default)]
    link_by_email: bool,
    /// The roles everyone gets.
    #[serde(default)]
    default_roles: Vec<Slug>,
    /// The roles each group gives.
    #[serde(default)]
    roles: BTreeMap<String, Vec<Slug>>,
}

fn sub() -> String {
    "sub".to_owned()
}

fn tools() -> Vec<OauthScope> {
    vec![OauthScope::Tools]
}

/// What the file decides about applications. No issuer is asked anything yet.
pub(crate) fn settings(config: OauthConfig) -> anyhow::Result<OauthSettings> {
    let issuers = config.issuers.into_iter().map(|issuer| {
        let context = format!("the issuer `{}` of `[[oauth.issuers]]`", issuer.issuer);
        connect(issuer).context(context)
    });
    let issuers: Vec<ConnectedIssuer> = issuers.collect::<anyhow::Result<_>>()?;
    for (at, issuer) in issuers.iter().enumerate() {
        if issuers[..at].iter().any(|other| other.issuer == issuer.issuer) {
            bail!("the issuer `{}` stands twice in `[[oauth.issuers]]`", issuer.issuer);
        }
    }
    // Anyone's request can name any address, so none is reached that the operator allows for tools.
    let documents = match config.client_documents {
        true => Some(Arc::new(Documents(EgressClient::new(EgressPolicy::default())?)) as _),
        false => None,
    };
    let OauthConfig { built_in, dynamic_registration, .. } = config;
    Ok(OauthSettings { built_in, dynamic_registration: dynamic_registration.into(), documents, issuers })
}

fn connect(config: IssuerConfig) -> anyhow::Result<ConnectedIssuer> {
    if !config.roles.is_empty() && config.group_claim.is_none() {
        bail!("`roles` are given by group: name the claim that lists them with `group_claim`");
    }
    if config.audience.is_empty() {
        bail!("`audience` must say what its tokens are for: without it, a token for anyone would do");
    }
    if config.scopes.is_empty() {
        bail!("`scopes` must allow something, such as `tools`");
    }
    let verifier = TokenIssuer::new(IssuerSettings {
        issuer: config.issuer.clone(),
        audience: config.audience.clone(),
        principal_claim: config.principal_claim,
        group_claim: config.group_claim,
    })?;
    let people = ConnectedProvider {
        name: config.issuer.clone(),
        title: config.issuer.clone(),
        tenant: config.tenant,
        create_users: config.create_users,
        link_by_email: config.link_by_email,
        default_roles: config.default_roles,
        roles: config.roles,
        provider: Arc::new(TokensOnly),
    };
    Ok(ConnectedIssuer {
        issuer: config.issuer,
        audience: config.audience,
        scopes: config.scopes,
        people,
        verifier: Arc::new(verifier),
    })
}

/// Fetches applications' documents from public addresses.
struct Documents(EgressClient);

#[async_trait]
impl ClientDocuments for Documents {
    async fn fetch(&self, url: &str) -> Result<String, String> {
        // No redirects: the document is at the address that is the id, or nowhere.
        let request = self.0.request(Method::GET, url).header("accept", "application/json");
        let answer = request.timeout(FETCH_WITHIN).max_bytes(MOST_BYTES).send().await;
        let answer = answer.map_err(|cause| cause.to_string())?;
        if answer.status.as_u16() != 200 {
            return Err(format!("its server answers {}", answer.status.as_u16()));
        }
        String::from_utf8(answer.bytes.to_vec()).map_err(|_| "it is not text".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_config(more: &str) -> Result<OauthSettings, String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = toml::from_str(more).map_err(|cause| cause.to_string())?;
        settings(config).map_err(|cause| format!("{cause:#}"))
    }

    #[test]
    fn nothing_has_to_be_said() {
        let settings = try_config("").unwrap();
        assert!(
            settings.built_in
                && settings.dynamic_registration == DynamicRegistration::Local
                && settings.issuers.is_empty()
        );
        assert!(settings.documents.is_some());
        assert!(try_config("client_documents = false").unwrap().documents.is_none());
    }

    #[test]
    fn what_can_not_work_is_said_at_start() {
        let issuer = "[[issuers]]\nissuer = 'https://id.example'\naudience = 'toolgate'\n";
        assert!(try_config(issuer).is_ok());
        for (more, why) in [
            (format!("{issuer}{issuer}"), "twice"),
            (format!("{issuer}[issuers.roles]\nadmins = ['admin']"), "`group_claim`"),
            (format!("{issuer}scopes = []"), "`scopes`"),
            (format!("{issuer}scopes = ['manage']"), "unknown variant"),
            ("[[issuers]]\nissuer = 'https://id.example'\naudience = ''".to_owned(), "`audience`"),
            ("[[issuers]]\nissuer = 'http://id.example'\naudience = 'x'".to_owned(), "https"),
            ("[[issuers]]\nissuer = 'https://id.example'".to_owned(), "missing field"),
        ] {
            let cause = try_config(&more).unwrap_err();
            assert!(cause.contains(why), "{more}: {cause}");
        }
    }

    #[tokio::test]
    async fn no_document_is_fetched_from_inside_the_house() {
        let documents = try_config("").unwrap().documents.unwrap();
        for inside in [
            "https://127.0.0.1/client.json",
            "https://169.254.169.254/x",
            "https://[::1]/x",
            "https://10.0.0.1/x",
        ] {
            let why = documents.fetch(inside).await.unwrap_err();
            assert!(why.contains("is not a public address"), "{inside}: {why}");
        }
        assert!(documents.fetch("https://localhost/client.json").await.unwrap_err().contains("not a public"));
        assert!(documents.fetch("http://example.com/client.json").await.unwrap_err().contains("https alone"));
    }
}

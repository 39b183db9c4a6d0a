//! Identity providers, from the operator's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use toolgate_app::ConnectedProvider;
use toolgate_core::id::{Slug, TenantId};
use toolgate_oidc::{OidcProvider, OidcSettings};

/// `[oidc.<name>]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OidcConfig {
    /// The tenant its people belong to.
    #[serde(default = "TenantId::default_tenant")]
    tenant: TenantId,
    /// What people call it; its name when it is left out.
    title: Option<String>,
    /// Its issuer URL, exactly as it names itself.
    issuer: String,
    /// Who this server is there.
    client_id: String,
    /// The variable that holds this server's secret there; none for a public client.
    client_secret_env: Option<String>,
    /// What to ask for, beside `openid`.
    #[serde(default = "default_scopes")]
    scopes: Vec<String>,
    /// The claim that names a person's groups.
    group_claim: Option<String>,
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

fn default_scopes() -> Vec<String> {
    ["email", "profile"].map(str::to_owned).to_vec()
}

/// Connects the providers of the file. None of them is asked anything yet.
pub(crate) fn connect(all: BTreeMap<String, OidcConfig>) -> anyhow::Result<Vec<ConnectedProvider>> {
    all.into_iter()
        .map(|(name, config)| {
            let context = format!("the identity provider `[oidc.{name}]`");
            connect_one(name, config, |variable| std::env::var(variable).ok()).context(context)
        })
        .collect()
}

fn connect_one(
    name: String,
    config: OidcConfig,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<ConnectedProvider> {
    // The name stands in addresses.
    name.parse::<Slug>()?;
    if !config.roles.is_empty() && config.group_claim.is_none() {
        bail!("`roles` are given by group: name the claim that lists them with `group_claim`");
    }
    let client_secret = match &config.client_secret_env {
        None => None,
        Some(named) => match variable(named).filter(|secret| !secret.is_empty()) {
            Some(secret) => Some(secret),
            None => bail!("the variable `{named}` that `client_secret_env` names is not set"),
        },
    };
    let provider = OidcProvider::new(OidcSettings {
        issuer: config.issuer,
        client_id: config.client_id,
        client_secret,
        scopes: config.scopes,
        group_claim: config.group_claim,
    })?;
    Ok(ConnectedProvider {
        title: config.title.unwrap_or_else(|| name.clone()),
        name,
        tenant: config.tenant,
        create_users: config.create_users,
        link_by_email: config.link_by_email,
        default_roles: config.default_roles,
        roles: config.roles,
        provider: Arc::new(provider),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_config(more: &str) -> Result<ConnectedProvider, String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let text = format!("issuer = 'https://login.example'\nclient_id = 'toolgate'\n{more}");
        let config = toml::from_str(&text).map_err(|cause| cause.to_string())?;
        let variable = |name: &str| (name == "SET").then(|| "secret".to_owned());
        connect_one("company".to_owned(), config, variable).map_err(|cause| format!("{cause:#}"))
    }

    #[test]
    fn little_has_to_be_said() {
        let company = try_config("").unwrap();
        assert_eq!((company.title.as_str(), company.tenant.as_str()), ("company", "default"));
        assert!(!company.create_users && !company.link_by_email);
    }

    #[test]
    fn what_can_not_work_is_said_at_start() {
        for (more, why) in [
            ("client_secret_env = 'UNSET'", "`UNSET`"),
            ("[roles]\nadmins = ['admin']", "`group_claim`"),
            ("default_roles = ['Not A Role']", "not a valid name"),
            ("no_such = 1", "unknown field"),
        ] {
            let cause = try_config(more).unwrap_err();
            assert!(cause.contains(why), "{more}: {cause}");
        }
        assert!(try_config("client_secret_env = 'SET'").is_ok());
        assert!(try_config("group_claim = 'groups'\n[roles]\nadmins = ['admin']").is_ok());
    }
}

//! The operator's file: default policies, tools, limits, hosts and identity providers. Flags win over the environment,
//! the environment over the file.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toolgate_egress::EgressPolicy;
use toolgate_policy::cedar::Policies;

use crate::broker::ConnectionConfig;
use crate::files::FileConfig;
use crate::notify::NotifyConfig;
use crate::oauth::OauthConfig;
use crate::oidc::OidcConfig;
use crate::shares::ShareConfig;

/// `toolgate.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Who may call what.
    pub(crate) policy: PolicyConfig,
    /// Which tools there are at all.
    pub(crate) tools: ToolConfig,
    /// How much.
    pub(crate) limits: LimitConfig,
    /// MCP servers that this gate calls.
    pub(crate) upstreams: UpstreamConfig,
    /// The HTTP door.
    pub(crate) server: ServerConfig,
    /// Identity providers to sign in with, by name.
    pub(crate) oidc: BTreeMap<String, OidcConfig>,
    /// Applications that act for people.
    pub(crate) oauth: OauthConfig,
    /// Who is told outside of what happens, by name.
    pub(crate) notify: BTreeMap<String, NotifyConfig>,
    /// Links by which anyone may look at a run.
    pub(crate) shares: ShareConfig,
    /// Where requests may go that leave the house.
    pub(crate) egress: EgressPolicy,
    /// Accounts at outside services.
    pub(crate) connections: ConnectionConfig,
    /// Files that tools read.
    pub(crate) files: FileConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PolicyConfig {
    /// A file of Cedar policies for tenants that saved none; without one: reads run, changes ask a person.
    pub(crate) default_file: Option<PathBuf>,
}

/// Which tools are switched on. Ids; `*` at the end stands for any rest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolConfig {
    /// Only these; none means all.
    pub(crate) enabled: Option<Vec<String>>,
    /// Never these.
    pub(crate) disabled: Vec<String>,
    /// A folder of contracts, one JSON file each, of tools whose results come from outside.
    pub(crate) folder: Option<PathBuf>,
}

impl ToolConfig {
    /// Whether this tool is switched on.
    pub(crate) fn enables(&self, id: &str) -> bool {
        let any = |patterns: &[String]| {
            patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => id.starts_with(start),
                None => pattern == id,
            })
        };
        self.enabled.as_deref().is_none_or(any) && !any(&self.disabled)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UpstreamConfig {
    /// The programs that may be started as MCP servers, in any tenant; `*` at the end stands for any rest. Left out, the
    /// default tenant's managers may name any, and other tenants none.
    pub(crate) commands: Option<Vec<String>>,
    /// Who these programs run as, where the gate runs as root; left out, they run with the gate's own rights.
    pub(crate) run_as: Option<RunAs>,
}

/// A user and a group, by number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunAs {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitConfig {
    /// Calls a second for one principal, over all tools.
    pub(crate) calls_per_second: Option<NonZeroU32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerConfig {
    /// Host names this server answers for.
    pub(crate) hosts: Vec<String>,
    /// The largest body, in bytes.
    pub(crate) max_body_bytes: Option<usize>,
    /// Where browsers find this server.
    pub(crate) public_url: Option<String>,
    /// Further sites whose pages may use the MCP door.
    pub(crate) origins: Vec<String>,
    /// Proxies whose word on where a request comes from is taken.
    pub(crate) trusted_proxies: Vec<IpAddr>,
    /// The most connections at once from one address.
    pub(crate) max_connections_per_peer: Option<usize>,
}

impl Config {
    /// Reads the file, if one is named.
    pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("`{}` can't be read", path.display()))?;
        toml::from_str(&text).with_context(|| format!("`{}` is not a configuration", path.display()))
    }

    /// The policies of tenants that saved none.
    pub(crate) fn default_policies(&self) -> anyhow::Result<String> {
        let Some(path) = &self.policy.default_file else { return Ok(Policies::default_set().0.to_owned()) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("`{}` can't be read", path.display()))?;
        // What names a tool is checked against its schema when a tenant saves it; here tools may come and go.
        Policies::check(&text, &|_| None).with_context(|| format!("`{}`", path.display()))?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_in_the_repository_is_a_configuration() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/toolgate.example.toml");
        let config = Config::read(Some(&example)).unwrap();
        assert!(config.policy.default_file.is_some());
    }

    #[test]
    fn tools_are_switched_on_and_off_by_pattern() {
        let tools = |text: &str| toml::from_str::<ToolConfig>(text).unwrap();
        assert!(tools("").enables("core__x"));
        assert!(!tools("disabled = ['core__*']").enables("core__x"));
        assert!(tools("disabled = ['core__*']").enables("other__x"));
        assert!(!tools("enabled = ['core__y']").enables("core__x"));
        assert!(!tools("enabled = ['core__*']\ndisabled = ['core__x']").enables("core__x"));
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(toml::from_str::<Config>("[polcy]\n").is_err());
    }
}

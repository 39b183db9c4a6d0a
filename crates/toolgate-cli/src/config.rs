//! The operator's file: default policies, tools, limits, hosts and identity providers. Flags win over the environment,
//! the environment over the file.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use toolgate_egress::EgressPolicy;
use toolgate_policy::cedar::Policies;
use toolgate_server::{Metrics, TrustedProxy};

use crate::broker::ConnectionConfig;
use crate::files::FileConfig;
use crate::listen::parse_listen;
use crate::notify::NotifyConfig;
use crate::oauth::OauthConfig;
use crate::oidc::OidcConfig;
use crate::shares::ShareConfig;

/// The smallest bound on bodies that leaves room for a message.
const SMALLEST_BODY: usize = 1024;

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
    /// Who may read how the server is doing.
    pub(crate) metrics: MetricsConfig,
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
    /// Proxies whose word on where a request comes from is taken: addresses, or ranges such as `10.0.0.0/8`.
    pub(crate) trusted_proxies: Vec<TrustedProxy>,
    /// The most connections at once from one address.
    pub(crate) max_connections_per_peer: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MetricsConfig {
    /// An address of its own for `/metrics`; then it is nowhere else.
    pub(crate) listen: Option<String>,
    /// Whether everyone may read it at the server's own address.
    pub(crate) public: bool,
}

impl MetricsConfig {
    /// Where to listen for it, if at an address of its own.
    pub(crate) fn address(&self) -> anyhow::Result<Option<SocketAddr>> {
        let address = self.listen.as_deref().map(parse_listen).transpose();
        address.map_err(|why| anyhow!("`metrics.listen`: {why}"))
    }

    /// Who may read it at the server's own address.
    pub(crate) fn door(&self) -> Metrics {
        match (&self.listen, self.public) {
            (Some(_), _) => Metrics::Elsewhere,
            (None, true) => Metrics::Public,
            (None, false) => Metrics::Operators,
        }
    }
}

impl Config {
    /// Reads the file, if one is named.
    pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("`{}` can't be read", path.display()))?;
        let config: Self =
            toml::from_str(&text).with_context(|| format!("`{}` is not a configuration", path.display()))?;
        config.check().with_context(|| format!("`{}` can't be used", path.display()))?;
        Ok(config)
    }

    /// What would be taken and then not do what was meant.
    fn check(&self) -> anyhow::Result<()> {
        check_hosts("server.hosts", &self.server.hosts)?;
        self.metrics.address()?;
        if self.metrics.listen.is_some() && self.metrics.public {
            bail!("`metrics.public` is for the server's own address, where `metrics.listen` leaves nothing");
        }
        if let Some(bytes @ 0..SMALLEST_BODY) = self.server.max_body_bytes {
            bail!("`server.max_body_bytes` is {bytes}; no message fits into less than {SMALLEST_BODY}");
        }
        if self.server.max_connections_per_peer == Some(0) {
            bail!("`server.max_connections_per_peer` is 0, so that nobody could connect");
        }
        Ok(())
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

/// That these are names of hosts, as requests name them: without a scheme, a port or a path.
pub(crate) fn check_hosts(setting: &str, hosts: &[String]) -> anyhow::Result<()> {
    let plain = |host: &String| {
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    };
    match hosts.iter().find(|host| !plain(host)) {
        None => Ok(()),
        Some(other) => {
            bail!(
                "`{setting}` has `{other}`, which is no host name; write one such as `tools.example.com`, bare"
            )
        }
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
    fn what_would_not_do_what_was_meant_is_refused() {
        let said = |text: &str| {
            let config: Config = toml::from_str(text).unwrap();
            config.check().map_err(|cause| cause.to_string())
        };
        for (text, part) in [
            ("hosts = ['https://x']", "`server.hosts` has `https://x`"),
            ("hosts = ['x.example:8443']", "`server.hosts` has `x.example:8443`"),
            ("hosts = ['x', '']", "`server.hosts` has ``"),
            ("max_body_bytes = 0", "`server.max_body_bytes` is 0"),
            ("max_connections_per_peer = 0", "so that nobody could connect"),
        ] {
            let why = said(&format!("[server]\n{text}")).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
        assert!(
            said("[metrics]\nlisten = 'x'").unwrap_err().starts_with("`metrics.listen`: write an address")
        );
        assert!(said("[metrics]\nlisten = '9464'\npublic = true").is_err());
        said("[server]\nhosts = ['tools.example.com', 'gate_1']\nmax_body_bytes = 1024").unwrap();
        let proxies = |text: &str| toml::from_str::<Config>(&format!("[server]\ntrusted_proxies = {text}"));
        assert!(proxies("['10.0.0.1', '172.16.0.0/12', 'fd00::/8']").is_ok());
        let why = proxies("['10.0.0.0/33']").unwrap_err().to_string();
        assert!(why.contains("`10.0.0.0/33` is no address and no range"), "{why}");
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(toml::from_str::<Config>("[polcy]\n").is_err());
    }
}

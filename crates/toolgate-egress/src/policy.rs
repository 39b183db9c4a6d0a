//! Where requests may go.

use std::net::IpAddr;

use serde::Deserialize;
use url::{Host, Url};

use crate::address::is_public;
use crate::allow::{Allowed, trimmed};
use crate::error::EgressError;
use crate::proxy::{ProxyAddress, sounds_inside};

/// Where requests may go beside the public internet: the `[egress]` part of the config.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EgressPolicy {
    /// Hosts, addresses and ranges that may be called although they are not public. A host with a port may be called
    /// at that port alone.
    pub allow: Vec<Allowed>,
    /// Whether public hosts may be called by plain HTTP. Those under `allow` always may.
    pub plain_http: bool,
    /// A proxy that everything goes through but what is named under `allow`. Names are looked up at its end: here they
    /// are judged by how they are written.
    pub proxy: Option<ProxyAddress>,
}

impl EgressPolicy {
    /// Whether a request may go to an address, as far as it can be said before its name is looked up.
    ///
    /// # Errors
    /// [`EgressError::Address`], [`EgressError::Refused`] or [`EgressError::Insecure`].
    pub fn check(&self, url: &Url) -> Result<(), EgressError> {
        let named = !url.username().is_empty() || url.password().is_some();
        if named || !matches!(url.scheme(), "http" | "https") {
            return Err(EgressError::Address);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(EgressError::Address);
        };
        let shown = host.to_string();
        let allowed = match host {
            Host::Domain(name) => {
                let name = trimmed(name);
                let allowed = self.allow.iter().any(|one| one.name(name, port));
                // The lookup knows no ports, so a name allowed at one port must not be asked for at another.
                if !allowed && self.allow.iter().any(|one| one.speaks_of(name)) {
                    return Err(EgressError::Refused { host: shown });
                }
                if !allowed && self.proxy.is_some() && sounds_inside(name) {
                    return Err(EgressError::Refused { host: shown });
                }
                allowed
            }
            Host::Ipv4(v4) => self.check_address(v4.into(), port, &shown)?,
            Host::Ipv6(v6) => self.check_address(v6.into(), port, &shown)?,
        };
        if url.scheme() == "http" && !allowed && !self.plain_http {
            return Err(EgressError::Insecure { host: shown });
        }
        Ok(())
    }

    /// Whether an address that is written out is expressly allowed; one that is neither that nor public is refused.
    fn check_address(&self, address: IpAddr, port: u16, shown: &str) -> Result<bool, EgressError> {
        let allowed = self.allow.iter().any(|one| one.address(address, port));
        if allowed || is_public(address) {
            return Ok(allowed);
        }
        Err(EgressError::Refused { host: shown.to_owned() })
    }

    /// The proxy that requests to an address go through, if they do.
    pub(crate) fn proxy_to(&self, url: &Url) -> Option<Url> {
        let proxy = self.proxy.as_ref()?;
        let port = url.port_or_known_default()?;
        let named = match url.host()? {
            Host::Domain(name) => self.allow.iter().any(|one| one.name(trimmed(name), port)),
            Host::Ipv4(v4) => self.allow.iter().any(|one| one.address(v4.into(), port)),
            Host::Ipv6(v6) => self.allow.iter().any(|one| one.address(v6.into(), port)),
        };
        (!named).then(|| proxy.url())
    }

    /// Whether a name may lead to an address.
    pub(crate) fn may_lead(&self, name: &str, address: IpAddr) -> bool {
        is_public(address)
            || self.allow.iter().any(|one| one.speaks_of(name) || one.address_at_any_port(address))
            // With a proxy no other name is looked up that the operator did not give.
            || self.proxy.as_ref().is_some_and(|proxy| proxy.is_named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allow: &[&str], url: &str, expected: &str) {
        let policy = EgressPolicy {
            allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
            plain_http: false,
            proxy: None,
        };
        let code = policy.check(&Url::parse(url).unwrap()).map_or_else(|error| error.code(), |()| "ok");
        assert_eq!(code, expected, "{url} with {allow:?}");
    }

    #[test]
    fn addresses_are_seen_in_any_spelling() {
        for url in [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0177.0.0.01/",
            "https://127.1/",
            "https://127.0.0.1./",
            "https://%31%32%37.0.0.1/",
            "https://１２７.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://0.0.0.0/",
            "https://0/",
            "https://169.254.169.254/latest/meta-data",
        ] {
            check(&[], url, "egress.refused");
        }
        check(&["127.0.0.1"], "https://2130706433/", "ok");
        check(&["127.0.0.1"], "https://[::ffff:127.0.0.1]/", "ok");
    }

    #[test]
    fn only_http_without_a_user_name() {
        for url in
            ["file:///etc/passwd", "ftp://example.com/", "gopher://a/", "data:,x", "https://a:b@example.com/"]
        {
            check(&["0.0.0.0/0"], url, "egress.address");
        }
    }

    #[test]
    fn plain_http_needs_a_word() {
        check(&[], "http://example.com/", "egress.insecure");
        check(&["example.com"], "http://example.com/", "ok");
        check(&["127.0.0.1:9000"], "http://127.0.0.1:9000/", "ok");
        check(&["127.0.0.1:9000"], "http://127.0.0.1:9001/", "egress.refused");
    }

    #[test]
    fn a_port_narrows_a_name() {
        check(&["a.example:8443"], "https://a.example:8443/", "ok");
        check(&["a.example:8443"], "https://a.example/", "egress.refused");
        check(&["a.example:8443"], "https://b.example/", "ok");
    }
}

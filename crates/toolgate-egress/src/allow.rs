//! What an operator allows beside the public internet.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use url::Host;

use crate::address::plain;

/// A host, an address or a range that may be called although it is not public, or by plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    what: What,
    /// This port alone; any, when none is given.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// A name, whatever it leads to.
    Name(String),
    /// All names below one, written `*.corp.example`.
    Below(String),
    /// A range of addresses.
    Range(IpAddr, u8),
}

/// A text that names no host, address or range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host, address or range: write `internal.example`, `127.0.0.1:9000` or `10.0.0.0/8`")]
pub struct BadAllowed(String);

impl Allowed {
    /// Whether this allows a name at a port.
    pub(crate) fn name(&self, name: &str, port: u16) -> bool {
        self.speaks_of(name) && self.port.is_none_or(|only| only == port)
    }

    /// Whether this is about a name, at whatever port.
    pub(crate) fn speaks_of(&self, name: &str) -> bool {
        match &self.what {
            What::Name(own) => own == name,
            What::Below(suffix) => name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')),
            What::Range(..) => false,
        }
    }

    /// Whether this allows an address at a port.
    pub(crate) fn address(&self, address: IpAddr, port: u16) -> bool {
        self.port.is_none_or(|only| only == port) && self.covers(address)
    }

    /// Whether this allows an address at every port: all that can be said where the port is not known.
    pub(crate) fn address_at_any_port(&self, address: IpAddr) -> bool {
        self.port.is_none() && self.covers(address)
    }

    fn covers(&self, address: IpAddr) -> bool {
        let What::Range(network, bits) = &self.what else { return false };
        match (*network, plain(address)) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(*bits)).unwrap_or(0);
                u32::from(network) & mask == u32::from(address) & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(*bits)).unwrap_or(0);
                u128::from(network) & mask == u128::from(address) & mask
            }
            _ => false,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some((network, bits)) = text.split_once('/') {
            let network: IpAddr = network.parse().ok()?;
            let bits = bits.parse().ok().filter(|bits| *bits <= widest(network))?;
            return Some(Self { what: What::Range(network, bits), port: None });
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::single(address, None));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        if let Some(suffix) = host.strip_prefix("*.") {
            let Host::Domain(suffix) = Host::parse(suffix).ok()? else { return None };
            return Some(Self { what: What::Below(trimmed(&suffix).to_owned()), port });
        }
        match Host::parse(host).ok()? {
            Host::Domain(name) => {
                (!name.contains('*')).then(|| Self { what: What::Name(trimmed(&name).to_owned()), port })
            }
            Host::Ipv4(v4) => Some(Self::single(v4.into(), port)),
            Host::Ipv6(v6) => Some(Self::single(v6.into(), port)),
        }
    }

    fn single(address: IpAddr, port: Option<u16>) -> Self {
        let address = plain(address);
        Self { what: What::Range(address, widest(address)), port }
    }
}

const fn widest(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// A name without the dot that says it is complete.
pub(crate) fn trimmed(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

impl FromStr for Allowed {
    type Err = BadAllowed;

    fn from_str(text: &str) -> Result<Self, BadAllowed> {
        Self::parse(text.trim()).ok_or_else(|| BadAllowed(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Allowed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> Allowed {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_and_addresses_cover_their_own() {
        let check = |text: &str, address: &str, expected: bool| {
            assert_eq!(allowed(text).address(address.parse().unwrap(), 80), expected, "{text} {address}");
        };
        check("10.0.0.0/8", "10.255.0.1", true);
        check("10.0.0.0/8", "11.0.0.0", false);
        check("10.0.0.0/8", "::ffff:10.0.0.1", true);
        check("0.0.0.0/0", "169.254.169.254", true);
        check("::/0", "fe80::1", true);
        check("::/0", "127.0.0.1", false);
        check("fd00::/8", "fd12::1", true);
        check("127.0.0.1", "127.0.0.1", true);
        check("127.0.0.1", "127.0.0.2", false);
        check("2130706433", "127.0.0.1", true);
        check("[::1]", "::1", true);
        check("::1", "::1", true);
        check("127.0.0.1:80", "127.0.0.1", true);
        check("127.0.0.1:81", "127.0.0.1", false);
        check("[::1]:80", "::1", true);
    }

    #[test]
    fn names_are_compared_as_the_network_would() {
        let check = |text: &str, name: &str, expected: bool| {
            assert_eq!(allowed(text).name(name, 443), expected, "{text} {name}");
        };
        check("internal.example", "internal.example", true);
        check("Internal.Example.", "internal.example", true);
        check("internal.example", "evil-internal.example", false);
        check("internal.example", "a.internal.example", false);
        check("internal.example:443", "internal.example", true);
        check("internal.example:8443", "internal.example", false);
        check("*.corp.example", "a.b.corp.example", true);
        check("*.corp.example", "corp.example", false);
        check("*.corp.example", "evilcorp.example", false);
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in
            ["", "10.0.0.0/33", "10.0.0/8", "::/129", "a b", "host:port", "host:70000", "*", "a.*.b", "/8"]
        {
            assert!(text.parse::<Allowed>().is_err(), "{text}");
        }
    }
}

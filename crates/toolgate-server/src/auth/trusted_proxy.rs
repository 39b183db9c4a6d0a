//! Proxies whose word is taken: by their address, or by the range it comes from.

use std::net::IpAddr;
use std::str::FromStr;

use serde::Deserialize;

/// A proxy, or all that have an address in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct TrustedProxy {
    network: IpAddr,
    bits: u8,
}

/// A text that names no address and no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address and no range of them: write `10.0.0.1` or `10.0.0.0/8`")]
pub struct NoProxy(String);

impl TrustedProxy {
    /// Whether this address is one of them.
    #[must_use]
    pub fn covers(&self, address: IpAddr) -> bool {
        let cut =
            |address: u128, width: u8| address.checked_shr(u32::from(width - self.bits)).unwrap_or_default();
        match (self.network, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                cut(network.to_bits().into(), 32) == cut(address.to_bits().into(), 32)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                cut(network.to_bits(), 128) == cut(address.to_bits(), 128)
            }
            _ => false,
        }
    }
}

impl From<IpAddr> for TrustedProxy {
    fn from(address: IpAddr) -> Self {
        let network = address.to_canonical();
        Self { network, bits: width(network) }
    }
}

impl FromStr for TrustedProxy {
    type Err = NoProxy;

    fn from_str(text: &str) -> Result<Self, NoProxy> {
        let no_proxy = || NoProxy(text.chars().take(100).collect());
        let Some((network, bits)) = text.split_once('/') else {
            return text.parse::<IpAddr>().map(Self::from).map_err(|_| no_proxy());
        };
        let network: IpAddr = network.parse().map_err(|_| no_proxy())?;
        let plain = (1..=3).contains(&bits.len()) && bits.bytes().all(|b| b.is_ascii_digit());
        let bits: u8 = bits.parse().ok().filter(|_| plain).ok_or_else(no_proxy)?;
        if bits > width(network) {
            return Err(no_proxy());
        }
        Ok(Self { network, bits })
    }
}

impl TryFrom<String> for TrustedProxy {
    type Error = NoProxy;

    fn try_from(text: String) -> Result<Self, NoProxy> {
        text.parse()
    }
}

const fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: &str, address: &str, covered: bool) {
        let range: TrustedProxy = range.parse().unwrap();
        assert_eq!(range.covers(address.parse().unwrap()), covered, "{range:?} {address}");
    }

    #[test]
    fn ranges_cover_their_own() {
        check("10.0.0.1", "10.0.0.1", true);
        check("10.0.0.1", "10.0.0.2", false);
        check("10.0.0.1", "::ffff:10.0.0.1", true);
        check("172.16.0.0/12", "172.31.255.255", true);
        check("172.16.0.0/12", "172.32.0.0", false);
        // What stands in the rest of the address says nothing.
        check("172.16.9.9/12", "172.16.0.1", true);
        check("10.0.0.1/32", "10.0.0.1", true);
        check("0.0.0.0/0", "203.0.113.7", true);
        check("0.0.0.0/0", "::1", false);
        check("fd00::/8", "fd12::1", true);
        check("fd00::/8", "fe80::1", false);
        check("::/0", "2001:db8::1", true);
    }

    #[test]
    fn what_names_no_range_is_refused() {
        for bad in [
            "",
            "proxy",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0/8",
            "/8",
        ] {
            assert!(bad.parse::<TrustedProxy>().is_err(), "{bad}");
        }
    }
}

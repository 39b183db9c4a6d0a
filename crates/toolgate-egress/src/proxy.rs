//! A proxy that requests leave through, where the house has one.

use serde::{Deserialize, Deserializer};
use url::{Host, Url};

/// The address of a proxy, `http://` or `https://`, with a name and password where it wants them. It prints as its host.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(Url);

/// A text that names no proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`proxy` is no address of a proxy: write `http://proxy.example:3128`")]
pub struct BadProxy;

impl ProxyAddress {
    pub(crate) fn url(&self) -> Url {
        self.0.clone()
    }

    /// Whether this is the name of the proxy.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        matches!(self.0.host(), Some(Host::Domain(own)) if own.trim_end_matches('.') == name)
    }
}

impl std::str::FromStr for ProxyAddress {
    type Err = BadProxy;

    fn from_str(text: &str) -> Result<Self, BadProxy> {
        let url = Url::parse(text).map_err(|_| BadProxy)?;
        let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let fits = matches!(url.scheme(), "http" | "https") && url.host().is_some() && bare;
        if fits { Ok(Self(url)) } else { Err(BadProxy) }
    }
}

impl std::fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProxyAddress").field(&self.0.host_str().unwrap_or_default()).finish()
    }
}

impl<'de> Deserialize<'de> for ProxyAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Whether a name is one of inside by how it is written. Of names that are looked up elsewhere, at the end of a proxy or by
/// whoever gets an address, this is all that can be said here.
#[must_use]
pub fn sounds_inside(name: &str) -> bool {
    const INSIDE: [&str; 11] = [
        "local",
        "localdomain",
        "localhost",
        "internal",
        "intern",
        "intranet",
        "lan",
        "home",
        "corp",
        "private",
        "home.arpa",
    ];
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let below = |end: &str| name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    !name.contains('.') || INSIDE.iter().any(|end| below(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_address_and_keeps_its_password() {
        let proxy: ProxyAddress = "http://ada:hunter2@proxy.example:3128".parse().unwrap();
        assert!(!format!("{proxy:?}").contains("hunter2"), "{proxy:?}");
        assert!(proxy.is_named("proxy.example") && !proxy.is_named("example"));
        for bad in ["", "proxy:3128", "socks5://proxy:1080", "http://proxy/path", "http://"] {
            assert_eq!(bad.parse::<ProxyAddress>(), Err(BadProxy), "{bad}");
        }
    }

    #[test]
    fn names_of_inside_are_told_by_their_looks() {
        for name in
            ["localhost", "printer", "nas.local", "metadata.google.internal", "a.b.corp.", "db.localdomain"]
        {
            assert!(sounds_inside(name), "{name}");
        }
        for name in ["example.com", "corp.example.com", "internal.dev"] {
            assert!(!sounds_inside(name), "{name}");
        }
    }
}

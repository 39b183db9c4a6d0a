//! What the operator decides about the MCP door, put together for the server.

use std::net::SocketAddr;

use anyhow::bail;
use toolgate_app::set_up_service;
use toolgate_broker::Keyring;
use toolgate_core::Timestamp;
use toolgate_core::port::store::Store;
use toolgate_mcp::{Fixtures, Sealer};

/// The service that the conformance suite calls as.
pub(crate) const FIXTURE_CALLER: &str = "service:conformance";

/// What seals session ids and states: the same on every node that has the same master key.
pub(crate) fn sealer(keyring: &Keyring) -> Sealer {
    Sealer::new(keyring.derive("mcp"))
}

/// Sites whose pages may use the MCP door.
pub(crate) fn origins(named: Vec<String>) -> anyhow::Result<Vec<String>> {
    for origin in &named {
        let plain = |host: &str| !host.is_empty() && !host.contains(['/', '*', ' ', '?', '#', '@']);
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        if !host.is_some_and(plain) {
            bail!("`server.origins`: `{origin}` must be such as `https://app.example.com`, without a path");
        }
    }
    Ok(named)
}

/// The fixtures of the conformance suite. They ask nobody who they are, so they stay on this machine.
pub(crate) async fn fixtures(
    listen: SocketAddr,
    store: &dyn Store,
    now: Timestamp,
) -> anyhow::Result<Fixtures> {
    if !listen.ip().is_loopback() {
        bail!("--mcp-conformance lets anyone in: listen on a loopback address with it");
    }
    tracing::warn!("the fixtures of the MCP conformance suite are on, for anyone on this machine");
    set_up_service(store, &FIXTURE_CALLER.parse()?, "Conformance suite", now).await?;
    Ok(Fixtures {
        offerings: toolgate_fixtures::conformance::offerings(),
        inputs: toolgate_fixtures::conformance::inputs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_site_and_nothing_more() {
        for good in ["https://app.example.com", "http://localhost:6274"] {
            assert!(origins(vec![good.to_owned()]).is_ok(), "{good}");
        }
        for bad in ["*", "app.example.com", "https://", "https://x/path", "https://*.example.com", "null"] {
            assert!(origins(vec![bad.to_owned()]).is_err(), "{bad}");
        }
    }
}

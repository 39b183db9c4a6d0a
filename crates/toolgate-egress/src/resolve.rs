//! Looking names up, and dropping the addresses they may not lead to.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::allow::trimmed;
use crate::policy::EgressPolicy;

/// Finds the addresses of a name.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// All of them, public or not.
    async fn lookup(&self, name: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// Asks the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A name led only to addresses it may not lead to.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no public address")]
pub(crate) struct LedInside;

/// The lookup that a client connects by: what it answers is what is connected to, so a name can't change in between.
#[derive(Clone)]
pub(crate) struct Filtered {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) policy: Arc<EgressPolicy>,
}

impl Filtered {
    /// The addresses that a name may lead to; their ports are left open.
    pub(crate) async fn addresses(
        &self,
        name: &str,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.lookup.lookup(name).await?;
        let plain = trimmed(name).to_ascii_lowercase();
        let any = !found.is_empty();
        let kept: Vec<SocketAddr> = found
            .into_iter()
            .filter(|address| self.policy.may_lead(&plain, *address))
            .map(|address| SocketAddr::new(address, 0))
            .collect();
        if any && kept.is_empty() {
            return Err(LedInside.into());
        }
        Ok(kept)
    }
}

impl Resolve for Filtered {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let kept = this.addresses(name.as_str()).await?;
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

//! MCP servers that this gate calls, wired from the operator's choices.

use std::sync::Arc;

use toolgate_core::port::connection::Credentials;
use toolgate_core::port::upstream::Upstreams;
use toolgate_egress::EgressClient;
use toolgate_upstream::{Settings, UpstreamPool};

/// The pool of MCP servers, with these credentials.
pub(crate) fn pool(egress: EgressClient, credentials: Arc<dyn Credentials>) -> Arc<dyn Upstreams> {
    Arc::new(UpstreamPool::new(credentials, egress, Settings::default()))
}

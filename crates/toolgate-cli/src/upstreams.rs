//! MCP servers that this gate calls, wired from the operator's choices.

use std::sync::Arc;

use toolgate_core::port::connection::Credentials;
use toolgate_core::port::upstream::Upstreams;
use toolgate_egress::EgressClient;
use toolgate_upstream::{Settings, UpstreamPool};

use crate::config::UpstreamConfig;

/// The pool of MCP servers, with these credentials.
pub(crate) fn pool(
    config: &UpstreamConfig,
    egress: EgressClient,
    credentials: Arc<dyn Credentials>,
) -> Arc<dyn Upstreams> {
    let run_as = config.run_as.as_ref().map(|owner| (owner.user, owner.group));
    Arc::new(UpstreamPool::new(credentials, egress, Settings { run_as, ..Settings::default() }))
}

/// Keeps other programs of the same user, MCP servers above all, from reading this one's memory and environment.
pub(crate) fn close_to_others() {
    if rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).is_err() {
        tracing::warn!("programs of the same user can read this one's environment");
    }
}

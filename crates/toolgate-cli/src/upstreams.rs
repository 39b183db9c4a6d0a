//! MCP servers that this gate calls, wired from the operator's choices.

use std::sync::Arc;

use toolgate_core::port::connection::Credentials;
use toolgate_core::port::upstream::Upstreams;
use toolgate_egress::EgressClient;
use toolgate_upstream::{Scratch, Settings, UpstreamPool, Warden};

use crate::config::UpstreamConfig;

/// The hidden command that [`keep_watch`] is.
const KEEP_WATCH: &str = "keep-watch";

/// The pool of MCP servers, with these credentials.
pub(crate) fn pool(
    config: &UpstreamConfig,
    egress: EgressClient,
    credentials: Arc<dyn Credentials>,
) -> Arc<dyn Upstreams> {
    let run_as = config.run_as.as_ref().map(|owner| (owner.user, owner.group));
    let settings = Settings { run_as, scratch: scratch(), warden: warden(), ..Settings::default() };
    Arc::new(UpstreamPool::new(credentials, egress, settings))
}

fn scratch() -> Option<Arc<Scratch>> {
    let opened = Scratch::open(&std::env::temp_dir());
    opened.map(Arc::new).map_err(|cause| tracing::warn!(error = %cause, "no folder for MCP servers")).ok()
}

/// This same program, under a name that nobody is told.
fn warden() -> Option<Arc<Warden>> {
    let program = std::env::current_exe().ok()?;
    Some(Arc::new(Warden::new(program, vec![KEEP_WATCH.to_owned()])))
}

/// Ends the MCP servers of a gate that is gone.
pub(crate) fn keep_watch() {
    toolgate_upstream::keep_watch(std::io::stdin().lock());
}

/// Keeps other programs of the same user, MCP servers above all, from reading this one's memory and environment.
pub(crate) fn close_to_others() {
    if rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).is_err() {
        tracing::warn!("programs of the same user can read this one's environment");
    }
}

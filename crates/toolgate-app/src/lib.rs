//! Use cases, one file each. Doors take in, call one of these, and show the result; the rules live below, in core.

mod approve_invocation;
mod audit;
mod authenticate;
mod background;
mod cancel_invocation;
mod error;
mod invoke_tool;
mod list_tools;
mod read_invocation;
mod session;
mod set_up;
mod settle_invocation;

use std::sync::Arc;

use toolgate_core::Runner;
use toolgate_core::port::store::Store;

pub use audit::{AuditReport, BrokenRecord, verify};
pub use authenticate::{ApiKeySecret, hash_key};
pub use background::Background;
pub use error::AppError;
pub use invoke_tool::InvokeRequest;
pub use read_invocation::InvocationQuery;
pub use set_up::{AdminKey, FixedTools, ToolSetUpError, set_up_admin, set_up_tools};
pub use settle_invocation::Settlement;

use authenticate::KnownKeys;

/// The product behind its doors. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    runner: Runner,
    known_keys: Arc<KnownKeys>,
}

impl App {
    /// The product around a runner.
    #[must_use]
    pub fn new(runner: Runner) -> Self {
        Self { runner, known_keys: Arc::default() }
    }

    /// The runner.
    #[must_use]
    pub const fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.runner.parts().store
    }
}

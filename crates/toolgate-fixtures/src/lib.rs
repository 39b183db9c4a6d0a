//! Tools for trying the gate: each shows one way a call can go. Off unless the server is started with
//! `--fixture-tools`; never for production.

pub mod conformance;
mod effect;
mod guarded;
mod misbehave;
mod name;
mod receiver;
mod slow;

pub use receiver::ReceiverHttp;

use toolgate_native::Plugin;

/// All of them.
#[must_use]
pub fn plugin() -> Plugin {
    Plugin {
        id: "fixture",
        tools: [effect::tools(), slow::tools(), misbehave::tools(), guarded::tools(), name::tools()]
            .into_iter()
            .flatten()
            .collect(),
    }
}

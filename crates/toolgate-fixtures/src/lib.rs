//! Tools for trying the gate: each shows one way a call can go. Off unless the server is started with
//! `--fixture-tools`; never for production.

mod effect;
mod misbehave;
mod receiver;
mod slow;

pub use receiver::ReceiverHttp;

use toolgate_native::NativeTool;

/// All of them.
#[must_use]
pub fn all() -> Vec<NativeTool> {
    let mut tools = Vec::new();
    tools.extend(effect::tools());
    tools.extend(slow::tools());
    tools.extend(misbehave::tools());
    tools
}

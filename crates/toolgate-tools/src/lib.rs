//! The built-in tools, one file each in `src/tools`.
//!
//! Adding a tool is adding one file there with `pub(crate) fn tool() -> NativeTool`; `build.rs` finds it. Tools don't
//! know each other. What several of them want stands here:
//!
//! - `number`: rounding, shares and readable figures, so that no tool gives `NaN`, `-0` or twelve decimals.
//! - `column`: what is learnt of a column of cells while they go by, in bounded memory.
//! - `section`: the words a section's `config` is written in, the same for every tool.

mod column;
mod number;
mod section;
#[cfg(test)]
mod testing;

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// The built-in tools, as the plugin `core`.
#[must_use]
pub fn plugin() -> toolgate_native::Plugin {
    toolgate_native::Plugin { id: "core", tools: all() }
}

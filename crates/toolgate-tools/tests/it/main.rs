//! What every built-in tool keeps to, whoever adds it.

mod conformance;
mod purity;
mod schema;

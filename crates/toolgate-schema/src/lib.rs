//! JSON Schema for tools: which schemas may be registered, and what is wrong with a value.
//!
//! Schemas and values both come from strangers, so everything here has a bound: size, depth, the work a schema can
//! cause by referring to itself, and the length of what is said about a value. Nothing said about a value holds any of
//! it. This crate does not know where schemas come from.

mod assertion;
mod check;
mod client;
mod compile;
mod error;
mod explain;
mod foreign;
mod graph;
mod keyword;
mod mend;
mod names;
mod on_demand;
mod pattern;
mod place;
mod portable;
mod register;
mod shown;
mod weight;

pub use check::{MAX_BYTES, MAX_DEPTH, MAX_EXPANDED, MAX_NODES, Role};
pub use client::for_clients;
pub use compile::compile;
pub use error::SchemaError;
pub use foreign::{compile_foreign, notes};
pub use names::{ForbiddenName, forbidden_name};
pub use on_demand::forget_unused;
pub use pattern::MAX_PATTERNS;
pub use register::{MAX_CONTRACT_BYTES, RegistrationError, Side, parse_contract, register};

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod client_tests;
#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod explain_tests;
#[cfg(test)]
mod foreign_tests;
#[cfg(test)]
mod on_demand_tests;
#[cfg(test)]
mod register_tests;
#[cfg(test)]
mod suite_tests;

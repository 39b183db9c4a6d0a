//! Ports: what the core needs from the outside, in its own words. Each trait's docs are its contract.

pub mod broker;
pub mod capability;
pub mod connection;
pub mod connection_store;
pub mod courier;
pub mod executor;
pub mod gate;
pub mod identity;
pub mod oauth;
pub mod outbox;
pub mod store;
pub mod upstream;
pub mod usage;
pub mod validator;

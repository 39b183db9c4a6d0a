//! Ports: what the core needs from the outside, in its own words. Each trait's docs are its contract.

pub mod broker;
pub mod capability;
pub mod connection;
pub mod connection_store;
pub mod courier;
pub mod event_list;
pub mod executor;
pub mod file;
pub mod gate;
pub mod grant_use;
pub mod identity;
pub mod input_search;
pub mod oauth;
pub mod outbox;
pub mod share;
pub mod store;
pub mod tenant_link;
pub mod upstream;
pub mod usage;
pub mod validator;

//! MCP servers that this gate calls: connecting, listing, calling, and not trusting them.
//!
//! Everything of the protocol library stays in here. A server gets connections of its own, within bounds of its own;
//! whatever it says is cut to size, made visible and marked as its own words.

mod argument;
mod asking;
mod block;
mod breaker;
mod changes;
mod child;
pub mod clean;
pub mod conformance;
mod connection;
mod direct;
mod door;
mod events;
mod fault;
mod glance;
mod handler;
mod interaction;
mod keys;
mod listing;
mod measure;
mod old_http;
mod opening;
mod outcome;
mod phishing;
mod pipe;
mod places;
mod pool;
mod question;
mod reading;
mod scratch;
mod secrets;
mod server;
mod settings;
pub mod suspicion;
mod task;
mod warden;

pub use pool::UpstreamPool;
pub use scratch::Scratch;
pub use settings::Settings;
pub use warden::{Warden, keep_watch};

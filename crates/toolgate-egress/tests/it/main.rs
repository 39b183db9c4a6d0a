//! The client against real servers on this machine.
#![allow(clippy::unwrap_used, reason = "test code")]

mod limits;
mod proxy;
mod redirect;
mod refused;
mod server;

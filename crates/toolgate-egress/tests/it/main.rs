//! The client against real servers on this machine.

mod limits;
mod redirect;
mod refused;
mod server;

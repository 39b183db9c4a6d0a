//! Ports nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

/// A port on the loopback address that was free a moment ago. Bind to port 0 instead wherever the code under test
/// can say which port it got.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free loopback port");
    listener.local_addr().expect("the port just bound").port()
}

//! Where to listen, as people write it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads an address: `127.0.0.1:8787`, `[::1]:8787`, `localhost:8787`, `:8787` for every address of the machine, or only a
/// port, which means this machine alone.
pub(crate) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let at = |ip: Ipv4Addr, port: &str| port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(ip), port));
    let found = match text.rsplit_once(':') {
        None => at(Ipv4Addr::LOCALHOST, text),
        Some(("" | "*", port)) => at(Ipv4Addr::UNSPECIFIED, port),
        Some((host, port)) if host.eq_ignore_ascii_case("localhost") => at(Ipv4Addr::LOCALHOST, port),
        Some(_) => text.parse().ok(),
    };
    found.ok_or_else(|| {
        "write an address and a port, such as 127.0.0.1:8787, localhost:8787 or [::1]:8787, :8787 for every address of \
         this machine, or 8787 for this machine alone"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (written, meant) in [
            ("127.0.0.1:8787", "127.0.0.1:8787"),
            ("localhost:0", "127.0.0.1:0"),
            ("LOCALHOST:8787", "127.0.0.1:8787"),
            (":8787", "0.0.0.0:8787"),
            ("*:8787", "0.0.0.0:8787"),
            ("8787", "127.0.0.1:8787"),
            ("[::1]:8787", "[::1]:8787"),
            ("[::]:80", "[::]:80"),
        ] {
            assert_eq!(parse_listen(written).unwrap(), meant.parse().unwrap(), "{written}");
        }
        for bad in ["", ":", "localhost", "x:1", "127.0.0.1", "70000", ":70000", "::1", "http://localhost:80"]
        {
            assert!(parse_listen(bad).unwrap_err().contains("such as 127.0.0.1:8787"), "{bad}");
        }
    }
}

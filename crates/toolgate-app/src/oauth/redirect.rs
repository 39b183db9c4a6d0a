//! Where people may be sent back to: exactly an address the application named before, or the same one on another port
//! of the person's own machine (RFC 8252).

use url::{Host, Url};

/// The longest address.
const MOST_BYTES: usize = 2_000;
/// Addresses that run or show what they hold, or are no place to be sent to.
const NEVER: [&str; 9] = ["javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss"];

/// Whether people can be sent to this address: by TLS, on their own machine, or to an application of theirs by a
/// scheme of its own. Says why not.
pub(super) fn check(uri: &str) -> Result<(), &'static str> {
    if uri.len() > MOST_BYTES || !uri.bytes().all(|b| b.is_ascii_graphic()) {
        return Err("it is too long, or has a character that addresses do not have");
    }
    let url = Url::parse(uri).map_err(|_| "it is not an address")?;
    if url.fragment().is_some() {
        return Err("it has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it names a user");
    }
    match url.scheme() {
        "https" if url.host().is_some() => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => Err("plain http is for the person's own machine alone"),
        scheme if NEVER.contains(&scheme) => Err("its scheme is no application's own"),
        _ => Ok(()),
    }
}

/// Whether whoever answers there is on the person's own machine.
pub(super) fn is_local(uri: &str) -> bool {
    // A scheme of its own opens an application that the person installed.
    let own_scheme = |url: Url| !matches!(url.scheme(), "http" | "https");
    is_loopback_uri(uri) || Url::parse(uri).is_ok_and(own_scheme)
}

/// Whether this leads to a port of the person's own machine.
pub(super) fn is_loopback_uri(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|url| url.scheme() == "http" && is_loopback(&url))
}

/// Whether an address that was asked for is one of those that were named before.
pub(super) fn matches(named: &[String], asked: &str) -> bool {
    check(asked).is_ok()
        && named.iter().any(|named| {
            named == asked || without_port(named).is_some_and(|named| without_port(asked) == Some(named))
        })
}

/// The place an address leads to, for people: its host, or its scheme where an application answers to it.
pub(super) fn place(uri: &str) -> String {
    match Url::parse(uri) {
        Ok(url) if url.scheme().starts_with("http") => url.host_str().unwrap_or_default().to_owned(),
        Ok(url) => format!("{}:", url.scheme()),
        Err(_) => String::new(),
    }
}

/// An address on the person's own machine, with its port left out.
fn without_port(uri: &str) -> Option<Url> {
    let mut url = Url::parse(uri).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
    url.set_port(None).ok()?;
    Some(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_sent_to_safe_places_only() {
        for good in [
            "https://app.example/back",
            "https://app.example/back?x=1",
            "http://127.0.0.1:1234/back",
            "http://[::1]/back",
            "http://localhost/back",
            "com.example.app:/back",
            "cursor://anysphere.cursor-retrieval/oauth/callback",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/back",
            "http://app.example/back",
            "http://127.0.0.2/back",
            "http://localhost.evil.example/back",
            "http://127.0.0.1.nip.io/back",
            "https://app.example/back#x",
            "https://user@app.example/back",
            "https://user:x@app.example/back",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "https://app.example/a b",
            "https://app.example/\nx",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_persons_own_machine_is_local() {
        for (uri, local) in [
            ("http://127.0.0.1:1234/back", true),
            ("http://[::1]/back", true),
            ("http://localhost/back", true),
            ("com.example.app:/back", true),
            ("https://127.0.0.1/back", false),
            ("https://app.example/back", false),
            ("http://localhost.evil.example/back", false),
            ("", false),
        ] {
            assert_eq!(is_local(uri), local, "{uri}");
        }
    }

    #[test]
    fn only_what_was_named_matches_and_only_the_port_is_free() {
        let check = |named: &str, asked: &str, expected: bool| {
            assert_eq!(matches(&[named.to_owned()], asked), expected, "{named} {asked}");
        };
        check("https://app.example/back", "https://app.example/back", true);
        check("https://app.example/back", "https://app.example/back/", false);
        check("https://app.example/back", "https://app.example:444/back", false);
        check("https://app.example/back", "https://app.example/back?x=1", false);
        check("https://app.example/back", "https://evil.example/back", false);
        check("https://app.example/back", "https://app.example/back/../evil", false);
        check("http://127.0.0.1/back", "http://127.0.0.1:3000/back", true);
        check("http://127.0.0.1:1/back", "http://127.0.0.1:3000/back", true);
        check("http://localhost/back", "http://localhost:3000/back", true);
        check("http://localhost/back", "http://127.0.0.1:3000/back", false);
        check("http://127.0.0.1/back", "http://127.0.0.1:3000/other", false);
        check("http://127.0.0.1/back", "https://127.0.0.1:3000/back", false);
        check("com.example.app:/back", "com.example.app:/back", true);
        check("com.example.app:/back", "com.example.app:/other", false);
    }
}

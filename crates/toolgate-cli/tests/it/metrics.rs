//! Who may read how the server is doing, and what a start says of a file that does not say what was meant.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::gate::{Gate, KEY, serve, toolgate};

/// What `/metrics` answers at this address to a request with these headers.
fn metrics(url: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {address}\r\n{headers}connection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text)
}

/// A gate with this in its file.
fn with_file(text: &str) -> Gate {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("toolgate.toml");
    std::fs::write(&file, text).unwrap();
    serve(&["--config", file.to_str().unwrap()], &[])
}

const PROXIED: (&str, &str) = ("x-forwarded-for", "203.0.113.7");

fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

#[test]
fn metrics_are_for_this_machine_and_for_who_runs_the_server() {
    let gate = serve(&[], &[]);
    gate.ok(&["tool", "invoke", "core__get_current_time"]);
    let (status, text) = metrics(&gate.url, &[]);
    assert_eq!(status, 200);
    assert!(text.contains("toolgate_calls_total{tool=\"core__get_current_time\""), "{text}");
    // Whatever comes through a proxy on this machine comes from this machine, and is not meant.
    let (status, text) = metrics(&gate.url, &[PROXIED]);
    assert_eq!(status, 401);
    assert!(text.contains("the key of someone who runs this server"), "{text}");
    assert!(!text.contains("toolgate_calls_total"));
    let (name, admin) = bearer(KEY);
    assert_eq!(metrics(&gate.url, &[PROXIED, (name, &admin)]).0, 200);
    gate.ok(&["agent", "create", "helper"]);
    let made = gate.ok(&["key", "create", "--principal", "agent:helper", "--label", "t"]);
    let agent = made.split_whitespace().find(|word| word.starts_with("tgk_")).unwrap().to_owned();
    let (name, agent) = bearer(&agent);
    let (status, text) = metrics(&gate.url, &[PROXIED, (name, &agent)]);
    assert_eq!(status, 403, "{text}");
}

#[test]
fn where_others_find_the_server_its_own_machine_says_nothing() {
    let gate = with_file("[server]\npublic_url = 'http://tools.example.com'\n");
    assert_eq!(metrics(&gate.url, &[]).0, 401);
    let open = with_file("[server]\npublic_url = 'http://tools.example.com'\n[metrics]\npublic = true\n");
    assert_eq!(metrics(&open.url, &[PROXIED]).0, 200);
}

#[test]
fn metrics_may_have_an_address_of_their_own() {
    let gate = with_file("[metrics]\nlisten = 'localhost:0'\n");
    let (name, admin) = bearer(KEY);
    assert_eq!(metrics(&gate.url, &[(name, &admin)]).0, 404);
    let log = gate.log();
    let at = log.lines().find_map(|line| line.strip_prefix("metrics are at ")).unwrap();
    let at = at.strip_suffix("/metrics").unwrap();
    let (status, text) = metrics(at, &[]);
    assert_eq!(status, 200, "{text}");
    assert_eq!(metrics(at, &[("sec-fetch-site", "none")]).0, 200);
    assert_eq!(metrics(at, &[("sec-fetch-site", "same-origin")]).0, 403, "no page reads it");
}

#[test]
fn a_file_that_does_not_say_what_was_meant_is_spoken_of() {
    let gate = with_file("[tools]\nenabled = ['core__get_curent_time', 'core__quick_*']\n");
    let log = gate.log();
    assert!(
        log.contains("`tools.enabled` names `core__get_curent_time`, and there is no such tool; did you mean `core__get_current_time`?"),
        "{log}"
    );
    assert!(!log.contains("core__quick_*"), "{log}");
    for (listen, part) in
        [("localhost", "such as 127.0.0.1:8787"), ("0.0.0.0", "8787 for this machine alone")]
    {
        let ran = toolgate().args(["serve", "--listen", listen]).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(!ran.status.success() && said.contains(part), "{said}");
    }
}

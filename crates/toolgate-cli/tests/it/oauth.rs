//! Applications that act for people: named by command, and a desktop application that other people wrote, at the real
//! gate.

use std::process::Command;

use serde_json::{Value, json};

use crate::clients::{installed, root, sources};
use crate::gate::{Gate, finish, serve};
use crate::governance::Walk;

const BACK: &str = "http://127.0.0.1/callback";
const PASSWORD: &str = "correct horse battery staple";

#[test]
fn applications_are_named_and_taken_away() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["oauth", "client", "list"]);
    walk.ok(&["oauth", "client", "create", "editor", "--name", "My editor", "--redirect", BACK]);
    walk.ends(1, &["oauth", "client", "create", "editor", "--name", "Again", "--redirect", BACK]);
    walk.ends(1, &["oauth", "client", "create", "x", "--name", "X", "--redirect", "http://evil.example/"]);
    walk.ok(&["oauth", "client", "show", "editor"]);
    walk.ok(&["oauth", "client", "list"]);
    walk.ok(&["oauth", "grant", "list", "--all"]);
    walk.ok(&["oauth", "client", "remove", "editor", "--yes"]);
    walk.ends(1, &["oauth", "client", "show", "editor"]);
    walk.check("oauth_walk");

    let service = ["oauth", "client", "create", "service", "--name", "Service", "--redirect", BACK];
    let secret = gate.ok(&[&service[..], &["--confidential"]].concat());
    assert!(secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit()), "{secret}");
}

/// A link by which a new person chooses a password.
fn invited(gate: &Gate) -> String {
    gate.ok(&["user", "create", "ada", "--role", "member"]);
    gate.ok(&["user", "invite", "ada"])
}

/// Runs one of the scripts that play an application and its person.
fn play(script: &str, plan: &Value) -> String {
    let installed = installed();
    let mut command = Command::new(&installed.node);
    command.current_dir(installed.target.join("clients"));
    command.args(["--input-type=module", "-", &plan.to_string()]);
    let ran = finish(command, &std::fs::read_to_string(sources().join(script)).unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

/// Lets the desktop application in, and gives what it saw.
fn desktop(gate: &Gate, client_id: Option<&str>) -> Value {
    let plan = json!({
        "url": format!("{}/mcp", gate.url),
        "client_id": client_id,
        "invite": invited(gate),
        "password": PASSWORD,
        "call": { "name": "core__get_current_time", "arguments": { "timezone": "Europe/Berlin" } },
    });
    serde_json::from_str(play("authorize.mjs", &plan).lines().last().unwrap_or_default()).unwrap()
}

fn check_desktop(gate: &Gate, seen: &Value) {
    assert_eq!(seen["result"]["structuredContent"]["timezone"], "Europe/Berlin", "{seen}");
    assert_eq!(seen["scopes"], json!(["tools", "tools"]), "{seen}");
    for held in ["state", "issuer", "refreshed"] {
        assert_eq!(seen[held], true, "{held}: {seen}");
    }
    assert_eq!(seen["resource"], format!("{}/mcp", gate.url));
    assert!(seen["tools"].as_u64().unwrap() > 0, "{seen}");
    let listed: Value =
        serde_json::from_str(&gate.ok(&["oauth", "grant", "list", "--all", "--json"])).unwrap();
    let grants = listed.as_array().or_else(|| listed["grants"].as_array()).unwrap();
    assert_eq!(grants.len(), 1, "{listed}");
    assert_eq!(grants[0]["principal"], "user:ada");
    gate.ok(&["oauth", "grant", "revoke", grants[0]["id"].as_str().unwrap(), "--yes"]);
}

#[test]
fn a_desktop_application_signs_in_with_a_browser_and_nothing_else() {
    let gate = serve(&[], &[]);
    gate.ok(&["oauth", "client", "create", "desktop", "--name", "Desktop", "--redirect", BACK]);
    let seen = desktop(&gate, Some("desktop"));
    check_desktop(&gate, &seen);
}

#[test]
fn a_desktop_application_registers_itself_where_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("toolgate.toml");
    std::fs::write(&config, "[oauth]\ndynamic_registration = true\n").unwrap();
    let gate = serve(&["--config", config.to_str().unwrap()], &[]);
    let seen = desktop(&gate, None);
    assert!(seen["registered"].as_str().unwrap().starts_with("dyn_"), "{seen}");
    check_desktop(&gate, &seen);
}

#[test]
fn the_protocols_own_checks_of_authorization_servers_pass() {
    let gate = serve(&[], &[]);
    gate.ok(&["oauth", "client", "create", "checks", "--name", "Checks", "--redirect", BACK]);
    let suite = need_conformance();
    let plan = json!({
        "suite": suite,
        "url": gate.url,
        "client_id": "checks",
        "resource": format!("{}/mcp", gate.url),
        "port": toolgate_testkit::free_port().to_string(),
        "invite": invited(&gate),
        "password": PASSWORD,
    });
    let said = play("certify.mjs", &plan);
    assert!(said.contains("authorization-server-metadata-endpoint: 2 passed, 0 failed"), "{said}");
    assert!(said.contains("authorization-code-grant: 1 passed, 0 failed"), "{said}");
}

/// Where the suite's program is; installs it first if it is not there.
fn need_conformance() -> String {
    let output = Command::new(root().join("scripts/need-conformance")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.split_whitespace().last().unwrap().to_owned()
}

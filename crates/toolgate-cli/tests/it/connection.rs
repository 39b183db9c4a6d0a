//! Accounts at outside services: given, used, sealed under another key, and nowhere to be found.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use toolgate_testkit::ProtectedServer;

use crate::gate::{Gate, finish, serve, toolgate};

const SECRET: &str = "s3cret-0f-a-c0nnecti0n";
const CLIENT_SECRET: &str = "s3cret-0f-the-0perat0r";
const OTHER_KEY: &str = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

/// A gate that may reach a server which wants a login, and that server.
struct Given {
    server: ProtectedServer,
    gate: Gate,
    /// What every command said.
    said: String,
    _folder: TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Given {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(ProtectedServer::start());
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("toolgate.toml");
        let config = format!(
            "[egress]\nallow = ['{}']\n[[connections.clients]]\nissuer = 'https://login.example'\n\
             client_id = 'us'\nclient_secret_env = 'CLIENT_SECRET'\n",
            server.host()
        );
        std::fs::write(&file, config).unwrap();
        let envs = [("CLIENT_SECRET", CLIENT_SECRET), ("TOOLGATE_LOG", "trace"), ("RUST_LOG", "trace")];
        let gate = serve(&["--config", file.to_str().unwrap()], &envs);
        Self { server, gate, said: String::new(), _folder: folder, _runtime: runtime }
    }

    fn run(&mut self, code: i32, args: &[&str], input: &str) -> String {
        let ran = self.gate.run_with(args, input);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        self.said.push_str(&ran.stdout);
        self.said.push_str(&ran.stderr);
        ran.stdout
    }
}

/// Every file of a folder as bytes.
fn bytes_of(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(bytes_of(&path));
        } else {
            all.extend(std::fs::read(&path).unwrap());
        }
    }
    all
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
}

/// Planted in the configuration, in a connection and in the errors of servers; looked for everywhere.
#[test]
fn a_planted_secret_is_found_nowhere() {
    let mut given = Given::new();
    let url = given.server.url();
    // It wants a login and is not connected: nothing can be listed yet.
    given.run(1, &["upstream", "add", "server", "--at", &url, "--auth", "shared"], "");
    let set = ["connection", "set", "mcp:server", "--kind", "token", "--shared"];
    let shown = given.run(0, &set, &format!("{SECRET}\n"));
    assert!(shown.contains("mcp:server"), "{shown}");
    // The server refuses it and repeats it in its error.
    given.run(1, &["upstream", "test", "server"], "");
    assert!(given.server.requests().iter().filter(|asked| *asked == "POST /mcp").count() > 1);
    // A program that tells what it was given, and ends.
    let program =
        ["upstream", "add", "program", "--env", "TOKEN=", "--auth", "shared", "--", "/bin/sh", "-c"];
    let script = "echo \"my token is $TOKEN\" >&2; exit 7";
    given.run(1, &[&program[..], &[script]].concat(), "");
    let env = ["connection", "set", "mcp:program", "--kind", "env", "--name", "TOKEN", "--shared"];
    given.run(0, &env, SECRET);
    given.run(1, &["upstream", "test", "program"], "");
    for args in [
        &["upstream", "show", "program", "--json"][..],
        &["upstream", "list", "--json"],
        &["connection", "list"],
        &["connection", "list", "--json"],
        &["audit", "export"],
        &["audit", "verify"],
        &["tool", "list", "--json"],
    ] {
        let ran = given.gate.run(args);
        given.said.push_str(&ran.stdout);
        given.said.push_str(&ran.stderr);
    }
    given.gate.stop();
    let stored = bytes_of(given.gate.data());
    assert!(holds(&stored, "mcp:server"), "the store was read");
    assert!(given.said.contains("connection.set"), "the record was read");
    for secret in [SECRET, CLIENT_SECRET] {
        assert!(!holds(&stored, secret), "in the store");
        assert!(!given.gate.log().contains(secret), "in the log:\n{}", given.gate.log());
        assert!(!given.said.contains(secret), "in what was said:\n{}", given.said);
    }
}

#[test]
fn another_master_key_does_not_start() {
    let mut given = Given::new();
    given.gate.stop();
    let data = given.gate.data().to_str().unwrap().to_owned();
    let mut command = toolgate();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data", &data]).env("TOOLGATE_MASTER_KEY", OTHER_KEY);
    let ran = finish(command, "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("sealed under the master key `mk_"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(OTHER_KEY));
    let mut command = toolgate();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data", &data])
        .env("TOOLGATE_MASTER_KEY", "nonsense");
    let ran = finish(command, "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("holds no master key") && !ran.stderr.contains("nonsense"), "{}", ran.stderr);
}

#[test]
fn a_master_key_is_replaced_and_what_it_sealed_goes_on() {
    let mut given = Given::new();
    let url = given.server.url();
    given.run(1, &["upstream", "add", "server", "--at", &url, "--auth", "shared"], "");
    given.run(0, &["connection", "set", "mcp:server", "--kind", "token", "--shared"], SECRET);
    given.gate.stop();
    let file = given.gate.data().join("master.key");
    let old = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{OTHER_KEY}\n{old}")).unwrap();
    let data = given.gate.data().to_str().unwrap().to_owned();
    let mut command = toolgate();
    command.args(["secrets", "rewrap", "--data", &data, "--json"]);
    let ran = finish(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["wrapped"], 1);
    std::fs::write(&file, OTHER_KEY).unwrap();
    given.gate.restart();
    let before = given.server.requests().len();
    given.run(1, &["upstream", "test", "server"], "");
    assert!(given.server.requests().len() > before, "the secret was opened and sent");
}

#[test]
fn a_secret_is_never_an_argument() {
    let mut given = Given::new();
    let url = given.server.url();
    given.run(1, &["upstream", "add", "server", "--at", &url, "--auth", "per_user"], "");
    given.run(2, &["connection", "set", "mcp:server", SECRET, "--kind", "token"], "");
    // Whoever writes it there has shown it to the machine already.
    given.said.clear();
    given.run(2, &["connection", "set", "mcp:server", "--kind", "header"], SECRET);
    given.run(2, &["connection", "set", "mcp:server", "--kind", "token", "--secret-env", "NOT_SET"], "");
    given.run(0, &["connection", "set", "mcp:server", "--kind", "header", "--name", "x-key"], SECRET);
    let at = given.run(0, &["connection", "connect", "mcp:server"], "");
    assert!(at.starts_with(&given.server.issuer()), "{at}");
    given.run(0, &["connection", "remove", "mcp:server", "--yes"], "");
    assert!(!given.said.contains(SECRET));
}

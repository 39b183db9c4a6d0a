//! A real OpenID Connect provider for tests: a Node process that runs `oidc/provider.mjs`.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const START_WITHIN: Duration = Duration::from_secs(60);

/// Who a gate is at this provider, with a secret.
pub const OIDC_CLIENT: (&str, &str) = ("toolgate", "a secret & a half");
/// Who a gate is at this provider, without one.
pub const OIDC_PUBLIC_CLIENT: &str = "toolgate-public";

/// A provider on a free loopback port, with people and faults that tests choose. Ends on drop.
#[derive(Debug)]
pub struct TestOidc {
    issuer: String,
    client: reqwest::Client,
    _process: Child,
}

impl TestOidc {
    /// Starts a provider; installs its packages first if they are not there.
    pub async fn start() -> Self {
        Self::run("provider.mjs").await.0
    }

    /// Starts the provider that this script is, and answers what it says beside where it is.
    pub(crate) async fn run(script: &str) -> (Self, Lines<BufReader<ChildStdout>>) {
        // A test may be the first to need TLS in its process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oidc");
        let packages = folder.clone();
        tokio::task::spawn_blocking(move || install(&packages)).await.expect("the packages");
        let mut process = Command::new("node")
            .arg(script)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs: `make test` installs it");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let issuer = tokio::time::timeout(START_WITHIN, lines.next_line())
            .await
            .expect("the provider starts in time")
            .expect("its output")
            .expect("the provider starts");
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        (Self { issuer, client, _process: process }, lines)
    }

    /// The issuer URL.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Says what the provider knows of a person.
    pub async fn person(&self, sub: &str, claims: Value) {
        let url = format!("{}/test/people/{sub}", self.issuer);
        let answer = self.client.put(url).json(&claims).send().await.expect("the provider answers");
        assert!(answer.status().is_success());
    }

    /// Changes how the provider behaves: `in_id_token`, `tamper`.
    pub async fn settings(&self, settings: Value) {
        self.post("/test/settings", settings).await;
    }

    /// Makes a new signing key and forgets the old one.
    pub async fn rotate_keys(&self) {
        self.post("/test/rotate", Value::Null).await;
    }

    async fn post(&self, path: &str, body: Value) {
        let answer = self.client.post(format!("{}{path}", self.issuer)).json(&body).send().await;
        assert!(answer.expect("the provider answers").status().is_success());
    }

    /// What a browser does at the provider: opens `url`, signs in as `sub` (or `cancel`s), and is sent back. Answers
    /// where to.
    pub async fn visit(&self, url: &str, sub: &str) -> String {
        let mut cookies: Vec<(String, String)> = Vec::new();
        let mut next = url.to_owned();
        for _ in 0..10 {
            let request = if next.contains("/interaction/") {
                self.client
                    .post(&next)
                    .header("content-type", "application/x-www-form-urlencoded")
                    .body(format!("login={sub}"))
            } else {
                self.client.get(&next)
            };
            let kept: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let answer =
                request.header("cookie", kept.join("; ")).send().await.expect("the provider answers");
            for set in answer.headers().get_all("set-cookie") {
                let pair = set.to_str().expect("text").split(';').next().unwrap_or_default();
                let (name, value) = pair.split_once('=').expect("a cookie");
                cookies.retain(|(known, _)| known != name);
                cookies.push((name.to_owned(), value.to_owned()));
            }
            let status = answer.status();
            let Some(location) = answer.headers().get("location") else {
                panic!("the provider answers {status}: {}", answer.text().await.unwrap_or_default());
            };
            let location = location.to_str().expect("text").to_owned();
            next = if location.starts_with('/') { format!("{}{location}", self.issuer) } else { location };
            if !next.starts_with(&self.issuer) {
                return next;
            }
        }
        panic!("the provider sends the browser around in circles");
    }
}

/// Installs the packages, one process at a time.
#[allow(clippy::print_stderr, reason = "whoever waits should know for what")]
fn install(folder: &Path) {
    // npm writes this file last.
    let done = || folder.join("node_modules/.package-lock.json").exists();
    if done() {
        return;
    }
    let lock = File::create(std::env::temp_dir().join("toolgate-testkit-oidc.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if done() {
        return;
    }
    eprintln!("The test provider's packages are missing: installing them with npm ci.");
    let installed = std::process::Command::new("npm")
        .args(["ci", "--no-fund", "--no-audit", "--ignore-scripts", "--loglevel=error"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("npm runs: `make test` installs it");
    assert!(installed.status.success(), "npm ci failed: {}", String::from_utf8_lossy(&installed.stderr));
}

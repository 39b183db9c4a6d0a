//! The real binary, run as a server: started, called, killed and started again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The administrator's key of every test gate.
pub const ADMIN_KEY: &str = "test-admin-key-0123456789abcdef0123456789abcdef";
/// What nodes on one database seal secrets with.
const MASTER_KEY: &str = "3031323334353637383930313233343536373839303132333435363738393031";

/// How a gate is started.
#[derive(Debug, Clone, Default)]
pub struct GateSetup {
    /// The `toolgate` binary.
    pub binary: PathBuf,
    /// More arguments for `serve`.
    pub args: Vec<String>,
    /// More environment.
    pub envs: Vec<(String, String)>,
    /// Postgres instead of the embedded store.
    pub database_url: Option<String>,
    /// A configuration file's text.
    pub config: Option<String>,
    /// The policies of tenants that saved none.
    pub policies: Option<String>,
}

/// A running gate. Killed on drop.
#[derive(Debug)]
pub struct Gate {
    child: Child,
    setup: GateSetup,
    folder: TempDir,
    port: u16,
    client: reqwest::Client,
}

impl Gate {
    /// Starts a gate and waits until it is ready.
    pub async fn start(setup: GateSetup) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = TempDir::new().expect("a temporary folder");
        let client =
            reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().expect("a client");
        // Port 0 lets the system choose; a port chosen here could be taken by someone else first.
        let child = spawn(&setup, folder.path(), 0, &[]);
        let mut gate = Self { child, setup, folder, port: 0, client };
        gate.port = gate.listens().await;
        gate.ready().await;
        gate
    }

    /// The port it says it listens on.
    async fn listens(&mut self) -> u16 {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let log = self.log();
            let port = log
                .split("listens on http://127.0.0.1:")
                .nth(1)
                .and_then(|rest| rest.lines().next()?.parse().ok());
            if let Some(port) = port {
                return port;
            }
            let ended = self.child.try_wait().expect("the gate's state");
            assert!(
                ended.is_none() && Instant::now() < patience,
                "the gate did not listen: {ended:?}\n{log}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Starts the same gate again, on the same port and data, with more environment for this run only. Does not wait.
    pub fn start_again(&mut self, envs: &[(&str, &str)]) {
        self.child = spawn(&self.setup, self.folder.path(), self.port, envs);
    }

    /// Waits until the gate is ready.
    ///
    /// # Panics
    /// When it ends first, or does not get ready in a minute.
    pub async fn ready(&mut self) {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.client.get(format!("{}/readyz", self.url())).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            let ended = self.child.try_wait().expect("the gate's state");
            assert!(ended.is_none(), "the gate ended early: {ended:?}\n{}", self.log());
            assert!(Instant::now() < patience, "the gate did not get ready\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The folder of its embedded store.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What it logged so far, over all its lives.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// How it was started: another gate like it is another node, on a shared database.
    #[must_use]
    pub fn setup(&self) -> &GateSetup {
        &self.setup
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()), "signal {name}");
    }

    /// `kill -9`, and waits for the end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for the process to end by itself; none when it does not in time.
    pub async fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("the gate's state") {
                return Some(status);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        None
    }

    /// Asks it to stop, and waits until it has.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.ended(Duration::from_secs(60)).await.expect("the gate stops when told to")
    }

    /// A client for requests of one's own.
    #[must_use]
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// A request as the administrator; the status is 0 when there was no answer.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> (u16, Value) {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, format!("{}{path}", self.url())).bearer_auth(ADMIN_KEY);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        match request.send().await {
            Err(_) => (0, Value::Null),
            Ok(answer) => {
                let status = answer.status().as_u16();
                let text = answer.text().await.unwrap_or_default();
                (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
            }
        }
    }

    /// GET as the administrator.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, None, &[]).await
    }

    /// POST as the administrator.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, Some(body), &[]).await
    }

    /// Calls a tool as the administrator.
    pub async fn invoke(&self, tool: &str, input: Value, headers: &[(&str, &str)]) -> (u16, Value) {
        let body = serde_json::json!({ "input": input });
        self.send("POST", &format!("/api/v1/tools/{tool}/invoke"), Some(&body), headers).await
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            #[allow(clippy::print_stderr, reason = "a failed test should show what the gate said")]
            {
                eprintln!("what the gate said:\n{}", self.log());
            }
        }
    }
}

fn spawn(setup: &GateSetup, folder: &Path, port: u16, envs: &[(&str, &str)]) -> Child {
    let log =
        std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).expect("a log file");
    let mut command = Command::new(&setup.binary);
    command
        .arg("serve")
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .arg("--data")
        .arg(folder.join("data"))
        .args(&setup.args)
        .env("TOOLGATE_ADMIN_KEY", ADMIN_KEY)
        .env("RUST_BACKTRACE", "0")
        .env_remove("TOOLGATE_DATABASE_URL")
        .env_remove("TOOLGATE_FAILPOINT")
        .envs(setup.envs.iter().map(|(name, value)| (name, value)))
        .envs(envs.iter().copied())
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log);
    if let Some(url) = &setup.database_url {
        command.args(["--database-url", url]);
        // Nodes that share a database share its master key.
        command.env("TOOLGATE_MASTER_KEY", MASTER_KEY);
    }
    let mut config = setup.config.clone();
    if let Some(text) = &setup.policies {
        let file = folder.join("policies.cedar");
        std::fs::write(&file, text).expect("a file of policies");
        let named = format!("\n[policy]\ndefault_file = {:?}\n", file.display().to_string());
        config = Some(config.unwrap_or_default() + &named);
    }
    if let Some(text) = &config {
        let file = folder.join("toolgate.toml");
        std::fs::write(&file, text).expect("a configuration file");
        command.arg("--config").arg(file);
    }
    command.spawn().expect("the toolgate binary runs")
}

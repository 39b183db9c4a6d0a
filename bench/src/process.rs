//! Servers in processes of their own, so that their CPU time can be told from the callers'.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;
use toolgate_testkit::{ADMIN_KEY, free_port};

pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Server {
    /// One call of the pure tool, ready to be written.
    pub(crate) fn request(&self) -> Vec<u8> {
        let body = r#"{"input":{"timezone":"Europe/Berlin"}}"#;
        format!(
            "POST /api/v1/tools/core__get_current_time/invoke HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {ADMIN_KEY}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .into_bytes()
    }

    /// CPU time so far, user and system.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit_once(") ").context("a stat line")?.1.split(' ').collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        // The kernel counts in hundredths on every platform this runs on.
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Memory in use.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("a size")?;
            anyhow::Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
        };
        Ok(Memory { resident: bytes("VmRSS:")?, own: bytes("RssAnon:")?, files: bytes("RssFile:")? })
    }
}

/// How much memory a process has, in bytes.
pub(crate) struct Memory {
    /// All of it.
    pub(crate) resident: u64,
    /// What it made itself: the heap, stacks, data it changed.
    pub(crate) own: u64,
    /// Pages of the program and its libraries, which processes share and the kernel can drop.
    files: u64,
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let Self { resident, own, files } = *self;
        write!(
            f,
            "{:.1} MB resident: {:.1} MB of its own, {:.1} MB pages of the program",
            megabytes(resident),
            megabytes(own),
            megabytes(files)
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The plain handler: this program again.
pub(crate) fn plain() -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("plain");
    start(command, |command, address, _| {
        command.arg(address);
    })
}

/// The fast MCP server: this program again.
pub(crate) fn upstream() -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("upstream");
    start(command, |command, address, _| {
        command.arg(address);
    })
}

/// The yardstick in front of it: this program again.
pub(crate) fn yardstick(upstream: &Server) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("yardstick");
    start(command, |command, address, folder| {
        let upstream = format!("http://{}/mcp", upstream.address);
        command.arg(address).arg(upstream).arg(folder.join("record"));
    })
}

/// A client that reaches other processes here.
pub(crate) fn http_client() -> anyhow::Result<reqwest::Client> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().no_proxy().build()?)
}

/// Any key that is no secret.
const MASTER_KEY: &str = "3031323334353637383930313233343536373839303132333435363738393031";

/// The gate itself.
pub(crate) async fn gate(binary: &Path, database_url: Option<&str>, copies: u32) -> anyhow::Result<Server> {
    let mut command = Command::new(binary);
    command.arg("serve").env("TOOLGATE_ADMIN_KEY", ADMIN_KEY).env("TOOLGATE_LOG", "warn");
    command.args(["--fixture-copies", &copies.to_string()]);
    if let Some(url) = database_url {
        command.args(["--database-url", url]);
        // Each gate has a folder of its own, and all that use one database share its master key.
        command.env("TOOLGATE_MASTER_KEY", MASTER_KEY);
    }
    let server = start(command, |command, address, folder| {
        command.args(["--listen", address]).arg("--data").arg(folder.join("data"));
        let config = folder.join("toolgate.toml");
        // The upstream it is measured with is on this machine. A gate that misses the file says so by not starting.
        let _ = std::fs::write(&config, "[egress]\nallow = [\"127.0.0.1\"]\nplain_http = true\n");
        command.arg("--config").arg(config);
    })?;
    // Listening comes before the tools are set up.
    let (client, ready) = (http_client()?, format!("http://{}/readyz", server.address));
    let patience = Instant::now() + Duration::from_secs(60);
    while !client.get(&ready).send().await?.status().is_success() {
        if Instant::now() > patience {
            bail!("the gate did not get ready");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(server)
}

fn start(mut command: Command, place: impl FnOnce(&mut Command, &str, &Path)) -> anyhow::Result<Server> {
    let folder = TempDir::new_in(".")?;
    let address = format!("127.0.0.1:{}", free_port());
    place(&mut command, &address, folder.path());
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let server = Server { child, address, _folder: folder };
    let patience = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(&server.address).is_err() {
        if Instant::now() > patience {
            bail!("the server did not start");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(server)
}

//! A gate to try things on: the real binary on a port and a folder of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) const KEY: &str = "tgk_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PATIENCE: Duration = Duration::from_secs(30);

/// A running gate. Killed when it goes out of scope.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) child: Child,
    data: Arc<TempDir>,
    log: Arc<Mutex<String>>,
    args: Vec<String>,
    envs: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Starts a gate with fixture tools and waits until it is ready.
pub(crate) fn serve(args: &[&str], envs: &[(&str, &str)]) -> Gate {
    let args = args.iter().map(ToString::to_string).collect();
    let envs = envs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    start("127.0.0.1:0", Arc::new(TempDir::new().unwrap()), args, envs)
}

/// The binary with nothing of our environment but the path.
pub(crate) fn toolgate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command.env_clear().stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

fn start(listen: &str, data: Arc<TempDir>, args: Vec<String>, envs: Vec<(String, String)>) -> Gate {
    let mut child = toolgate()
        .args(["serve", "--fixture-tools", "--listen", listen, "--data"])
        .arg(data.path())
        .args(&args)
        .env("TOOLGATE_ADMIN_KEY", KEY)
        .envs(envs.iter().cloned())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = Arc::new(Mutex::new(String::new()));
    let address = watch(child.stderr.take().unwrap(), Arc::clone(&log));
    let Ok(url) = address.recv_timeout(PATIENCE) else {
        let _ = child.kill();
        panic!("the gate did not start:\n{}", log.lock().unwrap());
    };
    let gate = Gate { url, key: KEY.to_owned(), child, data, log, args, envs };
    gate.wait_until("ready", || gate.answers("/readyz"));
    gate
}

/// Keeps what the gate says, and sends the address it listens on.
fn watch(stderr: impl Read + Send + 'static, log: Arc<Mutex<String>>) -> Receiver<String> {
    let (tell, address) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix("toolgate listens on ") {
                let _ = tell.send(url.to_owned());
            }
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
    address
}

impl Gate {
    /// The folder of its store.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// What it has said so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Runs a command against it.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    /// Runs a command against it with this on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut command = toolgate();
        command.args(args).env("TOOLGATE_URL", &self.url).env("TOOLGATE_KEY", &self.key);
        finish(command, input)
    }

    /// Runs a command that must end well, and gives its standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.stdout.trim_end().to_owned()
    }

    /// Kills it where it stands, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells it to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap()
    }

    /// Starts it again on the same port and folder, after [`Gate::kill`] or [`Gate::stop`].
    pub(crate) fn restart(&mut self) {
        let listen = self.url.trim_start_matches("http://").to_owned();
        *self = start(&listen, Arc::clone(&self.data), self.args.clone(), self.envs.clone());
    }

    /// Waits until something holds.
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < deadline, "not {what} in time; the gate said:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self, path: &str) -> bool {
        let host = self.url.trim_start_matches("http://");
        let Ok(mut stream) = TcpStream::connect(host) else { return false };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads nothing may be gone before everything is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

//! A real Postgres for tests.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::free_port;

/// Names a running server, as a URL of a database on it whose user may create databases. Set, tests share that server
/// instead of each starting its own, which matters where every test is a process.
pub const POSTGRES_VARIABLE: &str = "TOOLGATE_TEST_POSTGRES";

const START_WITHIN: Duration = Duration::from_secs(60);

/// The server and the shell beside it live and die together: when this process ends, however it ends, the pipe closes,
/// the server is stopped and the folder removed. `$1` is the folder; the rest is the server's command line.
const KEEPER: &str = r#"
trap '' INT TERM
folder=$1; shift
"$@" >>"$folder/log" 2>&1 &
server=$!
read -r word
case "$word" in
    keep-now) kill -QUIT $server 2>/dev/null; wait $server ;;
    keep) kill -INT $server 2>/dev/null; wait $server ;;
    *) kill -QUIT $server 2>/dev/null; wait $server; rm -rf "$folder" ;;
esac
"#;

/// Whether the server waits for the disk on commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    /// As in production.
    On,
    /// Faster; a crash of the machine, not of the server, may lose commits.
    Off,
}

/// A Postgres cluster of its own in a temporary folder, on a free loopback port. Removed on drop.
#[derive(Debug)]
pub struct TempPostgres {
    folder: TempDir,
    port: u16,
    fsync: Fsync,
    owner: Option<Owner>,
    keeper: Option<Child>,
}

impl TempPostgres {
    /// Makes a cluster and starts it.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(Fsync::On)
    }

    /// Makes a cluster and starts it, with or without waiting for the disk.
    #[must_use]
    pub fn start_with(fsync: Fsync) -> Self {
        let folder =
            tempfile::Builder::new().prefix("toolgate-postgres-").tempdir().expect("a temporary folder");
        let owner = Owner::find();
        if let Some(owner) = &owner {
            std::os::unix::fs::chown(folder.path(), Some(owner.user), Some(owner.group))
                .expect("chown the folder");
        }
        let mut postgres = Self { folder, port: free_port(), fsync, owner, keeper: None };
        let made = postgres
            .command(&binary("initdb"))
            .args([
                "--username=toolgate",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--pgdata",
            ])
            .arg(postgres.data())
            .output()
            .expect("run initdb");
        assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        postgres.start_again();
        postgres
    }

    /// Starts the server on the same port and data after a stop.
    pub fn start_again(&mut self) {
        assert!(self.keeper.is_none(), "the server runs already");
        let mut command = self.command(Path::new("sh"));
        command.arg("-c").arg(KEEPER).arg("keeper").arg(self.folder.path());
        command.arg(binary("postgres")).arg("-D").arg(self.data());
        command.arg("-k").arg(self.folder.path()).args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        let fsync = if self.fsync == Fsync::On { "fsync=on" } else { "fsync=off" };
        for setting in [fsync, "max_connections=300", "shared_buffers=128MB", "max_wal_size=2GB"] {
            command.arg("-c").arg(setting);
        }
        self.keeper = Some(command.stdin(Stdio::piped()).spawn().expect("start postgres"));
        self.wait_until_ready();
    }

    /// Stops the server the hard way: no goodbye to clients, recovery at the next start.
    pub fn stop_immediate(&mut self) {
        self.tell_keeper("keep-now\n");
    }

    /// Stops the server in good order, breaking off what clients do.
    pub fn stop(&mut self) {
        self.tell_keeper("keep\n");
    }

    /// The URL of the cluster's first database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://toolgate@127.0.0.1:{}/postgres", self.port)
    }

    /// Makes an empty database and returns its URL.
    pub async fn create_database(&self) -> String {
        create_database_on(&self.url()).await
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &Path) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        if let Some(owner) = &self.owner {
            command.uid(owner.user).gid(owner.group);
        }
        command
    }

    fn wait_until_ready(&mut self) {
        // The server writes its state to line 8 of this file.
        let state = self.data().join("postmaster.pid");
        let since = Instant::now();
        loop {
            let text = std::fs::read_to_string(&state).unwrap_or_default();
            if text.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return;
            }
            let died = self.keeper.as_mut().is_none_or(|keeper| keeper.try_wait().expect("wait").is_some());
            if died || since.elapsed() > START_WITHIN {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("postgres did not start:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn tell_keeper(&mut self, word: &str) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(mut pipe) = keeper.stdin.take() {
            // A keeper that is gone has nothing left to stop.
            let _ = pipe.write_all(word.as_bytes());
        }
        let _ = keeper.wait();
    }
}

impl Drop for TempPostgres {
    fn drop(&mut self) {
        self.tell_keeper("\n");
    }
}

/// A server that tests of this process share. Each test makes its own database on it.
#[derive(Debug)]
pub struct TestPostgres {
    url: String,
    // Held for the process' life; its keeper stops the server when the process ends.
    _own: Option<TempPostgres>,
}

impl TestPostgres {
    /// The URL of a database on the server that always exists.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes an empty database and returns its URL.
    pub async fn create_database(&self) -> String {
        create_database_on(&self.url).await
    }
}

/// The server named by [`POSTGRES_VARIABLE`], or one that lives as long as this process.
pub fn shared_postgres() -> &'static TestPostgres {
    static SHARED: OnceLock<TestPostgres> = OnceLock::new();
    SHARED.get_or_init(|| match std::env::var(POSTGRES_VARIABLE) {
        Ok(url) if !url.is_empty() => TestPostgres { url, _own: None },
        _ => {
            let own = TempPostgres::start_with(Fsync::Off);
            TestPostgres { url: own.url(), _own: Some(own) }
        }
    })
}

async fn create_database_on(url: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since_start =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("toolgate_{}_{}_{number}", std::process::id(), since_start.as_micros());
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connect to the test server");
    let connection = tokio::spawn(connection);
    client
        .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0"))
        .await
        .expect("create a database");
    drop(client);
    let _ = connection.await;
    with_database(url, &name)
}

/// The URL with another database in its path.
fn with_database(url: &str, name: &str) -> String {
    let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
    let after_scheme = place.find("://").map_or(0, |at| at + 3);
    let place = match place[after_scheme..].find('/') {
        Some(slash) => &place[..after_scheme + slash],
        None => place,
    };
    query.map_or_else(|| format!("{place}/{name}"), |query| format!("{place}/{name}?{query}"))
}

/// Whom the server runs as, when we are root: it refuses to run as root.
#[derive(Debug)]
struct Owner {
    user: u32,
    group: u32,
}

impl Owner {
    fn find() -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let me = std::fs::metadata("/proc/self")
            .or_else(|_| tempfile::tempfile()?.metadata())
            .expect("who I am")
            .uid();
        if me != 0 {
            return None;
        }
        let accounts = std::fs::read_to_string("/etc/passwd").expect("the list of accounts");
        let account = |name: &str| {
            let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2);
            Some(Self { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
        };
        let found = account("postgres").or_else(|| account("nobody"));
        Some(found.expect("an account to run postgres as: it does not run as root"))
    }
}

/// A Postgres program: on the path, or where Debian keeps it, newest version first.
fn binary(name: &str) -> PathBuf {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    versions.sort_unstable_by_key(|(version, _)| std::cmp::Reverse(*version));
    folders.extend(versions.into_iter().map(|(_, folder)| folder));
    folders
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("`{name}` is neither on the path nor below /usr/lib/postgresql"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_takes_the_place_of_the_one_in_the_url() {
        assert_eq!(with_database("postgres://u@h:1/postgres", "x"), "postgres://u@h:1/x");
        assert_eq!(with_database("postgres://u@h:1", "x"), "postgres://u@h:1/x");
        assert_eq!(
            with_database("postgres://u@h/a?sslmode=disable", "x"),
            "postgres://u@h/x?sslmode=disable"
        );
    }

    #[tokio::test]
    async fn data_survives_a_hard_stop_and_the_folder_goes_with_the_server() {
        let mut postgres = TempPostgres::start();
        let url = postgres.create_database().await;
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("CREATE TABLE t (x INT); INSERT INTO t VALUES (1)").await.unwrap();
        postgres.stop_immediate();
        assert!(client.batch_execute("SELECT 1").await.is_err());
        postgres.start_again();
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let row = client.query_one("SELECT x FROM t", &[]).await.unwrap();
        assert_eq!(row.get::<_, i32>(0), 1);

        let folder = postgres.folder.path().to_owned();
        drop(postgres);
        assert!(!folder.exists());
    }
}

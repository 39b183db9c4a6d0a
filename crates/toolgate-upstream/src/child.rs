//! A server's process: started without a shell, with an environment and a folder of its own, ended with all it started.

use std::collections::{BTreeMap, VecDeque};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolgate_core::port::connection::{Opened, Presented};

use crate::argument::filled;
use crate::fault::NOT_HELD;
use crate::settings::Settings;
use crate::warden::Warden;

/// What a process finds of our own environment.
const PASSED_ON: &[&str] = &["PATH", "HOME", "LANG"];
/// How much of what it complains about is kept.
const STDERR_KEPT: usize = 8 * 1024;

/// The end of what a process wrote to standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stderr(Arc<Mutex<VecDeque<u8>>>);

impl Stderr {
    /// What was kept, safe to show; none if it wrote nothing.
    pub(crate) fn shown(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        let text = crate::clean::logged(&[front, back].concat());
        (!text.trim().is_empty()).then_some(text)
    }

    /// Keeps what a process writes, without what it was given in confidence.
    async fn follow(self, mut from: impl AsyncRead + Unpin, hidden: Vec<Opened>) {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&buffer[..read]);
            // All of it is looked at again: a secret may come in two parts.
            for secret in &hidden {
                hide(&mut kept, secret.reveal().as_bytes());
            }
            let over = kept.len().saturating_sub(STDERR_KEPT);
            kept.drain(..over);
        }
    }
}

/// Puts stars in the place of a secret.
fn hide(kept: &mut VecDeque<u8>, secret: &[u8]) {
    // One so short is in every text.
    if secret.len() < 4 {
        return;
    }
    while let Some(at) = kept.make_contiguous().windows(secret.len()).position(|part| part == secret) {
        let rest = kept.split_off(at);
        kept.extend(b"***");
        kept.extend(rest.into_iter().skip(secret.len()));
    }
}

/// A running process. Dropping it ends it and everything it started.
#[derive(Debug)]
pub(crate) struct Process {
    child: Option<Child>,
    group: Option<Pid>,
    farewell: Duration,
    folder: Option<TempDir>,
    watched: Option<Watched>,
}

/// A group that someone ends should the gate not come to it.
#[derive(Debug)]
struct Watched {
    warden: Arc<Warden>,
    group: Pid,
}

impl Watched {
    /// Once the group is ended and its number may be another's.
    fn release(&self) {
        self.warden.release(self.group);
    }
}

/// A process and the two ends we hold.
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

/// Starts a program. The error says what is wrong in words that can be shown.
pub(crate) fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    presented: &[Presented],
    stderr: Stderr,
    settings: &Settings,
) -> Result<Started, String> {
    let folder = match &settings.scratch {
        Some(scratch) => scratch.folder(),
        None => tempfile::Builder::new().prefix("toolgate-upstream-").tempdir(),
    }
    .map_err(|_| "there is no room for its folder".to_owned())?;
    let args = args
        .iter()
        .map(|argument| filled(argument, presented))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|name| format!("its arguments name `${{{name}}}`, {NOT_HELD}"))?;
    let mut process = Command::new(command);
    process
        .args(args)
        .env_clear()
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some((user, group)) = settings.run_as {
        std::os::unix::fs::chown(folder.path(), Some(user), Some(group))
            .map_err(|_| "its folder could not be given to the user it runs as".to_owned())?;
        process.uid(user).gid(group);
    }
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            process.env(name, value);
        }
    }
    process.envs(env);
    for credential in presented {
        if let Presented::Env(name, value) = credential {
            process.env(name, value.reveal());
        }
    }
    let mut child = process.spawn().map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => "its program is not on this machine".to_owned(),
        std::io::ErrorKind::PermissionDenied => "its program may not be run".to_owned(),
        _ => "its program could not be started".to_owned(),
    })?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let watched = group.zip(settings.warden.clone()).map(|(group, warden)| Watched { warden, group });
    if let Some(pid) = group {
        limit(pid, settings);
    }
    if let Some(watched) = &watched {
        watched.warden.watch(watched.group);
    }
    if let Some(from) = child.stderr.take() {
        let hidden = presented.iter().map(|credential| match credential {
            Presented::Bearer(secret) | Presented::Header(_, secret) | Presented::Env(_, secret) => {
                Opened::new(secret.reveal().to_owned())
            }
        });
        tokio::spawn(stderr.follow(from, hidden.collect()));
    }
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("its program could not be spoken to".to_owned());
    };
    let process =
        Process { child: Some(child), group, farewell: settings.farewell, folder: Some(folder), watched };
    Ok(Started { process, stdin, stdout })
}

/// What the process may take. Set right after the start, before a program has had time for much; what it starts
/// itself inherits it.
fn limit(pid: Pid, settings: &Settings) {
    let set = |resource, most: u64| {
        let limits = Rlimit { current: Some(most), maximum: Some(most) };
        if prlimit(Some(pid), resource, limits).is_err() {
            tracing::debug!(?resource, "a limit on a server's process could not be set");
        }
    };
    set(Resource::Core, 0);
    set(Resource::Nofile, settings.process_files);
    if let Some(most) = settings.process_memory {
        set(Resource::Data, most);
    }
}

impl Process {
    /// Asks it to end, and after a while ends it.
    pub(crate) async fn end(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let (folder, watched) = (self.folder.take(), self.watched.take());
        finish(&mut child, self.group, self.farewell, watched).await;
        drop(folder);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let (group, farewell, folder) = (self.group, self.farewell, self.folder.take());
        let watched = self.watched.take();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    finish(&mut child, group, farewell, watched).await;
                    drop(folder);
                });
            }
            // Nobody is left to wait.
            Err(_) => signal(group, Signal::KILL),
        }
    }
}

async fn finish(child: &mut Child, group: Option<Pid>, farewell: Duration, watched: Option<Watched>) {
    // The child is not waited for before this, so the number of its group is still its own.
    signal(group, Signal::TERM);
    let _ = tokio::time::timeout(farewell, child.wait()).await;
    // Whatever of the group is left: the child itself, or what it started.
    signal(group, Signal::KILL);
    let _ = child.wait().await;
    if let Some(watched) = watched {
        watched.release();
    }
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // Gone already is just as well.
        let _ = kill_process_group(group, signal);
    }
}

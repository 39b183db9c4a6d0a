//! A small process beside the gate that outlives it by a moment: whatever ends the gate, even a kill that leaves it no
//! last word, the programs it started end too, with all they started.
//!
//! It reads the numbers of process groups from its standard input, one a line: `+12` is to be ended, `-12` ended by
//! itself. The end of the input is the end of the gate. (A signal to a child when its parent dies would reach the child
//! alone and not what it started, and would come when the *thread* ends that started it.)

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// The gate's end: tells which groups there are. The process is started when there is a first one.
#[derive(Debug)]
pub struct Warden {
    program: PathBuf,
    args: Vec<String>,
    post: Mutex<Post>,
}

/// Who is told, and what is to be told.
#[derive(Debug, Default)]
struct Post {
    groups: BTreeSet<i32>,
    told: Option<ChildStdin>,
}

impl Warden {
    /// A warden that is this program with these arguments, which has to come to [`keep_watch`].
    #[must_use]
    pub fn new(program: PathBuf, args: Vec<String>) -> Self {
        Self { program, args, post: Mutex::default() }
    }

    /// This group ends when the gate does.
    pub(crate) fn watch(&self, group: Pid) {
        let group = group.as_raw_nonzero().get();
        let mut post = self.post();
        post.groups.insert(group);
        if post.tell(&format!("+{group}\n")).is_some() {
            return;
        }
        // There is none yet, or it is gone: a new one hears of all.
        match self.start() {
            Ok(told) => post.told = Some(told),
            Err(cause) => tracing::warn!(error = %cause, "nothing ends MCP servers if the gate crashes"),
        }
        let all: String = post.groups.iter().map(|group| format!("+{group}\n")).collect();
        let _ = post.tell(&all);
    }

    /// This group has ended.
    pub(crate) fn release(&self, group: Pid) {
        let group = group.as_raw_nonzero().get();
        let mut post = self.post();
        post.groups.remove(&group);
        let _ = post.tell(&format!("-{group}\n"));
    }

    fn start(&self) -> std::io::Result<ChildStdin> {
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Whoever ends the gate at a terminal means the gate: this one has its own time.
            .process_group(0)
            .spawn()?;
        let stdin = child.stdin.take().ok_or_else(|| std::io::Error::other("it has no input"))?;
        // It ends after the gate. Should it end before, nothing is left of it.
        std::thread::spawn(move || child.wait());
        Ok(stdin)
    }

    fn post(&self) -> MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Post {
    /// None when nobody hears it.
    fn tell(&mut self, text: &str) -> Option<()> {
        let heard = self.told.as_mut()?.write_all(text.as_bytes()).ok();
        if heard.is_none() {
            self.told = None;
        }
        heard
    }
}

/// The other end: reads until the gate is gone, then ends what it left.
pub fn keep_watch(input: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in input.lines() {
        let Ok(line) = line else { break };
        heed(&mut groups, &line);
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        // Gone already is just as well.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn heed(groups: &mut BTreeSet<i32>, line: &str) {
    let number = |text: &str| text.parse::<i32>().ok().filter(|group| *group > 1);
    if let Some(group) = line.strip_prefix('+').and_then(number) {
        groups.insert(group);
    } else if let Some(group) = line.strip_prefix('-').and_then(number) {
        groups.remove(&group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_group_is_not_ended() {
        let mut groups = BTreeSet::new();
        for line in ["+12", "+13", "-12", "+1", "+0", "+-1", "+", "", "14", "-99", "+x"] {
            heed(&mut groups, line);
        }
        assert_eq!(groups.into_iter().collect::<Vec<_>>(), [13]);
    }

    #[test]
    fn the_end_of_the_gate_is_the_end_of_what_it_left() {
        let start = || Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let (mut left, mut released) = (start(), start());
        let told = format!("+{}\n+{}\n-{}\n", left.id(), released.id(), released.id());
        keep_watch(told.as_bytes());
        assert!(!left.wait().unwrap().success());
        assert!(released.try_wait().unwrap().is_none(), "it ended by itself, as far as anybody knows");
        released.kill().unwrap();
        released.wait().unwrap();
    }
}

//! A person at a terminal: the real binary on a pseudo-terminal, answered prompt by prompt.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::gate::Ran;

const PATIENCE: Duration = Duration::from_secs(30);

/// A command that runs on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    read: usize,
}

impl Terminal {
    pub(crate) fn open(mut command: Command) -> Self {
        let owner = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&owner).unwrap();
        unlockpt(&owner).unwrap();
        let name = ptsname(&owner, Vec::new()).unwrap();
        let side = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let stdio = || Stdio::from(side.try_clone().unwrap());
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
        // Only the command keeps its side open, so that the screen ends with it.
        drop((command, side));
        let owner = File::from(owner);
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut output, shown) = (owner.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Self { child, keyboard: owner, screen, read: 0 }
    }

    /// Waits until this is asked, then types the answer.
    pub(crate) fn answer(&mut self, question: &str, answer: &str) {
        self.sees(question);
        writeln!(self.keyboard, "{answer}").unwrap();
    }

    /// Waits until this is shown, after what was waited for before.
    pub(crate) fn sees(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            assert!(Instant::now() < deadline, "`{text}` was not shown:\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the command is over, and gives all that was on the screen.
    pub(crate) fn end(mut self) -> Ran {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let stdout = self.screen.lock().unwrap().replace("\r\n", "\n");
        Ran { code, stdout, stderr: String::new() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

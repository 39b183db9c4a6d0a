//! What is told before the answer, each piece with the mark that a broken stream is taken up by.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

/// One piece of a stream.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The message; none where only the mark matters.
    pub message: Option<String>,
    /// What a client shows to go on after this piece.
    pub event: Option<String>,
    /// The stream ends here, and is to be taken up after this time.
    pub closes: Option<Duration>,
}

impl From<String> for Told {
    fn from(message: String) -> Self {
        Self { message: Some(message), ..Self::default() }
    }
}

/// Where messages go that come before the answer.
#[derive(Debug)]
pub struct Outbox {
    sender: Option<mpsc::UnboundedSender<Told>>,
    /// What the stream is known by, once it can be taken up elsewhere.
    thread: OnceLock<String>,
    /// How many reports of the call have come by.
    reports: AtomicU32,
}

impl Outbox {
    /// An outbox, and where its messages arrive.
    #[must_use]
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Told>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { sender: Some(sender), ..Self::closed() }, receiver)
    }

    /// An outbox for a client that takes one answer and nothing else.
    #[must_use]
    pub const fn closed() -> Self {
        Self { sender: None, thread: OnceLock::new(), reports: AtomicU32::new(0) }
    }

    /// Whether anything gets through.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// Sends a message.
    pub fn send(&self, message: String) {
        self.tell(Told { message: Some(message), event: self.event('-'), closes: None });
    }

    /// Sends a question: whoever goes on after it is not asked again.
    pub(crate) fn ask(&self, message: String) {
        self.tell(Told { message: Some(message), event: self.event('q'), closes: None });
    }

    /// Sends a message, or nothing, under a mark of its own.
    pub(crate) fn send_as(&self, message: Option<String>, event: String) {
        self.tell(Told { message, event: Some(event), closes: None });
    }

    /// From here on the stream can be taken up by this text. `greets` says so at once, for clients that know what a
    /// piece without a message means.
    pub(crate) fn mark(&self, thread: String, greets: bool) {
        if self.thread.set(thread).is_ok() && greets {
            self.tell(Told { event: self.event('-'), ..Told::default() });
        }
    }

    /// Whether the stream can be taken up.
    pub(crate) fn is_marked(&self) -> bool {
        self.thread.get().is_some()
    }

    /// Counts a report that has come by, told or not.
    pub(crate) fn reported(&self) {
        self.reports.fetch_add(1, Ordering::Relaxed);
    }

    /// How many reports have come by.
    pub(crate) fn reports(&self) -> u32 {
        self.reports.load(Ordering::Relaxed)
    }

    /// Ends the stream, for the client to take it up after a while. Does nothing where it could not.
    pub(crate) fn close(&self, retry: Duration) {
        if let Some(event) = self.event('-') {
            self.tell(Told { message: None, event: Some(event), closes: Some(retry) });
        }
    }

    fn event(&self, kind: char) -> Option<String> {
        let thread = self.thread.get()?;
        Some(format!("c.{}.{kind}.{thread}", self.reports()))
    }

    fn tell(&self, told: Told) {
        if let Some(sender) = &self.sender {
            // Whoever listened may have gone; then nobody misses it.
            let _ = sender.send(told);
        }
    }
}

//! What is told before the answer, each piece with the mark that a broken stream is taken up by.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::unread::{Kept, Reader};

/// One piece of a stream.
#[derive(Debug, Default)]
pub struct Told {
    /// The message; none where only the mark matters.
    pub message: Option<String>,
    /// What a client shows to go on after this piece.
    pub event: Option<String>,
    /// The stream ends here, and is to be taken up after this time.
    pub closes: Option<Duration>,
    /// The room it takes until it is read.
    pub kept: Option<Kept>,
}

/// Where messages go that come before the answer.
#[derive(Debug)]
pub struct Outbox {
    sender: Option<(mpsc::UnboundedSender<Told>, Reader)>,
    /// What the stream is known by, once it can be taken up elsewhere.
    thread: OnceLock<String>,
    /// How many reports of the call have come by.
    reports: AtomicU32,
}

impl Outbox {
    /// An outbox to this reader, and where its messages arrive.
    #[must_use]
    pub fn new(reader: Reader) -> (Self, mpsc::UnboundedReceiver<Told>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { sender: Some((sender, reader)), ..Self::closed() }, receiver)
    }

    /// An outbox for a client that takes one answer and nothing else.
    #[must_use]
    pub const fn closed() -> Self {
        Self { sender: None, thread: OnceLock::new(), reports: AtomicU32::new(0) }
    }

    /// Whether anything gets through.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.sender.as_ref().is_some_and(|(sender, _)| !sender.is_closed())
    }

    /// Sends a message.
    pub fn send(&self, message: String) {
        self.tell(Told { message: Some(message), event: self.event('-'), ..Told::default() });
    }

    /// Sends a message that may be left out where the client does not keep up.
    pub(crate) fn report(&self, message: String) {
        let Some((sender, reader)) = &self.sender else { return };
        if let Some(kept) = reader.progress(message.len()) {
            let event = self.event('-');
            let _ = sender.send(Told { message: Some(message), event, closes: None, kept: Some(kept) });
        }
    }

    /// Sends a question: whoever goes on after it is not asked again.
    pub(crate) fn ask(&self, message: String) {
        self.tell(Told { message: Some(message), event: self.event('q'), ..Told::default() });
    }

    /// Sends a message, or nothing, under a mark of its own.
    pub(crate) fn send_as(&self, message: Option<String>, event: String) {
        self.tell(Told { message, event: Some(event), ..Told::default() });
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
            self.tell(Told { event: Some(event), closes: Some(retry), ..Told::default() });
        }
    }

    fn event(&self, kind: char) -> Option<String> {
        let thread = self.thread.get()?;
        Some(format!("c.{}.{kind}.{thread}", self.reports()))
    }

    fn tell(&self, mut told: Told) {
        if let Some((sender, reader)) = &self.sender {
            told.kept = reader.always(told.message.as_ref().map_or(0, String::len));
            // Whoever listened may have gone; then nobody misses it.
            let _ = sender.send(told);
        }
    }
}

//! How much of what callers are told may wait to be read. A call goes on while its client does not read, so what piles
//! up is counted: progress is left out first, and an answer that finds no room is replaced by a word on where it is.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_core::Actor;

use crate::rpc_error::RpcError;

/// Answers no longer than this are not counted: connections are few enough.
const SMALL: usize = 64 * 1024;

/// How many bytes may wait to be read.
#[derive(Debug, Clone, Copy)]
pub struct UnreadLimits {
    /// Progress on one stream.
    pub progress: usize,
    /// All of one caller's. Progress may take a quarter of it.
    pub caller: usize,
    /// Everyone's. Progress may take a quarter of it.
    pub all: usize,
}

impl Default for UnreadLimits {
    fn default() -> Self {
        // One caller's room takes the largest answer there can be.
        Self { progress: 256 * 1024, caller: 64 << 20, all: 256 << 20 }
    }
}

/// What waits to be read on this node.
#[derive(Debug, Default)]
pub struct Unread {
    limits: UnreadLimits,
    held: Mutex<Held>,
    names: RandomState,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    of: HashMap<u64, usize>,
}

impl Unread {
    /// Nothing yet, within these limits.
    #[must_use]
    pub fn within(limits: UnreadLimits) -> Arc<Self> {
        Arc::new(Self { limits, ..Self::default() })
    }

    /// One stream of this caller's.
    #[must_use]
    pub fn reader(self: &Arc<Self>, actor: &Actor) -> Reader {
        let who = self.names.hash_one((actor.tenant.as_str(), actor.principal.as_str()));
        Reader { unread: Arc::clone(self), who, progress: Arc::default() }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever reads a stream, or does not.
#[derive(Debug, Clone)]
pub struct Reader {
    unread: Arc<Unread>,
    who: u64,
    /// How much progress waits on this stream.
    progress: Arc<AtomicUsize>,
}

impl Reader {
    /// Room for a report of progress; none where it had better be left out.
    pub(crate) fn progress(&self, bytes: usize) -> Option<Kept> {
        let limits = self.unread.limits;
        // Two at once may both find room; that is one report more.
        if self.progress.load(Ordering::Relaxed) + bytes > limits.progress {
            return None;
        }
        let mut kept = self.keep(bytes, limits.caller / 4, limits.all / 4)?;
        self.progress.fetch_add(bytes, Ordering::Relaxed);
        kept.progress = Some(Arc::clone(&self.progress));
        Some(kept)
    }

    /// Room for what must be told.
    pub(crate) fn always(&self, bytes: usize) -> Option<Kept> {
        self.keep(bytes, usize::MAX, usize::MAX)
    }

    /// An answer, and what keeps its room until it is read. One that finds no room is in the record, and the client is
    /// told so instead.
    pub fn answer(&self, done: Result<String, RpcError>) -> (Result<String, RpcError>, Option<Kept>) {
        let bytes = match &done {
            Ok(result) if result.len() > SMALL => result.len(),
            _ => return (done, None),
        };
        let limits = self.unread.limits;
        match self.keep(bytes, limits.caller, limits.all) {
            Some(kept) => (done, Some(kept)),
            None => (Err(no_room()), None),
        }
    }

    fn keep(&self, bytes: usize, of_caller: usize, of_all: usize) -> Option<Kept> {
        let mut held = self.unread.held();
        let mine = held.of.get(&self.who).copied().unwrap_or(0);
        if mine.saturating_add(bytes) > of_caller || held.all.saturating_add(bytes) > of_all {
            return None;
        }
        held.all += bytes;
        held.of.insert(self.who, mine + bytes);
        drop(held);
        Some(Kept { unread: Arc::clone(&self.unread), who: self.who, bytes, progress: None })
    }
}

/// Room that something takes until it is read; given back when dropped.
#[derive(Debug)]
pub struct Kept {
    unread: Arc<Unread>,
    who: u64,
    bytes: usize,
    progress: Option<Arc<AtomicUsize>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.fetch_sub(self.bytes, Ordering::Relaxed);
        }
        let mut held = self.unread.held();
        held.all -= self.bytes;
        if let Some(mine) = held.of.get_mut(&self.who) {
            *mine -= self.bytes;
            if *mine == 0 {
                held.of.remove(&self.who);
            }
        }
    }
}

fn no_room() -> RpcError {
    let hint = "do not repeat the call: its result is kept, find it among your calls; read the answers that you asked for";
    RpcError::coded(RpcError::INTERNAL, "unread", "too much that was answered waits to be read", hint)
        .with_status(429)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of the caller with this number.
    fn stream(unread: &Arc<Unread>, who: u64) -> Reader {
        Reader { unread: Arc::clone(unread), who, progress: Arc::default() }
    }

    fn code(done: &Result<String, RpcError>) -> String {
        done.as_ref().err().map_or_else(
            || "none".to_owned(),
            |error| error.data.as_ref().unwrap()["code"].as_str().unwrap().to_owned(),
        )
    }

    #[test]
    fn answers_are_kept_while_there_is_room_and_told_of_when_there_is_none() {
        let unread = Unread::within(UnreadLimits { progress: 10, caller: 300_000, all: 500_000 });
        let (ada, bob) = (stream(&unread, 1), stream(&unread, 2));
        let long = || Ok("x".repeat(200_000));
        let (first, kept) = ada.answer(long());
        assert_eq!(code(&first), "none");
        let (second, none) = stream(&unread, 1).answer(long());
        assert_eq!((code(&second).as_str(), none.is_none()), ("unread", true), "streams of one caller share");
        assert_eq!(code(&ada.answer(Ok("small".to_owned())).0), "none");
        let (theirs, kept_too) = bob.answer(long());
        assert_eq!(code(&theirs), "none", "another caller has room of their own");
        assert_eq!(code(&stream(&unread, 3).answer(long()).0), "unread", "all share the node");
        drop((kept, kept_too));
        assert_eq!(code(&ada.answer(long()).0), "none", "what was read is forgotten");
        let held = unread.held();
        assert_eq!((held.all, held.of.len()), (0, 0));
    }

    #[test]
    fn progress_is_left_out_before_anything_else() {
        let unread = Unread::within(UnreadLimits { progress: 250, caller: 2_000_000, all: 2_000_000 });
        let ada = stream(&unread, 1);
        let kept: Vec<_> = (0..9).filter_map(|_| ada.progress(100)).collect();
        assert_eq!(kept.len(), 2);
        assert!(ada.always(100).is_some());
        let (answer, room) = ada.answer(Ok("x".repeat(1_500_000)));
        assert_eq!(code(&answer), "none");
        drop(kept);
        assert!(ada.progress(100).is_none(), "answers have taken the room of progress");
        drop(room);
        assert!(ada.progress(100).is_some());
    }
}

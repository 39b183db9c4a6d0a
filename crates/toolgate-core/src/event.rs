//! Events: the append-only record. Each carries the hash of the one before it in its session.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::{InvocationId, PrincipalId, SessionId, TenantId};
use crate::json::{JsonText, to_hex};
use crate::time::Timestamp;

/// A SHA-256 in the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// What the first event of a session follows.
    pub const GENESIS: Self = Self([0; 32]);

    /// A hash from stored bytes.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl std::fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The end of a session's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// The last event's number; 0 before the first.
    pub seq: i64,
    /// The last event's hash.
    pub hash: ChainHash,
}

impl ChainHead {
    /// A chain with no events.
    pub const EMPTY: Self = Self { seq: 0, hash: ChainHash::GENESIS };
}

/// What happened. The text form is a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// The call waits for a person.
    #[serde(rename = "tool.needs_approval")]
    NeedsApproval,
    /// A person let it run.
    #[serde(rename = "tool.approved")]
    Approved,
    /// A person refused it.
    #[serde(rename = "tool.rejected")]
    Rejected,
    /// It began to run.
    #[serde(rename = "tool.started")]
    Started,
    /// It reported progress or a part of its output.
    #[serde(rename = "tool.output_appended")]
    OutputAppended,
    /// It waits for a person, a webhook or a connection.
    #[serde(rename = "tool.waiting")]
    Waiting,
    /// It ended well.
    #[serde(rename = "tool.completed")]
    Completed,
    /// It stopped with an error.
    #[serde(rename = "tool.failed")]
    Failed,
    /// It was cancelled.
    #[serde(rename = "tool.cancelled")]
    Cancelled,
    /// Nobody decided in time.
    #[serde(rename = "tool.expired")]
    Expired,
    /// A write whose outcome was lost.
    #[serde(rename = "tool.in_doubt")]
    InDoubt,
    /// Someone asked for it to be cancelled while it ran.
    #[serde(rename = "tool.cancel_requested")]
    CancelRequested,
    /// A result that came after the outcome was settled; kept, never applied.
    #[serde(rename = "tool.late_result")]
    LateResult,
    /// Something happened to a waiting call short of a decision: a vote, a question, an edit, another assignee.
    #[serde(rename = "tool.review_changed")]
    ReviewChanged,
    /// Someone who manages the tenant changed something.
    #[serde(rename = "admin.changed")]
    AdminChanged,
}

macro_rules! kinds {
    ($($variant:ident = $text:literal),+) => {
        crate::contract::text_form!(EventKind { $($variant = $text),+ });

        impl EventKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
        }
    };
}

kinds! {
    NeedsApproval = "tool.needs_approval",
    Approved = "tool.approved",
    Rejected = "tool.rejected",
    Started = "tool.started",
    OutputAppended = "tool.output_appended",
    Waiting = "tool.waiting",
    Completed = "tool.completed",
    Failed = "tool.failed",
    Cancelled = "tool.cancelled",
    Expired = "tool.expired",
    InDoubt = "tool.in_doubt",
    CancelRequested = "tool.cancel_requested",
    LateResult = "tool.late_result",
    ReviewChanged = "tool.review_changed",
    AdminChanged = "admin.changed"
}

/// An event before it has its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// The thread of work.
    pub session: SessionId,
    /// The call it speaks of.
    pub invocation: InvocationId,
    /// What happened.
    pub kind: EventKind,
    /// Who caused it.
    pub actor: PrincipalId,
    /// When.
    pub at: Timestamp,
    /// The rest, as JSON.
    pub data: JsonText,
}

/// An event in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub draft: EventDraft,
    /// Its number in the session, from 1.
    pub seq: i64,
    /// The hash of the event before it.
    pub prev: ChainHash,
    /// Its own hash, over everything above.
    pub hash: ChainHash,
}

impl EventDraft {
    /// Gives the event its place after `head`.
    #[must_use]
    pub fn seal(self, head: ChainHead) -> Event {
        let ChainHead { seq, hash } = self.after(head);
        Event { draft: self, seq, prev: head.hash, hash }
    }

    /// The chain's end after this event, where it comes after `head`.
    #[must_use]
    pub fn after(&self, head: ChainHead) -> ChainHead {
        let seq = head.seq + 1;
        ChainHead { seq, hash: self.digest(seq, head.hash) }
    }

    // Invariant: every field goes in with its length, so no two events have the same bytes.
    fn digest(&self, seq: i64, prev: ChainHash) -> ChainHash {
        let mut hasher = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        field(b"toolgate.event.v1");
        field(&prev.0);
        field(&seq.to_be_bytes());
        field(self.tenant.as_str().as_bytes());
        field(self.session.uuid().as_bytes());
        field(self.invocation.uuid().as_bytes());
        field(self.kind.as_str().as_bytes());
        field(self.actor.as_str().as_bytes());
        field(&self.at.as_micros().to_be_bytes());
        field(self.data.as_str().as_bytes());
        ChainHash(hasher.finalize().into())
    }
}

impl Event {
    /// The chain's end after this event.
    #[must_use]
    pub fn head(&self) -> ChainHead {
        ChainHead { seq: self.seq, hash: self.hash }
    }

    /// Checks that this event follows `head` and is as it was written.
    ///
    /// # Errors
    /// How the link is broken.
    pub fn verify(&self, head: ChainHead) -> Result<ChainHead, BrokenLink> {
        if self.seq != head.seq + 1 {
            return Err(BrokenLink::Missing { expected: head.seq + 1 });
        }
        if self.prev != head.hash {
            return Err(BrokenLink::Predecessor);
        }
        if self.draft.digest(self.seq, self.prev) != self.hash {
            return Err(BrokenLink::Content);
        }
        Ok(self.head())
    }
}

/// How a link in the chain is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrokenLink {
    /// An event is gone.
    #[error("event {expected} is missing")]
    Missing {
        /// The number that should stand here.
        expected: i64,
    },
    /// The event before it is not the one it was written after.
    #[error("the event before it was replaced")]
    Predecessor,
    /// The event was changed after it was written.
    #[error("its content was changed")]
    Content,
}

/// A root over the heads of all sessions touched since the anchor before it: what makes a removed session visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Its number, from 1.
    pub seq: i64,
    /// When it was made.
    pub at: Timestamp,
    /// The heads it covers, ordered by session.
    pub heads: Vec<(SessionId, ChainHead)>,
    /// The hash of the anchor before it.
    pub prev: ChainHash,
    /// Its own hash.
    pub hash: ChainHash,
}

impl Anchor {
    /// An anchor over these heads, after the anchor with number `seq - 1` and hash `prev`.
    #[must_use]
    pub fn seal(seq: i64, at: Timestamp, mut heads: Vec<(SessionId, ChainHead)>, prev: ChainHash) -> Self {
        heads.sort_unstable_by_key(|(session, _)| *session);
        let hash = Self::digest(seq, at, &heads, prev);
        Self { seq, at, heads, prev, hash }
    }

    /// Whether the anchor is as it was written and follows `prev`.
    #[must_use]
    pub fn is_intact(&self, seq: i64, prev: ChainHash) -> bool {
        self.seq == seq
            && self.prev == prev
            && Self::digest(self.seq, self.at, &self.heads, self.prev) == self.hash
    }

    fn digest(seq: i64, at: Timestamp, heads: &[(SessionId, ChainHead)], prev: ChainHash) -> ChainHash {
        let mut hasher = Sha256::new();
        hasher.update(b"toolgate.anchor.v1");
        hasher.update(prev.0);
        hasher.update(seq.to_be_bytes());
        hasher.update(at.as_micros().to_be_bytes());
        hasher.update((heads.len() as u64).to_be_bytes());
        for (session, head) in heads {
            hasher.update(session.uuid().as_bytes());
            hasher.update(head.seq.to_be_bytes());
            hasher.update(head.hash.0);
        }
        ChainHash(hasher.finalize().into())
    }

    /// The heads as bytes for one column: 16 for the session, 8 for the number, 32 for the hash.
    #[must_use]
    pub fn heads_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.heads.len() * 56);
        for (session, head) in &self.heads {
            bytes.extend_from_slice(session.uuid().as_bytes());
            bytes.extend_from_slice(&head.seq.to_be_bytes());
            bytes.extend_from_slice(&head.hash.0);
        }
        bytes
    }

    /// The heads from such bytes; what is not whole is left out, and the hash then tells.
    #[must_use]
    pub fn heads_from_bytes(bytes: &[u8]) -> Vec<(SessionId, ChainHead)> {
        bytes
            .chunks_exact(56)
            .filter_map(|chunk| {
                let session = SessionId::from_uuid(uuid::Uuid::from_slice(&chunk[..16]).ok()?);
                let seq = i64::from_be_bytes(chunk[16..24].try_into().ok()?);
                Some((session, ChainHead { seq, hash: ChainHash::from_slice(&chunk[24..])? }))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(data: &str) -> EventDraft {
        EventDraft {
            tenant: TenantId::default_tenant(),
            session: SessionId::from_uuid(uuid::Uuid::from_u128(1)),
            invocation: InvocationId::from_uuid(uuid::Uuid::from_u128(2)),
            kind: EventKind::Started,
            actor: "user:ada".parse().unwrap(),
            at: Timestamp::from_micros(1),
            data: JsonText::parse(data).unwrap(),
        }
    }

    #[test]
    fn a_chain_verifies_and_every_change_shows() {
        let first = draft("{}").seal(ChainHead::EMPTY);
        let second = draft(r#"{"a":1}"#).seal(first.head());
        let head = first.verify(ChainHead::EMPTY).unwrap();
        assert_eq!(second.verify(head), Ok(second.head()));
        assert_eq!(second.verify(ChainHead::EMPTY), Err(BrokenLink::Missing { expected: 1 }));

        let mut forged = second.clone();
        forged.draft.data = JsonText::parse(r#"{"a":2}"#).unwrap();
        assert_eq!(forged.verify(head), Err(BrokenLink::Content));
        let replaced = draft(r#"{"b":1}"#).seal(ChainHead::EMPTY);
        assert_eq!(second.verify(replaced.head()), Err(BrokenLink::Predecessor));
    }

    #[test]
    fn anchors_cover_their_heads() {
        let head = draft("{}").seal(ChainHead::EMPTY).head();
        let session = SessionId::from_uuid(uuid::Uuid::from_u128(1));
        let mut anchor =
            Anchor::seal(1, Timestamp::from_micros(5), vec![(session, head)], ChainHash::GENESIS);
        assert!(anchor.is_intact(1, ChainHash::GENESIS));
        assert_eq!(Anchor::heads_from_bytes(&anchor.heads_bytes()), anchor.heads);
        anchor.heads.clear();
        assert!(!anchor.is_intact(1, ChainHash::GENESIS));
    }
}

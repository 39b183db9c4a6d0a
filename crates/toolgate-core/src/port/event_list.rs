//! The record as a list: newest first, narrowed, and followed as it grows. What one question costs does not grow with
//! the record.

use async_trait::async_trait;

use crate::event::{Event, EventKind};
use crate::id::{InvocationId, PrincipalId, SessionId, TenantId, ToolName};
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// How many events one question looks at, however few of them fit. An answer that ends there says where to go on.
pub const LOOKED_AT: u32 = 10_000;

/// Which events to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of one of these kinds; none means any.
    pub kinds: Vec<EventKind>,
    /// Caused by one principal.
    pub actor: Option<PrincipalId>,
    /// Of calls made for one person.
    pub subject: Option<PrincipalId>,
    /// Of calls of one tool.
    pub tool: Option<ToolName>,
    /// In one session.
    pub session: Option<SessionId>,
    /// Of one call.
    pub invocation: Option<InvocationId>,
    /// At or after this moment.
    pub from: Option<Timestamp>,
    /// Before this moment.
    pub to: Option<Timestamp>,
}

/// An event with its place in the whole record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEvent {
    /// The store's own number for it: no two events have the same, of whatever session.
    pub position: i64,
    /// The event.
    pub event: Event,
    /// The tool of the call it speaks of, if it speaks of one.
    pub tool: Option<ToolName>,
    /// For whom that call was made.
    pub subject: Option<PrincipalId>,
}

/// Where a list goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPlace {
    /// The time of the last event looked at.
    pub at: Timestamp,
    /// Its position.
    pub position: i64,
}

/// A part of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPart {
    /// What was found, newest first.
    pub events: Vec<ListedEvent>,
    /// Where to go on; none at the end.
    pub next: Option<EventPlace>,
}

/// What has come since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventNews {
    /// What was found, in the order it was written.
    pub events: Vec<ListedEvent>,
    /// The position that was looked at last: what comes next is asked for after this one.
    pub seen: i64,
}

/// The record as a list.
#[async_trait]
pub trait EventListStore: Send + Sync {
    /// Events of a tenant that fit, before `before`, newest first, at most `limit`. At most [`LOOKED_AT`] events are
    /// looked at: a part may hold fewer than `limit`, or none, and still have a `next`. A part of large events is cut
    /// short.
    async fn list_events(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        before: Option<EventPlace>,
        limit: u32,
    ) -> Result<EventPart, StoreError>;

    /// Events of a tenant that fit and were written after the one at `after`, at most `limit`. Going on from `seen`
    /// again and again meets every event once, also those whose writing took longer than that of later ones.
    async fn events_since(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventNews, StoreError>;

    /// Where the record ends now: what is written later comes after it.
    async fn newest_event(&self) -> Result<i64, StoreError>;
}

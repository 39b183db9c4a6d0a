//! What people are told of: something happened to a call, and someone outside should know.

use crate::contract::text_form;
use crate::id::{InvocationId, NotificationId, TenantId};
use crate::json::JsonText;
use crate::time::Timestamp;

/// What a notification tells. The text form is a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotificationKind {
    /// A call waits for a person.
    ApprovalRequested,
    /// Nobody decided in time for a first look, and the call was passed on.
    ApprovalEscalated,
    /// A person decided, or nobody did in time.
    ApprovalDecided,
    /// A question was put to a person by a link.
    InputRequested,
    /// The outcome of a write was lost; a person must settle it.
    CallInDoubt,
    /// Someone tries whether a channel works.
    Test,
}

text_form!(NotificationKind {
    ApprovalRequested = "approval.requested",
    ApprovalEscalated = "approval.escalated",
    ApprovalDecided = "approval.decided",
    InputRequested = "input.requested",
    CallInDoubt = "call.in_doubt",
    Test = "channel.test"
});

impl NotificationKind {
    /// What calls give rise to; a test comes from whoever tries a channel.
    pub const OF_CALLS: [Self; 5] = [
        Self::ApprovalRequested,
        Self::ApprovalEscalated,
        Self::ApprovalDecided,
        Self::InputRequested,
        Self::CallInDoubt,
    ];
}

/// Where a notification stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotificationState {
    /// It is to be sent, or is being sent.
    Waiting,
    /// The other side took it.
    Delivered,
    /// It was tried as often as it may be; only a person brings it back.
    Dead,
}

text_form!(NotificationState { Waiting = "waiting", Delivered = "delivered", Dead = "dead" });

/// One message to one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Its id.
    pub id: NotificationId,
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// The operator's name for where it goes.
    pub channel: String,
    /// What it tells.
    pub kind: NotificationKind,
    /// The call it speaks of; none for a test.
    pub call: Option<InvocationId>,
    /// What the other side knows it by: the same however often it is sent, and no two notifications have the same.
    pub key: String,
    /// What it says, as JSON.
    pub payload: JsonText,
    /// Where it stands.
    pub state: NotificationState,
    /// How often it was claimed to be sent. The number fences off a sender that comes back late.
    pub attempts: u32,
    /// When it is to be looked at next: to be sent, or because whoever claimed it fell silent. None when it is over.
    pub due_at: Option<Timestamp>,
    /// When it arose.
    pub created_at: Timestamp,
    /// When the other side took it.
    pub delivered_at: Option<Timestamp>,
    /// How the last try went wrong; never more than a status or a word on the connection.
    pub last_error: Option<String>,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// The other side took it.
    Delivered {
        /// When.
        at: Timestamp,
    },
    /// It did not, and will be asked again.
    Later {
        /// When.
        at: Timestamp,
        /// What went wrong.
        error: String,
    },
    /// It did not, for the last time.
    Dead {
        /// What went wrong.
        error: String,
    },
}

//! What a notification says: enough to know whether to look, and never the input.

use serde::{Deserialize, Serialize};
use toolgate_core::event::{Event, EventKind};
use toolgate_core::id::TenantId;
use toolgate_core::notification::NotificationKind;
use toolgate_core::text::turns_around;
use toolgate_core::{Approval, Invocation, JsonText, Timestamp};

/// The longest text taken over from a call.
const MOST: usize = 500;

/// A notification's payload. The shape is a promise to receivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The same however often it is sent; what a receiver tells repeats by.
    pub(crate) id: String,
    /// What happened.
    pub(crate) event: String,
    /// When, in RFC 3339.
    pub(crate) at: String,
    pub(crate) tenant: String,
    /// The call it speaks of; none for a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<MessageCall>,
    /// Why a person is asked, what was said, or what is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// `approved`, `rejected` or `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<String>,
    /// The roles whose holders may decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) approvers: Vec<String>,
    /// Until when, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
    /// Where to look at it. Looking decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

/// The call a message speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) title: String,
    /// Who asks.
    pub(crate) actor: String,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    pub(crate) effect: String,
    pub(crate) egress: String,
}

/// What an event's data says that a message takes over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    reason: Option<String>,
    deadline: Option<Timestamp>,
    error: Option<SaidError>,
    step: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct SaidError {
    message: String,
}

/// What people are told of this event, if anything.
pub(crate) fn kind_of(event: &Event, row: &Invocation) -> Option<NotificationKind> {
    match event.draft.kind {
        EventKind::NeedsApproval => Some(NotificationKind::ApprovalRequested),
        EventKind::ReviewChanged => {
            let escalated = said(event).step?.get("escalated").is_some();
            escalated.then_some(NotificationKind::ApprovalEscalated)
        }
        EventKind::Approved | EventKind::Rejected => Some(NotificationKind::ApprovalDecided),
        // A call that waited for a result, and not for a decision, was decided before.
        EventKind::Expired if row.approval == Approval::Pending => Some(NotificationKind::ApprovalDecided),
        EventKind::Waiting if row.opened.tool.as_str() == toolgate_core::input_request::TOOL => {
            Some(NotificationKind::InputRequested)
        }
        EventKind::InDoubt => Some(NotificationKind::CallInDoubt),
        EventKind::Expired
        | EventKind::Waiting
        | EventKind::Started
        | EventKind::OutputAppended
        | EventKind::Completed
        | EventKind::Failed
        | EventKind::Cancelled
        | EventKind::CancelRequested
        | EventKind::LateResult
        | EventKind::AdminChanged => None,
    }
}

impl Message {
    /// What is said of an event.
    pub(crate) fn of(
        id: String,
        kind: NotificationKind,
        event: &Event,
        row: &Invocation,
        title: &str,
        public_url: Option<&str>,
    ) -> Self {
        let (opened, said) = (&row.opened, said(event));
        let outcome = match event.draft.kind {
            EventKind::Approved => Some("approved"),
            EventKind::Rejected => Some("rejected"),
            EventKind::Expired => Some("expired"),
            _ => None,
        };
        let review = row.review.as_deref().filter(|_| outcome.is_none());
        let asks = matches!(
            kind,
            NotificationKind::ApprovalRequested
                | NotificationKind::ApprovalEscalated
                | NotificationKind::InputRequested
        );
        let deadline = said.deadline.or_else(|| review.map(|review| review.deadline)).filter(|_| asks);
        Self {
            id,
            event: kind.as_str().to_owned(),
            at: rfc3339(event.draft.at),
            tenant: opened.tenant.to_string(),
            call: Some(MessageCall {
                id: opened.id.to_string(),
                tool: opened.tool.to_string(),
                title: plain(title),
                actor: opened.actor.to_string(),
                subject: opened.subject.as_ref().map(ToString::to_string),
                effect: opened.effect.as_str().to_owned(),
                egress: opened.egress.as_str().to_owned(),
            }),
            reason: said.reason.or(said.error.map(|error| error.message)).map(|text| plain(&text)),
            outcome: outcome.map(str::to_owned),
            decided_by: matches!(outcome, Some("approved" | "rejected"))
                .then(|| event.draft.actor.to_string()),
            approvers: review.filter(|_| asks).map(|review| review.approvers.clone()).unwrap_or_default(),
            expires_at: deadline.map(rfc3339),
            link: public_url.map(|base| format!("{base}/approvals?id={}", opened.id)),
        }
    }

    /// What is said to try a channel.
    pub(crate) fn test(id: String, tenant: &TenantId, by: &str, at: Timestamp) -> Self {
        Self {
            id,
            event: NotificationKind::Test.as_str().to_owned(),
            at: rfc3339(at),
            tenant: tenant.to_string(),
            call: None,
            reason: Some(format!("{by} tries whether this channel works")),
            outcome: None,
            decided_by: None,
            approvers: Vec::new(),
            expires_at: None,
            link: None,
        }
    }

    /// The message as it is kept and sent.
    pub(crate) fn to_json(&self) -> JsonText {
        // Only strings and lists of them inside, so it always has a JSON form.
        JsonText::from_serialize(self).unwrap_or_else(|_| JsonText::from_value(&serde_json::Value::Null))
    }
}

fn said(event: &Event) -> Said {
    serde_json::from_str(event.draft.data.as_str()).unwrap_or_default()
}

/// One line of bounded length, without what could steer whatever shows it.
fn plain(text: &str) -> String {
    let hides = |c: char| c.is_control() || turns_around(c);
    let clean: String = text.chars().map(|c| if hides(c) { ' ' } else { c }).take(MOST).collect();
    if text.chars().nth(MOST).is_some() { clean + "…" } else { clean }
}

fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros())
        .map_or_else(|_| at.as_micros().to_string(), |at| format!("{at:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_over_is_one_plain_line() {
        assert_eq!(plain("a\nb\u{1b}[31m\u{202e}c"), "a b [31m c");
        let long = plain(&"ä".repeat(900));
        assert_eq!((long.chars().count(), long.ends_with('…')), (501, true));
    }
}

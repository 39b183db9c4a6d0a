//! Calls, events, sessions and audit reports on the wire.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::event::Event;
use toolgate_core::once::once;
use toolgate_core::output::Kept;
use toolgate_core::port::store::Session;
use toolgate_core::{Actor, CallError, CallResult, Invocation, JsonText, Status, Timestamp};
use utoipa::ToSchema;

use crate::ErrorView;

/// A call to make.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeRequest {
    /// The arguments, as the tool's `input_schema` says.
    #[serde(default = "empty_object", deserialize_with = "once")]
    #[schema(value_type = Object)]
    pub input: Value,
    /// The thread of work it belongs to; left out, it gets one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^ses_[0-9a-f]{32}$")]
    pub session_id: Option<String>,
    /// The call that makes this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^inv_[0-9a-f]{32}$")]
    pub parent_call_id: Option<String>,
}

fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}

/// How a call stands.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CallView {
    /// The call's id, the same from start to result.
    pub call_id: String,
    /// Its thread of work.
    pub session_id: String,
    /// Whether it ended well.
    pub ok: bool,
    /// `pending`, `running`, `waiting`, `completed`, `failed`, `rejected`, `cancelled`, `expired` or `in_doubt`.
    pub status: String,
    /// The result, redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub value: Option<JsonText>,
    /// The content blocks, as MCP has them, that a server told the result in beside its `value`; left out where they say
    /// nothing more. The tool of a server that names no output schema has them in its `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub content: Option<JsonText>,
    /// Why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// Whether this is the answer to an earlier call with the same idempotency key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// What really ran, where a person changed the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub edited_input: Option<JsonText>,
    /// Where the result is to be reported, once: only for a call that was handed on, and only in its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// Where a person answers, once: only for a question put to a person, and only in its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_url: Option<String>,
    /// The call below it by which its MCP server asks a person something just now; `share_url` is where they answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// Where the time went.
    pub timing: TimingView,
}

/// Where the time went, in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
pub struct TimingView {
    /// In the gate itself.
    pub gate_us: u64,
    /// In the tool.
    pub tool_us: u64,
}

impl CallView {
    /// A result that took `total` from the door and back.
    #[must_use]
    pub fn new(result: CallResult, total: Duration) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            call_id: result.call_id.to_string(),
            session_id: result.session_id.to_string(),
            ok: result.ok,
            // A caller waits, for a person or for something outside: which one the call's record says.
            status: match result.status {
                Status::Waiting => Status::Pending.as_str().to_owned(),
                other => other.as_str().to_owned(),
            },
            value: result.value,
            content: result.content,
            error: result.error.map(ErrorView::from),
            repeated: result.repeated,
            edited_input: result.edited_input,
            callback_url: None,
            asks: result.asks.map(|id| id.to_string()),
            share_url: None,
            timing: TimingView {
                gate_us: micros(total.saturating_sub(result.tool_time)),
                tool_us: micros(result.tool_time),
            },
        }
    }
}

/// One call with everything recorded of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InvocationView {
    /// The call's id.
    pub id: String,
    /// Its thread of work.
    pub session_id: String,
    /// The call that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<String>,
    /// The tool.
    pub tool_id: String,
    /// The contract it ran under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// What the tool does to state.
    pub effect: String,
    /// What leaves the house.
    pub egress: String,
    /// Who acted.
    pub actor: String,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The key it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Through which door: `web`, `agent`, `api`, `mcp` or `system`.
    pub source: String,
    /// Where it stands.
    pub status: String,
    /// Where its approval stands: `not_required`, `pending`, `approved` or `rejected`.
    pub approval: String,
    /// Whether a person had to decide.
    pub approval_required: bool,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// While it waits for a person, why; then what they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policy rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The idempotency key it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The input.
    #[schema(value_type = Object)]
    pub input: JsonText,
    /// The result, redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub output: Option<JsonText>,
    /// The content blocks, as MCP has them, that a server told the result in beside its `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub content: Option<JsonText>,
    /// Why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// What it cost, in millionths of the tenant's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
    /// How often it was started.
    pub attempt: u32,
    /// Whether someone asked it to stop.
    pub cancel_requested: bool,
    /// When it came in.
    pub created_at: String,
    /// When it last began to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When it reached its outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// The call below it by which its MCP server asks a person something just now; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// Where `POST` makes an address for whoever is to answer, while it waits for a person or a system outside and the
    /// call is yours. Addresses are secrets that work once, so that each is shown when it is made and never again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_url: Option<String>,
    /// Its events, oldest first; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventView>>,
    /// What a person is, or was, asked to decide on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<crate::ReviewView>,
}

impl From<Invocation> for InvocationView {
    fn from(row: Invocation) -> Self {
        let opened = row.opened;
        let kept = row.output.as_ref().map(Kept::of);
        let (output, content) = kept.map_or((None, None), |kept| (Some(kept.value), kept.content));
        Self {
            id: opened.id.to_string(),
            session_id: opened.session.to_string(),
            parent_call_id: opened.parent.map(|id| id.to_string()),
            tool_id: opened.tool.to_string(),
            tool_version: opened.tool_version.map(|version| version.0),
            effect: opened.effect.as_str().to_owned(),
            egress: opened.egress.as_str().to_owned(),
            actor: opened.actor.to_string(),
            subject: opened.subject.map(|subject| subject.to_string()),
            review: row.review.map(|review| (*review).into()),
            key_id: opened.key.map(|key| key.to_string()),
            source: opened.source.as_str().to_owned(),
            status: row.status.as_str().to_owned(),
            approval: row.approval.as_str().to_owned(),
            approval_required: opened.approval_required,
            decided_by: row.decided_by.map(|by| by.to_string()),
            reason: row.reason,
            rule: opened.rule,
            idempotency_key: opened.idempotency_key.map(|key| key.to_string()),
            input: opened.input,
            output,
            content,
            error: row.error.map(ErrorView::from),
            cost_micros: row.cost_micros,
            attempt: row.attempt,
            cancel_requested: row.cancel_requested,
            created_at: rfc3339(opened.created_at),
            started_at: row.started_at.map(rfc3339),
            completed_at: row.completed_at.map(rfc3339),
            asks: None,
            links_url: None,
            events: None,
        }
    }
}

impl InvocationView {
    /// A call in a list: what a server said at length of a failure stands in the call itself.
    #[must_use]
    pub fn listed(mut row: Invocation) -> Self {
        row.error = row.error.map(CallError::without_said);
        row.into()
    }
}

/// A page of calls, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InvocationListView {
    /// The calls.
    pub invocations: Vec<InvocationView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How far a search of inputs went; only with `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<SearchedView>,
}

/// How far a search of inputs went. There may be more beyond it: `next_cursor` goes on from there.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SearchedView {
    /// How many calls were looked at for this page.
    pub calls: u64,
    /// When the oldest of them was made; none when there was none to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_to: Option<String>,
}

/// One event of the record.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// Its session.
    pub session_id: String,
    /// Its number in the session, from 1.
    pub seq: i64,
    /// The call it speaks of.
    pub call_id: String,
    /// What happened, such as `tool.started`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who caused it.
    pub actor: String,
    /// When.
    pub at: String,
    /// When, in microseconds since 1970: the hash is over this one.
    pub at_micros: i64,
    /// The rest.
    #[schema(value_type = Object)]
    pub data: JsonText,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// Its own hash.
    pub hash: String,
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> Self {
        let draft = &event.draft;
        Self {
            session_id: draft.session.to_string(),
            seq: event.seq,
            call_id: draft.invocation.to_string(),
            kind: draft.kind.as_str().to_owned(),
            actor: draft.actor.to_string(),
            at: rfc3339(draft.at),
            at_micros: draft.at.as_micros(),
            data: draft.data.clone(),
            prev_hash: event.prev.to_string(),
            hash: event.hash.to_string(),
        }
    }
}

/// A thread of work.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// Who began it.
    pub owner: String,
    /// What policy knows it by.
    #[serde(default)]
    pub labels: Vec<String>,
    /// When.
    pub created_at: String,
}

/// A thread of work to begin.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSessionRequest {
    /// What policy knows it by, such as `untrusted`; at most 20, and never changed.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub labels: Vec<String>,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        Self {
            id: session.id.to_string(),
            owner: session.owner.to_string(),
            labels: session.labels,
            created_at: rfc3339(session.created_at),
        }
    }
}

/// Why, in a person's words.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonRequest {
    /// At most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub reason: Option<String>,
}

/// Why a call is refused.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectRequest {
    /// 1 to 2,000 characters.
    #[schema(min_length = 1, max_length = 2000)]
    pub reason: String,
    /// `review.digest` of what you saw; another one in the meantime is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A person's word on a call in doubt.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleRequest {
    /// What became of it.
    pub outcome: SettlementWord,
}

/// What became of a call in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettlementWord {
    /// It happened.
    Done,
    /// It did not happen.
    Failed,
    /// Run it once more.
    RunAgain,
}

/// Who the key speaks for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MeView {
    /// The tenant.
    pub tenant: String,
    /// The principal.
    pub principal: String,
    /// The person it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Its roles.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The access rules it holds, those of its roles included.
    pub rules: Vec<String>,
    /// What the key may do of it; none named means everything.
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl From<&Actor> for MeView {
    fn from(actor: &Actor) -> Self {
        Self {
            tenant: actor.tenant.to_string(),
            principal: actor.principal.to_string(),
            subject: actor.subject_id().map(ToString::to_string),
            roles: actor.roles.to_vec(),
            rules: actor.rules.as_slice().to_vec(),
            scopes: actor.scopes.as_slice().iter().map(ToString::to_string).collect(),
        }
    }
}

/// What checking the record found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditReportView {
    /// Whether everything is as it was written.
    pub ok: bool,
    /// Sessions checked.
    pub sessions: u64,
    /// Events checked.
    pub events: u64,
    /// Anchors checked.
    pub anchors: u64,
    /// Rows compared with their events.
    pub invocations: u64,
    /// The first thing that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_broken: Option<BrokenRecordView>,
}

/// Something wrong in the record.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BrokenRecordView {
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// At which event or anchor.
    pub seq: i64,
    /// Of which call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What.
    pub what: String,
}

/// A moment as RFC 3339 text, to the microsecond.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros())
        .map_or_else(|_| at.as_micros().to_string(), |t| format!("{t:.6}"))
}

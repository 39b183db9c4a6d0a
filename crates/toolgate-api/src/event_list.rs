//! The record as a list.

use serde::{Deserialize, Serialize};
use toolgate_core::JsonText;
use toolgate_core::port::event_list::ListedEvent;
use utoipa::ToSchema;

use crate::EventView;

/// One event of the record, as it is exported. No two have the same `session_id` and `seq`.
// The fields are spelled out: a document kept byte for byte can't be read back through `flatten`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditEventView {
    /// The tool of the call it speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// For whom that call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
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

impl From<&ListedEvent> for AuditEventView {
    fn from(listed: &ListedEvent) -> Self {
        let EventView { session_id, seq, call_id, kind, actor, at, at_micros, data, prev_hash, hash } =
            EventView::from(&listed.event);
        Self {
            tool: listed.tool.as_ref().map(ToString::to_string),
            subject: listed.subject.as_ref().map(ToString::to_string),
            session_id,
            seq,
            call_id,
            kind,
            actor,
            at,
            at_micros,
            data,
            prev_hash,
            hash,
        }
    }
}

/// A page of the record, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditEventListView {
    /// The events. Fewer than asked for, or none, when many had to be looked at: go on with `next_cursor`.
    pub events: Vec<AuditEventView>,
    /// Where the next page starts; missing at the end of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How far back was looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_back_to: Option<String>,
    /// Where the record ended when this was asked: what comes later is followed from here, as `after`.
    pub newest: String,
}

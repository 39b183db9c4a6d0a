//! Decisions, standing grants, approval rules and the inbox on the wire.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolgate_core::once::{once, some_once};
use utoipa::ToSchema;

use crate::InvocationView;
use crate::connection::ConnectionView;

/// A yes to a waiting call.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest {
    /// What you say; at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub reason: Option<String>,
    /// `review.digest` of what you saw; another one in the meantime is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The tool's id, typed: required where the call destroys something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// The input that you would rather see run. It is checked, decided on and previewed as if the caller had sent it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "other_input")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
    /// What you let run from now on, with this call as the example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<RememberRequest>,
}

/// What you let run from now on: the same tool by the same caller.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RememberRequest {
    /// Which arguments: `same` (just these), `any`, or `within` (those that fit `schema`).
    #[serde(default)]
    pub arguments: RememberWord,
    /// A JSON Schema of the arguments, with `within`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// Only in this call's session.
    #[serde(default)]
    pub session_only: bool,
    /// For how many seconds, at most 90 days.
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub expires_in_seconds: u64,
}

/// Which arguments a grant covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RememberWord {
    /// Just these.
    #[default]
    Same,
    /// Those that fit `schema`.
    Within,
    /// Any at all.
    Any,
}

fn other_input<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Ok(some_once(deserializer)?.filter(|input| !input.is_null()))
}

/// Another input for a waiting call.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// The input.
    #[serde(deserialize_with = "once")]
    #[schema(value_type = Object)]
    pub input: Value,
    /// `review.digest` of what you saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Something to say about a waiting call.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RemarkRequest {
    /// A question back, or an answer; at most 2,000 characters.
    #[schema(min_length = 1, max_length = 2000)]
    pub text: String,
}

/// Someone else's turn: a person's, or that of whoever holds a role.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReassignRequest {
    /// Who is to decide: `user:…`. This or `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The role whose holders are to decide. One of them must be allowed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9][a-z0-9_.-]{0,63}$", example = "approver")]
    pub role: Option<String>,
}

/// A standing grant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GrantView {
    /// Its name.
    pub name: String,
    /// Which tool.
    pub tool: String,
    /// Whose calls.
    pub actor: String,
    /// For whom that caller works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A JSON Schema the arguments must fit; none means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// Who gave it.
    pub by: String,
    /// When, in RFC 3339.
    pub created_at: String,
    /// When it ends.
    pub expires_at: String,
    /// The call it was given with.
    pub call_id: String,
    /// How often it was used, up to a thousand times.
    #[serde(default)]
    pub used: u64,
}

/// A page of grants.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GrantListView {
    /// The grants, ordered by name.
    pub grants: Vec<GrantView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Who has to decide on which calls, how many, and in what time.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ApprovalRuleView {
    /// Its name.
    pub name: String,
    /// What it says.
    #[serde(flatten)]
    pub rule: PutApprovalRuleRequest,
    /// How often it was written: what `If-Match` takes.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// A page of approval rules.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ApprovalRuleListView {
    /// The rules, ordered by name.
    pub approval_rules: Vec<ApprovalRuleView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What an approval rule says. Of all rules that concern a call, the most people, the named roles and the shortest times
/// hold.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutApprovalRuleRequest {
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Of which tools: ids, or the start of ids and `*`. None named means all.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub tools: Vec<String>,
    /// Only tools with one of these effects: `read`, `mutate`, `destructive`. None named means all.
    #[serde(default)]
    pub effects: Vec<String>,
    /// By which principals. None named means everyone's.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub principals: Vec<String>,
    /// The roles whose holders may decide; none named means whoever policy lets.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub approvers: Vec<String>,
    /// How many people must say yes.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 10)]
    pub needed: u32,
    /// After how many seconds it is passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_after_seconds: Option<u64>,
    /// To which roles; none named means to whoever policy lets.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub escalate_to: Vec<String>,
    /// After how many seconds it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_seconds: Option<u64>,
}

const fn one() -> u32 {
    1
}

/// What waits for you, or what you decided.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InboxView {
    /// Calls that you may decide on or settle, or that you decided on, newest first.
    pub items: Vec<InvocationView>,
    /// Connections of yours that have to be made again; shared ones for those who manage them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionView>,
    /// How many tools of MCP servers wait for review, for those who manage upstreams.
    #[serde(default)]
    pub reviews: u64,
    /// How many calls there are, up to a thousand; of what you decided, how many are on this page.
    pub count: u64,
    /// Where the next page of what you decided starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

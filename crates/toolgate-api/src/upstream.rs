//! MCP servers that a gate calls, and the review of their tools, on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// How an MCP server is reached.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TransportView {
    /// A process on the gate's machine; never started by a shell.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments, each handed over as it is.
        #[serde(default)]
        args: Vec<String>,
        /// Its environment, beside `PATH` and `HOME`. No secrets: those come by connection.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// Its address.
        url: String,
        /// Headers sent with each request. No secrets: those come by connection.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// What is written of an MCP server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutUpstreamRequest {
    /// What people call it.
    #[serde(default)]
    #[schema(max_length = 120)]
    pub title: String,
    /// How it is reached.
    pub transport: TransportView,
    /// Whether its accepted tools may be called.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How it is told who we are: `none`, `shared` or `per_user`.
    #[serde(default = "none")]
    pub auth: String,
    /// How long connecting and listing may take.
    #[serde(default = "connect_timeout")]
    #[schema(minimum = 100, maximum = 300_000)]
    pub connect_timeout_ms: u64,
    /// The most calls at once on one node.
    #[serde(default = "concurrency")]
    #[schema(minimum = 1, maximum = 256)]
    pub concurrency: u32,
    /// What becomes of questions that it asks in the middle of a call: `refuse`, or `ask` the person behind the call.
    #[serde(default = "refuse")]
    pub questions: String,
}

const fn yes() -> bool {
    true
}

fn none() -> String {
    "none".to_owned()
}

fn refuse() -> String {
    "refuse".to_owned()
}

const fn connect_timeout() -> u64 {
    30_000
}

const fn concurrency() -> u32 {
    16
}

/// An MCP server that this gate calls.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamView {
    /// Its name, which stands in the ids of its tools.
    #[schema(example = "github")]
    pub name: String,
    /// What was written.
    #[serde(flatten)]
    pub upstream: PutUpstreamRequest,
    /// How it does on this node; none when nothing was asked of it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<UpstreamHealthView>,
    /// How many of its tools are `new`, `changed`, `accepted`, `refused` and `gone`.
    pub tools: BTreeMap<String, u64>,
    /// How often it was written: what `If-Match` takes.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// How a server does on one node.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamHealthView {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether calls are refused for a while because too many failed.
    pub resting: bool,
    /// The protocol it was last spoken to with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The last fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<String>,
    /// The end of what its process wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// How long its calls take, about, in milliseconds; none before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_ms: Option<u64>,
}

/// A page of MCP servers.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamListView {
    /// The servers, ordered by name.
    pub upstreams: Vec<UpstreamView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a server showed when it was tried. Nothing is kept of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamTestView {
    /// The protocol it was spoken to with.
    pub protocol: String,
    /// How it names itself; its own word.
    pub server: String,
    /// What it calls its tools.
    pub tools: Vec<String>,
    /// What was left out, and why.
    pub problems: Vec<String>,
}

/// What a look at a server's tools brought. Nothing is switched on by it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamRefreshView {
    /// The protocol it was spoken to with.
    pub protocol: String,
    /// How it names itself; its own word.
    pub server: String,
    /// Tools never seen before: they wait for review.
    pub new: Vec<String>,
    /// Accepted tools that are offered otherwise now: they are held until reviewed.
    pub changed: Vec<String>,
    /// Tools that are no longer there.
    pub gone: Vec<String>,
    /// How many are as they were.
    pub same: u64,
    /// What was left out, and why.
    pub problems: Vec<String>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamToolView {
    /// The id it has here.
    #[schema(example = "mcp__github__create_issue")]
    pub id: String,
    /// The server.
    pub upstream: String,
    /// `new`, `changed`, `accepted`, `refused` or `gone`. Only accepted tools can be called.
    pub state: String,
    /// What the server calls it.
    pub name: String,
    /// The digest of what is offered now: what a decision has to name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What the server says of it now, as it came. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub offer: Option<Value>,
    /// What strikes a careful reader in it.
    pub warnings: Vec<String>,
    /// What was decided on it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<AcceptUpstreamToolRequest>,
    /// What reads otherwise than what was accepted, line by line; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Why it can't be accepted as it is; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// How often it was written.
    pub revision: u64,
    /// When.
    pub updated_at: String,
}

/// A page of tools under review.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UpstreamToolListView {
    /// The tools, ordered by id.
    pub upstream_tools: Vec<UpstreamToolView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A reviewer's yes. Effect and egress are theirs to say, whatever the server hints.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptUpstreamToolRequest {
    /// The digest of what was looked at.
    #[schema(min_length = 64, max_length = 64)]
    pub digest: String,
    /// What a call does to state: `read`, `mutate` or `destructive`.
    pub effect: String,
    /// What leaves the house: `none`, `read_only` or `write`.
    pub egress: String,
    /// Whether the same call twice is the same as once.
    #[serde(default)]
    pub idempotent: bool,
    /// The output fields that may be shown; `*` is all, as a choice.
    #[schema(min_items = 1)]
    pub redaction_allow: Vec<String>,
    /// Access rules the caller needs, all of them.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Whether every call waits for a person.
    #[serde(default)]
    pub always_ask: bool,
    /// How long a call may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How large a result may be; left out, 1 MiB of words and structure and 8 MiB with pictures, sounds and files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_result_bytes: Option<u64>,
}

/// A reviewer's no.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefuseUpstreamToolRequest {
    /// The digest of what was looked at.
    pub digest: String,
}

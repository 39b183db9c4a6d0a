//! MCP servers that this gate calls, and what was accepted of their tools.
//!
//! What a server says of itself is an offer and nothing more: it is kept as it came, cut to size, and waits until
//! someone here decides what the tool does, what leaves the house and what of its output may be shown. A tool is pinned
//! by the digest of its offer; an offer that reads otherwise later waits again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contract::{
    Alias, ApprovalMode, Audience, Binding, Effect, Egress, Limits, Redaction, ToolContract,
};
use crate::id::{Slug, TenantId, ToolName};
use crate::json::{canonical_digest, digest, to_hex};
use crate::text::plain_name;

/// An MCP server, as its operator named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// What people call it.
    #[serde(default)]
    pub title: String,
    /// How it is reached.
    pub transport: Transport,
    /// Whether its accepted tools may be called.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How it is told who we are.
    #[serde(default)]
    pub auth: UpstreamAuth,
    /// How long connecting and listing may take.
    #[serde(default = "connect_timeout")]
    pub connect_timeout_ms: u64,
    /// The most calls at once on one node.
    #[serde(default = "concurrency")]
    pub concurrency: u32,
    /// What becomes of questions it asks in the middle of a call.
    #[serde(default, skip_serializing_if = "Questions::is_refused")]
    pub questions: Questions,
}

/// What becomes of questions that a server asks in the middle of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Questions {
    /// Nobody is asked: a stranger's words come before a person only where someone said so.
    #[default]
    Refuse,
    /// Forms are put to the person behind the call, under the server's name.
    Ask,
}

crate::contract::text_form!(Questions { Refuse = "refuse", Ask = "ask" });

impl Questions {
    fn is_refused(&self) -> bool {
        *self == Self::Refuse
    }
}

const fn yes() -> bool {
    true
}

const fn connect_timeout() -> u64 {
    30_000
}

const fn concurrency() -> u32 {
    16
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// A process on this machine that speaks over its standard input and output. Never started by a shell.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Its whole environment, beside `PATH` and `HOME`. No secrets: those come by connection.
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

/// Which programs may be started as servers, as whoever runs the gate decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandRule {
    /// Only these, in every tenant: programs as documents name them, `*` at the end for any rest. None at all means
    /// that the default tenant's managers may name any, and other tenants none: who names a program runs it here.
    pub allowed: Option<Vec<String>>,
}

impl CommandRule {
    /// Whether a server of this tenant may be reached this way.
    #[must_use]
    pub fn permits(&self, tenant: &TenantId, transport: &Transport) -> bool {
        let Transport::Stdio { command, .. } = transport else { return true };
        match &self.allowed {
            None => *tenant == TenantId::default_tenant(),
            Some(allowed) => allowed.iter().any(|pattern| match pattern.strip_suffix('*') {
                // A way up would lead out of what was meant.
                Some(start) => command.starts_with(start) && !command.contains(".."),
                None => command == pattern,
            }),
        }
    }
}

/// How a server is told who we are. The caller's own token is never passed on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum UpstreamAuth {
    /// Not at all.
    #[default]
    None,
    /// With one connection that all callers share.
    Shared,
    /// With the connection of the person who calls, or for whom an agent calls.
    PerUser,
}

/// What a server says of one tool: untrusted, kept as it came within bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// What the server calls it.
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says it does.
    #[serde(default)]
    pub description: String,
    /// Its input, as it came.
    pub input_schema: Value,
    /// Its output, if it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Its hints. Shown to the reviewer; never believed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub annotations: Map<String, Value>,
}

impl Offer {
    /// What pins it: SHA-256 over everything a model or a reviewer would see of it. In which order a server writes the
    /// fields of a schema says nothing, and some write them differently each time.
    #[must_use]
    pub fn digest(&self) -> String {
        // An offer is plain data with string keys, so it always has a JSON form.
        to_hex(&canonical_digest(&serde_json::to_value(self).unwrap_or_default()))
    }
}

/// What a reviewer decided about a tool. Effect and egress are theirs to say, never the server's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The digest of the offer that was looked at.
    pub digest: String,
    /// What a call does to state.
    pub effect: Effect,
    /// What leaves the house.
    pub egress: Egress,
    /// Whether the same call twice is the same as once.
    #[serde(default)]
    pub idempotent: bool,
    /// The output fields that may be shown.
    pub redaction: Redaction,
    /// Access rules the caller needs, all of them.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Whether every call waits for a person.
    #[serde(default)]
    pub approval: ApprovalMode,
    /// What one call may take.
    #[serde(default)]
    pub limits: Limits,
}

/// One tool of a server: what it offers now, and what was accepted of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamTool {
    /// The server.
    pub upstream: Slug,
    /// The id it has here.
    pub id: ToolName,
    /// What the server says of it now; none when it no longer has it.
    pub offer: Option<Offer>,
    /// What strikes a careful reader in the offer: hidden characters, instructions to a model, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What was looked at and accepted, with the offer as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// Whether a reviewer said no to what is offered now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// An offer and the decision on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The offer.
    pub offer: Offer,
    /// The decision.
    pub decision: Acceptance,
}

/// Where a tool of a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// Never looked at: off.
    New,
    /// Accepted as it is offered now: on.
    Accepted,
    /// Accepted once, and offered otherwise now: held.
    Changed,
    /// Looked at and turned down as it is offered now: off.
    Refused,
    /// The server no longer has it: off.
    Gone,
}

crate::contract::text_form!(ToolState {
    New = "new",
    Accepted = "accepted",
    Changed = "changed",
    Refused = "refused",
    Gone = "gone"
});

impl ToolState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::New, Self::Changed, Self::Accepted, Self::Refused, Self::Gone];
}

impl UpstreamTool {
    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> ToolState {
        let Some(offer) = &self.offer else { return ToolState::Gone };
        if self.refused.as_ref().is_some_and(|refused| *refused == offer.digest()) {
            return ToolState::Refused;
        }
        match &self.accepted {
            None => ToolState::New,
            // Invariant: a decision is kept beside the offer it was made on, and loses its digest when the server moves.
            Some(accepted) if accepted.offer == *offer && !accepted.decision.digest.is_empty() => {
                ToolState::Accepted
            }
            Some(_) => ToolState::Changed,
        }
    }

    /// Whether someone has to look at it.
    #[must_use]
    pub fn waits_for_review(&self) -> bool {
        matches!(self.state(), ToolState::New | ToolState::Changed)
    }

    /// The contract of what was accepted; none unless it is still offered just so.
    #[must_use]
    pub fn contract(&self) -> Option<ToolContract> {
        if self.state() != ToolState::Accepted {
            return None;
        }
        let Accepted { offer, decision } = self.accepted.as_ref()?;
        // Servers of before 2025-06-18 have their titles among the hints.
        let hinted = offer.annotations.get("title").and_then(Value::as_str);
        let title = offer.title.as_deref().or(hinted).map(|title| plain_name(title, usize::MAX));
        let title = title.filter(|title| !title.is_empty());
        Some(ToolContract {
            id: self.id.clone(),
            title: shortened(&title.unwrap_or_else(|| offer.name.clone()), 120),
            description: match offer.description.trim() {
                "" => format!(
                    "The tool `{}` of `{}`; its server says nothing about it.",
                    offer.name, self.upstream
                ),
                _ => shortened(&offer.description, 8_000),
            },
            category: "mcp".to_owned(),
            icon: "plug".to_owned(),
            input_schema: as_object(offer.input_schema.clone()).into(),
            output_schema: offer.output_schema.clone().unwrap_or_else(undeclared_output).into(),
            effect: decision.effect,
            egress: decision.egress,
            idempotent: decision.idempotent,
            redaction: decision.redaction.clone(),
            permissions: decision.permissions.clone(),
            tenants: Vec::new(),
            opt_in: false,
            audience: Audience::External,
            visible: false,
            approval: decision.approval,
            connection: None,
            limits: decision.limits.clone(),
            cache: None,
            collaborative: false,
            aggregate: None,
            form: None,
            output: Vec::new(),
            aliases: Vec::<Alias>::new(),
            execution: Binding::Mcp { upstream: self.upstream.to_string(), tool: offer.name.clone() },
        })
    }
}

/// An input is an object, whether its schema says so or not.
fn as_object(mut schema: Value) -> Value {
    if let Value::Object(keywords) = &mut schema
        && !keywords.contains_key("type")
    {
        keywords.insert("type".to_owned(), Value::from("object"));
    }
    schema
}

/// What a tool without an output schema returns: its content as MCP has it, open, and marked as undeclared.
#[must_use]
pub fn undeclared_output() -> Value {
    serde_json::json!({
        "type": "object",
        "description": "undeclared: the server names no output schema; this is its content as it came",
        "properties": {
            "content": { "type": "array", "items": { "type": "object" } },
            "structured": {},
        },
    })
}

/// Whether a schema is the one of a tool whose server names none.
#[must_use]
pub fn is_undeclared(schema: &Value) -> bool {
    *schema == undeclared_output()
}

/// Whether an id is one that servers' tools have, as [`tool_id`] makes them.
#[must_use]
pub fn is_tool_id(id: &ToolName) -> bool {
    id.as_str().starts_with("mcp__")
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let mut short: String = text.chars().take(most - 1).collect();
            short.push('…');
            short
        }
    }
}

/// The longest id a tool may have.
const LONGEST: usize = 64;

/// The id a server's tool has here: `mcp__<server>__<tool>`. What an id can't hold is replaced, and what is replaced or
/// too long ends in a short digest of the whole name, so that two names never meet and each keeps its id. None when the
/// server's name has `__` in it or is itself too long.
#[must_use]
pub fn tool_id(upstream: &Slug, name: &str) -> Option<ToolName> {
    let server = upstream.as_str().replace('.', "-");
    if server.contains("__") || server.ends_with('_') || server.len() > 24 || server != upstream.as_str() {
        return None;
    }
    let start = format!("mcp__{server}__");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let faithful = !name.is_empty()
        && name.chars().all(plain)
        && !name.starts_with('_')
        && start.len() + name.len() <= LONGEST;
    // A name that looks like one of ours with a digest could be meant to meet one.
    let ends_like_ours = name.len() > 9 && {
        let (_, end) = name.split_at_checked(name.len() - 9).unwrap_or((name, ""));
        end.starts_with('-') && end[1..].bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    };
    if faithful && !ends_like_ours {
        return format!("{start}{name}").parse().ok();
    }
    let mark = to_hex(&digest(name.as_bytes()));
    let room = LONGEST - start.len() - 9;
    let mut kept: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(room).collect();
    if kept.is_empty() || kept.starts_with('_') {
        kept = format!("x{kept}").chars().take(room).collect();
    }
    format!("{start}{kept}-{}", &mark[..8]).parse().ok()
}

#[cfg(test)]
#[path = "upstream_tests.rs"]
mod tests;

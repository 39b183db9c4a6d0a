//! The tool contract: what a tool promises, free of any wire format and of how it runs.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::id::ToolName;
use crate::json::{JsonText, to_hex};
use crate::redaction::{BadRedaction, Redactor};

/// What a call does to state. Required, never inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing; may run again.
    Read,
    /// Changes something.
    Mutate,
    /// Takes something away for good.
    Destructive,
}

/// What leaves the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Egress {
    /// Nothing.
    #[default]
    None,
    /// Questions to outside services.
    ReadOnly,
    /// Changes at outside services. Always asks a person.
    Write,
}

macro_rules! text_form {
    ($type:ident { $($variant:ident = $text:literal),+ }) => {
        impl $type {
            /// The text form, as stored and as written in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The value of a text form.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use text_form;

text_form!(Effect { Read = "read", Mutate = "mutate", Destructive = "destructive" });
text_form!(Egress { None = "none", ReadOnly = "read_only", Write = "write" });

/// Who may ever see the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Anyone policy lets.
    #[default]
    External,
    /// Never an API key or an MCP client.
    Internal,
}

/// Whether the tool itself asks for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// Policy decides.
    #[default]
    Auto,
    /// Every call waits for a person.
    AlwaysAsk,
}

/// The output fields that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redaction {
    /// Field paths such as `total` or `rows.*.name`; `*` alone shows everything, as an explicit choice.
    pub allow: Vec<String>,
}

/// An account the tool needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionNeed {
    /// The outside service.
    pub provider: String,
    /// The scopes it needs there.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// What one call may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// How long it may run.
    pub timeout_ms: u64,
    /// How large its result may be.
    pub max_result_bytes: u64,
    /// How large it may be with pictures, sounds and files, where that is more; the rest has the bound above. None bounds
    /// all of it by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes_with_media: Option<u64>,
    /// Calls a minute for one principal; none means no limit of the tool's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time on one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_ms: 30_000,
            max_result_bytes: 1 << 20,
            max_bytes_with_media: None,
            rate_per_minute: None,
            concurrency: None,
        }
    }
}

impl Limits {
    /// The longest time limit a contract may ask for: an hour.
    pub const MAX_TIMEOUT_MS: u64 = 3_600_000;
    /// The longest wait for a result from outside: 30 days.
    pub const MAX_WAIT_SECONDS: u64 = 30 * 24 * 3600;
    /// The largest result a contract may ask for: 16 MiB.
    pub const MAX_RESULT_BYTES: u64 = 16 << 20;
    /// How large the result of an MCP server's tool may be with pictures, sounds and files, unless its reviewer says
    /// otherwise: 8 MiB, which is what is read of one answer.
    pub const USUAL_BYTES_WITH_MEDIA: u64 = 8 << 20;
}

/// How long a read tool's result may be handed out again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRule {
    /// For so many seconds.
    pub ttl_seconds: u64,
}

/// How people see one part of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSection {
    /// The key in the output object.
    pub key: String,
    /// What to call it.
    pub label: String,
    /// How to draw it.
    #[serde(rename = "type")]
    pub kind: SectionKind,
    /// How to draw it in detail: columns, axes, formats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
}

/// The ways to draw a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// Key figures.
    Summary,
    /// Rows.
    Table,
    /// A line, bar or area over a series.
    Chart,
    /// Scores around a circle.
    Radar,
    /// Items in order of score.
    Ranking,
    /// Drawn by the tool's own component.
    Custom,
}

/// An old id that still works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The old id.
    pub id: ToolName,
    /// The day it stops working, `YYYY-MM-DD`.
    pub remove_by: String,
}

/// How the tool runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Binding {
    /// Rust code in this binary.
    Native {
        /// The crate or plugin that brought it.
        plugin: String,
    },
    /// Something outside that reports back: the call waits for its result.
    External {
        /// How long the result may take.
        #[serde(default = "a_day")]
        expires_after_seconds: u64,
    },
    /// Someone at a screen who answers: the call waits for them.
    Space {
        /// How long the answer may take.
        #[serde(default = "a_day")]
        expires_after_seconds: u64,
    },
    /// A tool of an MCP server that this gate calls.
    Mcp {
        /// The server, by the name its operator gave it.
        upstream: String,
        /// What the tool is called there.
        tool: String,
    },
}

const fn a_day() -> u64 {
    24 * 60 * 60
}

impl Binding {
    /// How long a call may wait for its result; none where it runs here.
    #[must_use]
    pub const fn waits(&self) -> Option<Duration> {
        match self {
            Self::Native { .. } | Self::Mcp { .. } => None,
            Self::External { expires_after_seconds } | Self::Space { expires_after_seconds } => {
                Some(Duration::from_secs(*expires_after_seconds))
            }
        }
    }
}

/// What a tool promises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolContract {
    /// The tool's id.
    pub id: ToolName,
    /// What people call it.
    pub title: String,
    /// Operating instructions for a model: when to use it, when not, what to try first.
    pub description: String,
    /// Where it stands in the library.
    pub category: String,
    /// An icon's name.
    pub icon: String,
    /// JSON Schema 2020-12 of an object. As text, like the other: as values, a thousand tools take many megabytes.
    #[serde(deserialize_with = "without_blanks")]
    pub input_schema: JsonText,
    /// JSON Schema 2020-12.
    #[serde(deserialize_with = "without_blanks")]
    pub output_schema: JsonText,
    /// What a call does to state.
    pub effect: Effect,
    /// What leaves the house.
    #[serde(default)]
    pub egress: Egress,
    /// Whether the same call twice is the same as once.
    #[serde(default)]
    pub idempotent: bool,
    /// The output fields that may be shown.
    pub redaction: Redaction,
    /// Access rules the caller needs, all of them.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Tenants that may see it; none named means all.
    #[serde(default)]
    pub tenants: Vec<String>,
    /// Whether it is off until someone switches it on: tools that need keys or credit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opt_in: bool,
    /// Who may ever see it.
    #[serde(default)]
    pub audience: Audience,
    /// Whether results are posted to the active space.
    #[serde(default)]
    pub visible: bool,
    /// Whether every call waits for a person.
    #[serde(default)]
    pub approval: ApprovalMode,
    /// The account it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionNeed>,
    /// What one call may take.
    #[serde(default)]
    pub limits: Limits,
    /// How long a result may be handed out again; read tools only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheRule>,
    /// Whether several people may fill it in together.
    #[serde(default)]
    pub collaborative: bool,
    /// How several people's answers are put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Value>,
    /// Hints for the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Value>,
    /// How people see the output.
    #[serde(default)]
    pub output: Vec<OutputSection>,
    /// Old ids.
    #[serde(default)]
    pub aliases: Vec<Alias>,
    /// How it runs.
    pub execution: Binding,
}

/// A contract's address does not depend on the blanks someone wrote between its words.
fn without_blanks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
    Value::deserialize(deserializer).map(JsonText::from)
}

/// The content address of a contract: SHA-256 over its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContractVersion(pub String);

/// A contract that may not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadContract {
    /// A text field is missing or too long.
    #[error("`{field}` must have 1 to {max} characters")]
    Text {
        /// The field.
        field: &'static str,
        /// The most it may have.
        max: usize,
    },
    /// A limit is zero or beyond what any tool may ask.
    #[error("`limits.{field}` must be from 1 to {max}")]
    Limit {
        /// The field.
        field: &'static str,
        /// The most it may be.
        max: u64,
    },
    /// The wait for a result is nothing, or beyond what any tool may ask.
    #[error("`execution.expires_after_seconds` must be from 1 to {}", Limits::MAX_WAIT_SECONDS)]
    Wait,
    /// A section names an output field that is not declared.
    #[error("output section `{0}` is not a property of the output schema")]
    UnknownSection(String),
    /// The redaction list is unusable.
    #[error("redaction: {0}")]
    Redaction(#[from] BadRedaction),
    /// A tool that changes something and wants its results kept.
    #[error("only a `read` tool may have `cache`")]
    CachedWrite,
    /// A read that changes something outside.
    #[error("a `read` tool may not have `egress: write`; declare `mutate` or `destructive`")]
    ReadThatWrites,
}

impl ToolContract {
    /// The content address of this contract.
    #[must_use]
    pub fn version(&self) -> ContractVersion {
        // A contract is plain data with string keys, so it always has a JSON form.
        let text = serde_json::to_string(self).unwrap_or_default();
        ContractVersion(to_hex(&Sha256::digest(text.as_bytes())))
    }

    /// Whether a call may be run again without harm after a crash.
    #[must_use]
    pub fn repeatable(&self) -> bool {
        self.effect == Effect::Read || self.idempotent
    }

    /// Checks everything but the schemas and compiles the redaction list.
    ///
    /// # Errors
    /// The first thing that keeps the contract from being registered.
    pub fn check(&self) -> Result<Redactor, BadContract> {
        for (field, text, max) in [
            ("title", &self.title, 120),
            ("description", &self.description, 8_000),
            ("category", &self.category, 60),
            ("icon", &self.icon, 60),
        ] {
            if text.trim().is_empty() || text.chars().count() > max {
                return Err(BadContract::Text { field, max });
            }
        }
        for (field, value, max) in [
            ("timeout_ms", self.limits.timeout_ms, Limits::MAX_TIMEOUT_MS),
            ("max_result_bytes", self.limits.max_result_bytes, Limits::MAX_RESULT_BYTES),
            (
                "max_bytes_with_media",
                self.limits.max_bytes_with_media.unwrap_or(Limits::MAX_RESULT_BYTES),
                Limits::MAX_RESULT_BYTES,
            ),
        ] {
            if value == 0 || value > max {
                return Err(BadContract::Limit { field, max });
            }
        }
        if let Some(waits) = self.execution.waits()
            && !(1..=Limits::MAX_WAIT_SECONDS).contains(&waits.as_secs())
        {
            return Err(BadContract::Wait);
        }
        if self.effect == Effect::Read && self.egress == Egress::Write {
            return Err(BadContract::ReadThatWrites);
        }
        if self.effect != Effect::Read && self.cache.is_some() {
            return Err(BadContract::CachedWrite);
        }
        let output_schema = self.output_schema.to_value();
        let declared = output_schema.get("properties").and_then(Value::as_object);
        for section in &self.output {
            if declared.is_some_and(|fields| !fields.contains_key(&section.key)) {
                return Err(BadContract::UnknownSection(section.key.clone()));
            }
        }
        Ok(Redactor::compile(&self.redaction, &output_schema)?)
    }
}

//! Policies: the text in force, its versions, and what it would decide.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The policies in force.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyView {
    /// The Cedar text.
    pub text: String,
    /// Its version; 0 for the policies every tenant starts with.
    pub version: u64,
    /// What whoever saved it said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Who saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// When, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_at: Option<String>,
    /// What is odd about it, when it was just saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<PolicyProblemView>,
}

/// Something wrong or odd in a policy text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyProblemView {
    /// The policy's `@id`, where one can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// The character of the line, from 1.
    pub column: u64,
}

/// A text to save.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SavePolicyRequest {
    /// The Cedar text.
    pub text: String,
    /// Why, for those who read the versions.
    #[serde(default)]
    pub note: String,
    /// The version it was made from; another one in the meantime is a conflict. Left out, nothing is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// A text to check.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidatePolicyRequest {
    /// The Cedar text.
    pub text: String,
}

/// What checking a text found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyCheckView {
    /// Whether it could be saved.
    pub ok: bool,
    /// What keeps it from being saved.
    pub problems: Vec<PolicyProblemView>,
    /// What is odd about it.
    pub warnings: Vec<PolicyProblemView>,
}

/// A version to go back to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackPolicyRequest {
    /// The version; 0 for the policies every tenant starts with.
    pub version: u64,
}

/// One version of the policies.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyVersionView {
    /// Its number.
    pub version: u64,
    /// What whoever saved it said.
    pub note: String,
    /// Who saved it.
    pub saved_by: String,
    /// When, in RFC 3339.
    pub saved_at: String,
    /// Its text; only when one version is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Versions of the policies, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyVersionListView {
    /// The versions.
    pub versions: Vec<PolicyVersionView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What changed between two versions.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyDiffView {
    /// A unified diff; empty when nothing did.
    pub diff: String,
}

/// A call to explain.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainPolicyRequest {
    /// For whom; left out, for yourself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Working for whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Which tool.
    #[schema(example = "core__get_current_time")]
    pub tool: String,
    /// With which arguments, if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
    /// In a session with these labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub labels: Vec<String>,
    /// At which moment, in RFC 3339; left out, now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Why a call would run, ask or be refused.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplanationView {
    /// For whom.
    pub principal: String,
    /// Which tool.
    pub tool: String,
    /// `allow`, `ask`, `deny`, or `hide` when the tool would look absent.
    #[schema(example = "ask")]
    pub verdict: String,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Every gate, in its order.
    pub steps: Vec<ExplainStepView>,
}

/// One gate's word.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplainStepView {
    /// Which gate.
    pub gate: String,
    /// `pass`, `ask`, `deny`, `hide` or `skip`.
    pub verdict: String,
    /// The rule that decided there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// What would change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A draft to try on recorded calls.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TryPolicyRequest {
    /// The Cedar text of the draft.
    pub text: String,
    /// How many calls, newest first, from 1 to 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// Only calls of this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only calls by this principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// What would have come out otherwise.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyTrialView {
    /// Calls looked at.
    pub calls: u64,
    /// Calls whose tool or caller is gone, or whose input was not kept.
    pub skipped: u64,
    /// Calls that would come out the same.
    pub same: u64,
    /// Calls that would run unattended now and did not.
    pub now_allowed: u64,
    /// Calls that would ask a person now and did not.
    pub now_asked: u64,
    /// Calls that would be refused now and were not.
    pub now_denied: u64,
    /// The first hundred of those that would come out otherwise, newest first.
    pub changed: Vec<TriedCallView>,
    /// What is odd about the draft.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<PolicyProblemView>,
}

/// A recorded call that would come out otherwise.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TriedCallView {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// Who made it.
    pub actor: String,
    /// When, in RFC 3339.
    pub at: String,
    /// What comes out under the policies in force.
    pub before: TriedVerdictView,
    /// What would come out under the draft.
    pub after: TriedVerdictView,
}

/// A verdict and the rule behind it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TriedVerdictView {
    /// `allow`, `ask`, `deny` or `hide`.
    pub verdict: String,
    /// The rule that decided.
    pub rule: String,
}

/// The Cedar schema policies are checked against.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicySchemaView {
    /// The schema in Cedar's own form.
    pub schema: String,
}

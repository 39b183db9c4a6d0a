//! What people are asked to decide on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::JsonText;
use toolgate_core::review::Review;
use utoipa::ToSchema;

use crate::rfc3339;

/// What a person is, or was, asked to decide on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReviewView {
    /// What a decision is bound to: send it back to be sure that you decide on what you saw.
    pub digest: String,
    /// What the call would do: `summary`, `changes` (field, before, after), `count`, `reversible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub preview: Option<Value>,
    /// Why there is no preview although the tool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_failed: Option<String>,
    /// How many people must say yes.
    pub needed: u32,
    /// The roles whose holders may decide; none named means whoever policy lets.
    #[serde(default)]
    pub approvers: Vec<String>,
    /// Who said yes so far.
    pub votes: Vec<VoteView>,
    /// Who it was given to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_to: Option<String>,
    /// The role to whose holders it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_role: Option<String>,
    /// Questions and answers.
    pub remarks: Vec<RemarkView>,
    /// When it is passed on to more people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_at: Option<String>,
    /// Until when someone must have decided.
    pub deadline: String,
    /// What really runs, where a person changed the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
}

/// Someone who said yes.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VoteView {
    /// Who.
    pub by: String,
    /// When, in RFC 3339.
    pub at: String,
}

/// Something said about a waiting call.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RemarkView {
    /// By whom.
    pub by: String,
    /// When, in RFC 3339.
    pub at: String,
    /// What.
    pub text: String,
}

impl From<Review> for ReviewView {
    fn from(review: Review) -> Self {
        Self {
            digest: review.digest,
            preview: review.preview.as_ref().map(JsonText::to_value),
            preview_failed: review.preview_failed,
            needed: review.needed,
            approvers: review.approvers,
            votes: review
                .votes
                .into_iter()
                .map(|vote| VoteView { by: vote.by.to_string(), at: rfc3339(vote.at) })
                .collect(),
            assigned_to: review.assigned_to.map(|who| who.to_string()),
            assigned_role: review.assigned_role.map(|role| role.to_string()),
            remarks: review
                .remarks
                .into_iter()
                .map(|remark| RemarkView {
                    by: remark.by.to_string(),
                    at: rfc3339(remark.at),
                    text: remark.text,
                })
                .collect(),
            escalate_at: review.escalate_at.map(rfc3339),
            deadline: rfc3339(review.deadline),
            input: review.input.as_ref().map(JsonText::to_value),
        }
    }
}

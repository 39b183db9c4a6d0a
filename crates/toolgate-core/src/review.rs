//! What a person is asked to decide on, and how it went so far.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::contract::ContractVersion;
use crate::id::{ConnectionId, PrincipalId, Slug, ToolName};
use crate::json::{JsonText, canonical_digest, to_hex};
use crate::time::Timestamp;

/// What a call would do, as the tool itself foresees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// One sentence.
    pub summary: String,
    /// What would change, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// How many things it would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Whether it could be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
}

/// One field before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// Which.
    pub field: String,
    /// What it is; none when it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What it would be; none when it would be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl Preview {
    /// The largest preview, as JSON.
    pub const MAX_BYTES: usize = 64 * 1024;
}

/// Someone who said yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Who.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
}

/// Something said about a waiting call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// By whom.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
}

/// What a person is asked to decide on. It stands in the record from the moment the call waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// What a decision is bound to: SHA-256 over tool version, canonical input, connection and preview.
    pub digest: String,
    /// What the call would do, as JSON of a [`Preview`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<JsonText>,
    /// Why there is no preview although the tool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_failed: Option<String>,
    /// The connection the call asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionId>,
    /// How many people must say yes.
    pub needed: u32,
    /// The roles whose holders may decide; none named means whoever policy lets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// When it is passed on to more people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_at: Option<Timestamp>,
    /// To which roles; none named means to whoever policy lets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalate_to: Vec<String>,
    /// Until when someone must have decided.
    pub deadline: Timestamp,
    /// Who it was given to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_to: Option<PrincipalId>,
    /// The role to whose holders it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_role: Option<Slug>,
    /// Who said yes so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Questions and answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// What really runs, where a person changed the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<JsonText>,
}

impl Review {
    /// The most remarks on one call.
    pub const MAX_REMARKS: usize = 50;

    /// What a decision on these is bound to.
    #[must_use]
    pub fn digest_of(
        tool: &ToolName,
        version: Option<&ContractVersion>,
        input: &Value,
        connection: Option<ConnectionId>,
        preview: Option<&JsonText>,
    ) -> String {
        let mut hasher = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        field(b"toolgate.review.v1");
        field(tool.as_str().as_bytes());
        field(version.map_or("", |version| version.0.as_str()).as_bytes());
        field(&canonical_digest(input));
        field(connection.map(|id| id.to_string()).unwrap_or_default().as_bytes());
        field(preview.map_or("", JsonText::as_str).as_bytes());
        to_hex(&hasher.finalize())
    }

    /// Whether this person's yes is still wanted.
    #[must_use]
    pub fn awaits(&self, who: &PrincipalId) -> bool {
        !self.votes.iter().any(|vote| vote.by == *who)
    }
}

/// What happens to a waiting call short of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStep {
    /// Someone said yes, and more must.
    Voted,
    /// Someone said something: a question back, or an answer.
    Remarked {
        /// What.
        text: String,
    },
    /// It was given to someone.
    Reassigned {
        /// To whom.
        to: PrincipalId,
    },
    /// It was given to the holders of a role. Who may decide stays as it is: it is about whose turn it is.
    ReassignedToRole {
        /// Which role.
        role: Slug,
    },
    /// Nobody decided in time for a first look: it is passed on to more people.
    Escalated {
        /// The roles it is passed on to.
        to: Vec<String>,
    },
    /// A person changed the input. What was said before was said of something else, so it no longer counts.
    Edited {
        /// The input that would run.
        input: JsonText,
        /// The preview of that.
        preview: Option<JsonText>,
        /// Why there is none.
        preview_failed: Option<String>,
        /// What a decision is bound to now.
        digest: String,
    },
}

impl Review {
    /// The review after one more step.
    #[must_use]
    pub fn after(&self, step: &ReviewStep, by: &PrincipalId, at: Timestamp) -> Self {
        let mut next = self.clone();
        match step.clone() {
            ReviewStep::Voted => next.votes.push(Vote { by: by.clone(), at }),
            ReviewStep::Remarked { text } => next.remarks.push(Remark { by: by.clone(), at, text }),
            ReviewStep::Reassigned { to } => {
                next.assigned_to = Some(to);
                next.assigned_role = None;
            }
            ReviewStep::ReassignedToRole { role } => {
                next.assigned_to = None;
                next.assigned_role = Some(role);
            }
            ReviewStep::Escalated { to } => {
                next.escalate_at = None;
                // Passed on to nobody in particular means to whoever policy lets.
                if to.is_empty() {
                    next.approvers.clear();
                }
                next.approvers.extend(to);
                next.assigned_to = None;
                next.assigned_role = None;
            }
            ReviewStep::Edited { input, preview, preview_failed, digest } => {
                next.votes.clear();
                next.input = Some(input);
                next.preview = preview;
                next.preview_failed = preview_failed;
                next.digest = digest;
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn review() -> Review {
        Review {
            digest: "first".into(),
            preview: None,
            preview_failed: None,
            connection: None,
            needed: 2,
            approvers: vec!["approver".into()],
            escalate_at: Some(Timestamp::from_micros(5)),
            escalate_to: Vec::new(),
            deadline: Timestamp::from_micros(10),
            assigned_to: None,
            assigned_role: None,
            votes: Vec::new(),
            remarks: Vec::new(),
            input: None,
        }
    }

    #[test]
    fn a_digest_tells_everything_apart_and_key_order_nothing() {
        let tool: ToolName = "core__x".parse().unwrap();
        let version = ContractVersion("v1".into());
        let of = |input: Value| Review::digest_of(&tool, Some(&version), &input, None, None);
        assert_eq!(of(json!({"a": 1, "b": 2})), of(json!({"b": 2, "a": 1})));
        let base = of(json!({}));
        let preview = JsonText::from_value(&json!({"summary": "x"}));
        let connection = Some(ConnectionId::generate());
        for other in [
            of(json!({"a": 1})),
            Review::digest_of(&"core__y".parse().unwrap(), Some(&version), &json!({}), None, None),
            Review::digest_of(&tool, None, &json!({}), None, None),
            Review::digest_of(&tool, Some(&version), &json!({}), connection, None),
            Review::digest_of(&tool, Some(&version), &json!({}), None, Some(&preview)),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn an_edit_takes_earlier_votes_back() {
        let (ada, at) = ("user:ada".parse().unwrap(), Timestamp::from_micros(1));
        let voted = review().after(&ReviewStep::Voted, &ada, at);
        assert!(!voted.awaits(&ada));
        let edited = voted.after(
            &ReviewStep::Edited {
                input: JsonText::from_value(&json!({"n": 2})),
                preview: None,
                preview_failed: None,
                digest: "second".into(),
            },
            &ada,
            at,
        );
        assert!(edited.awaits(&ada) && edited.digest == "second" && edited.input.is_some());
    }

    #[test]
    fn it_is_given_to_a_person_or_to_a_role() {
        let (by, at) = ("user:ada".parse().unwrap(), Timestamp::from_micros(1));
        let role: Slug = "treasury".parse().unwrap();
        let given = review().after(&ReviewStep::ReassignedToRole { role: role.clone() }, &by, at);
        assert_eq!((given.assigned_to.as_ref(), given.assigned_role.as_ref()), (None, Some(&role)));
        assert_eq!(given.approvers, review().approvers, "who may decide is another matter");
        let person = given.after(&ReviewStep::Reassigned { to: by.clone() }, &by, at);
        assert_eq!((person.assigned_to.as_ref(), person.assigned_role.as_ref()), (Some(&by), None));
        let wider = given.after(&ReviewStep::Escalated { to: vec![] }, &by, at);
        assert_eq!((wider.assigned_to, wider.assigned_role), (None, None));
        let before = serde_json::to_value(review()).unwrap();
        assert!(before.get("assigned_role").is_none(), "what was kept before is read as it was");
    }

    #[test]
    fn passing_on_adds_people_and_happens_once() {
        let by = "user:ada".parse().unwrap();
        let at = Timestamp::from_micros(1);
        let wider = review().after(&ReviewStep::Escalated { to: vec!["admin".into()] }, &by, at);
        assert_eq!(
            (wider.approvers, wider.escalate_at),
            (vec!["approver".to_owned(), "admin".to_owned()], None)
        );
        let open = review().after(&ReviewStep::Escalated { to: vec![] }, &by, at);
        assert!(open.approvers.is_empty());
    }
}

//! A tenant's policies: one text, checked when it is saved, with every version kept.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::PrincipalId;
use toolgate_core::json::{digest, to_hex};
use toolgate_core::{Actor, JsonText, Timestamp};
use toolgate_policy::cedar::{Checked, Known, Policies, PolicyProblem};

use crate::{App, AppError};

/// The document's name: a tenant has one text.
const NAME: &str = "main";
/// The longest note on a version.
const NOTE: usize = 500;
/// How long two texts are compared for the shortest difference.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// The document as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PolicyDocument {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) note: String,
}

/// The policies in force.
#[derive(Debug, Clone)]
pub struct PolicyState {
    /// The text.
    pub text: String,
    /// Its number; 0 for the policies every tenant starts with.
    pub version: u64,
    /// What whoever saved it said.
    pub note: String,
    /// Who saved it, and when.
    pub saved: Option<(PrincipalId, Timestamp)>,
    /// What is odd about it.
    pub warnings: Vec<PolicyProblem>,
}

/// One version of the policies.
#[derive(Debug, Clone)]
pub struct PolicyVersion {
    /// Its number.
    pub version: u64,
    /// What whoever saved it said.
    pub note: String,
    /// Its text; none where the tenant went back to the default.
    pub text: Option<String>,
    /// Who saved it.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
}

impl App {
    /// The policies in force.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage policies.
    pub async fn read_policy(&self, actor: &Actor) -> Result<PolicyState, AppError> {
        self.require(actor, Area::Policies)?;
        let found = self.store().document(&actor.tenant, DocumentKind::Policy, NAME).await?;
        Ok(match found {
            None => PolicyState {
                text: self.snapshots.default_text().to_owned(),
                version: 0,
                note: "the policies every tenant starts with".to_owned(),
                saved: None,
                warnings: Vec::new(),
            },
            Some(document) => {
                let body = body_of(&document.body)?;
                PolicyState {
                    text: body.text,
                    version: document.revision,
                    note: body.note,
                    saved: Some((document.by, document.at)),
                    warnings: Vec::new(),
                }
            }
        })
    }

    /// Checks a text without saving it. Returns what is odd about it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn validate_policy(&self, actor: &Actor, text: &str) -> Result<Vec<PolicyProblem>, AppError> {
        self.require(actor, Area::Policies)?;
        let check = self.check(actor, text);
        self.policy_work.run(move || Ok(check()?.warnings)).await?
    }

    /// Saves a text and brings it into force. `seen` is the version it was made from: another one in the meantime is a
    /// conflict.
    ///
    /// # Errors
    /// What is wrong with it; also when it would keep whoever saves it from managing policies.
    pub async fn save_policy(
        &self,
        actor: &Actor,
        text: &str,
        note: String,
        seen: Option<u64>,
    ) -> Result<PolicyState, AppError> {
        self.require(actor, Area::Policies)?;
        if note.chars().count() > NOTE || note.chars().any(char::is_control) {
            return Err(AppError::invalid(format!("a note has at most {NOTE} characters on one line")));
        }
        let (check, keeps_open) = (self.check(actor, text), self.keep_the_door_open(actor)?);
        let checked = self.policy_work.run(move || {
            let checked = check()?;
            let (policies, warnings) = (checked.policies.len(), checked.warnings);
            keeps_open(checked.policies)?;
            Ok::<_, AppError>((policies, warnings))
        });
        let (policies, warnings) = checked.await??;
        let expect = match seen {
            None => Expect::Anything,
            Some(0) => Expect::Absent,
            Some(version) => Expect::Revision(version),
        };
        let body = PolicyDocument { text: text.to_owned(), note };
        let summary = json!({
            "action": "policy.saved", "note": body.note, "policies": policies,
            "sha256": to_hex(&digest(text.as_bytes())),
        });
        let write = Write::PutDocument {
            kind: DocumentKind::Policy,
            name: NAME.to_owned(),
            body: JsonText::from_serialize(&body).map_err(|_| AppError::invalid("the text is not text"))?,
            expect,
        };
        self.change(actor, summary, vec![write]).await?;
        // Whoever saved it may not be able to read it under other rules than those just checked.
        let mut state = self.read_policy(actor).await?;
        state.warnings = warnings;
        Ok(state)
    }

    /// Saves an earlier version again, as a new one. Version 0 goes back to the policies every tenant starts with.
    ///
    /// # Errors
    /// As [`App::save_policy`]; "not found" for a version that never was.
    pub async fn roll_back_policy(&self, actor: &Actor, version: u64) -> Result<PolicyState, AppError> {
        let earlier = self.policy_version(actor, version).await?;
        let text = earlier.text.unwrap_or_else(|| self.snapshots.default_text().to_owned());
        self.save_policy(actor, &text, format!("back to version {version}"), None).await
    }

    /// Versions before `before`, newest first, without their texts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage policies.
    pub async fn policy_versions(
        &self,
        actor: &Actor,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<PolicyVersion>, AppError> {
        self.require(actor, Area::Policies)?;
        let found =
            self.store().document_versions(&actor.tenant, DocumentKind::Policy, NAME, before, limit).await?;
        found.into_iter().map(version_of).collect()
    }

    /// One version with its text.
    ///
    /// # Errors
    /// "Not found" for a version that never was.
    pub async fn policy_version(&self, actor: &Actor, version: u64) -> Result<PolicyVersion, AppError> {
        self.require(actor, Area::Policies)?;
        if version == 0 {
            return Ok(PolicyVersion {
                version,
                note: "the policies every tenant starts with".to_owned(),
                text: Some(self.snapshots.default_text().to_owned()),
                by: "service:toolgate".parse().map_err(|_| AppError::NotFound { what: "policy version" })?,
                at: Timestamp::from_micros(0),
            });
        }
        let before = version.checked_add(1);
        let found =
            self.store().document_versions(&actor.tenant, DocumentKind::Policy, NAME, before, 1).await?;
        let found = found.into_iter().next().filter(|found| found.revision == version);
        found.map(version_of).transpose()?.ok_or(AppError::NotFound { what: "policy version" })
    }

    /// What changed from one version to another, as a unified diff. Version 0 is the default; none means what is in
    /// force.
    ///
    /// # Errors
    /// "Not found" for a version that never was.
    pub async fn diff_policy(&self, actor: &Actor, from: u64, to: Option<u64>) -> Result<String, AppError> {
        let before = self.policy_version(actor, from).await?.text.unwrap_or_default();
        let (after, name) = match to {
            Some(to) => {
                (self.policy_version(actor, to).await?.text.unwrap_or_default(), format!("version {to}"))
            }
            None => (self.read_policy(actor).await?.text, "in force".to_owned()),
        };
        let diff = move || {
            // Past its time it is coarser: correct, but longer than it need be.
            let diff = similar::TextDiff::configure().timeout(DIFF_TIME).diff_lines(&before, &after);
            diff.unified_diff().context_radius(3).header(&format!("version {from}"), &name).to_string()
        };
        self.policy_work.run(diff).await
    }

    /// Strictly validates a text against our schema and the schemas of the tenant's tools, when it is called.
    pub(crate) fn check(
        &self,
        actor: &Actor,
        text: &str,
    ) -> impl FnOnce() -> Result<Checked, AppError> + Send + 'static {
        let (catalog, text) = (self.runner.parts().tools.of(&actor.tenant), text.to_owned());
        let snapshot = self.snapshots.get(&actor.tenant);
        move || {
            let input_schema_of = |id: &str| -> Option<Value> {
                let tool = catalog.get(&id.parse().ok()?)?;
                Some(tool.contract.input_schema.to_value())
            };
            let role = |name: &str| snapshot.as_ref().is_none_or(|tenant| tenant.role(name).is_some());
            let toolset = |name: &str| {
                let there =
                    |name| snapshot.as_ref().is_none_or(|tenant| tenant.gate.toolset(&name).is_some());
                name.parse().is_ok_and(there)
            };
            let known = Known { input_schema_of: &input_schema_of, role: &role, toolset: &toolset };
            Policies::check_for(&text, &known).map_err(AppError::Policy)
        }
    }

    /// Refuses a text under which whoever saves it could not save another, when it is called.
    fn keep_the_door_open(
        &self,
        actor: &Actor,
    ) -> Result<impl FnOnce(Policies) -> Result<(), AppError> + Send + 'static, AppError> {
        let Some(snapshot) = self.snapshots.get(&actor.tenant) else {
            return Err(AppError::NotFound { what: "tenant" });
        };
        let (actor, now) = (actor.clone(), self.now());
        Ok(move |draft| {
            let draft = snapshot.gate.with_policies(&snapshot.catalog, Arc::new(draft));
            let decision = draft.decide_manage(&actor, Area::Policies, now);
            if decision.verdict.permits() {
                return Ok(());
            }
            Err(AppError::invalid(format!(
                "under this text `{}` could no longer manage policies (`{}`)",
                actor.principal, decision.rule
            ))
            .with_hint("keep a permit for `manage` on `Toolgate::Area::\"policies\"` that matches you"))
        })
    }
}

fn body_of(body: &JsonText) -> Result<PolicyDocument, AppError> {
    serde_json::from_str(body.as_str()).map_err(|_| AppError::NotFound { what: "policy" })
}

fn version_of(version: toolgate_core::document::DocumentVersion) -> Result<PolicyVersion, AppError> {
    let body = version.body.as_ref().map(body_of).transpose()?;
    let (text, note) =
        body.map_or((None, "back to the default".to_owned()), |body| (Some(body.text), body.note));
    Ok(PolicyVersion { version: version.revision, note, text, by: version.by, at: version.at })
}

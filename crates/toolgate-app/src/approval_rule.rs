//! Approval rules: who has to decide, how many, and in what time.

use toolgate_core::Actor;
use toolgate_core::approval_rule::ApprovalRule;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::Slug;

use crate::bounds::{self, MAX_LIST, MAX_PATTERNS};
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::ApprovalRule;
/// The longest a call may wait.
const LONGEST: u64 = 90 * 24 * 3600;
/// The most people that one call may need.
const MOST_NEEDED: u32 = 10;

impl App {
    /// The rules after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage approvals.
    pub async fn list_approval_rules(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<ApprovalRule>>, Option<String>), AppError> {
        self.require(actor, Area::Approvals)?;
        let all = self.stored(actor, KIND).await?;
        Ok(part_of(all, |rule: &Stored<ApprovalRule>| &rule.name, after, limit))
    }

    /// One rule.
    ///
    /// # Errors
    /// As [`App::list_approval_rules`], and "not found".
    pub async fn read_approval_rule(
        &self,
        actor: &Actor,
        name: &Slug,
    ) -> Result<Stored<ApprovalRule>, AppError> {
        self.require(actor, Area::Approvals)?;
        self.stored_one(actor, KIND, name.as_str()).await
    }

    /// Writes a rule.
    ///
    /// # Errors
    /// What is wrong with it; a conflict when it does not stand as `expect` says.
    pub async fn put_approval_rule(
        &self,
        actor: &Actor,
        name: &Slug,
        rule: ApprovalRule,
        expect: Expect,
    ) -> Result<Stored<ApprovalRule>, AppError> {
        self.require(actor, Area::Approvals)?;
        bounds::at_most(&rule.tools, MAX_PATTERNS, "tools")?;
        bounds::at_most(&rule.principals, MAX_PATTERNS, "principals")?;
        bounds::at_most(&rule.approvers, MAX_LIST, "approvers")?;
        bounds::at_most(&rule.escalate_to, MAX_LIST, "escalate_to")?;
        if !(1..=MOST_NEEDED).contains(&rule.needed) {
            return Err(AppError::invalid(format!("`needed` must be from 1 to {MOST_NEEDED}")));
        }
        for (field, seconds) in [
            ("escalate_after_seconds", rule.escalate_after_seconds),
            ("expires_after_seconds", rule.expires_after_seconds),
        ] {
            if seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
                return Err(AppError::invalid(format!("`{field}` must be from 1 second to 90 days")));
            }
        }
        let snapshot = self.as_it_stands(actor).await?;
        for role in rule.approvers.iter().chain(&rule.escalate_to) {
            if snapshot.role(role).is_none() {
                return Err(AppError::invalid(format!("there is no role `{role}`"))
                    .with_hint("list the roles with `GET /api/v1/roles`, or write it first"));
            }
        }
        let rule = ApprovalRule { description: bounds::description(&rule.description)?, ..rule };
        self.put_stored(actor, KIND, name.as_str(), &rule, expect).await
    }

    /// Takes a rule away.
    ///
    /// # Errors
    /// "Not found" when there is none.
    pub async fn delete_approval_rule(
        &self,
        actor: &Actor,
        name: &Slug,
        expect: Expect,
    ) -> Result<(), AppError> {
        self.require(actor, Area::Approvals)?;
        self.remove_stored(actor, KIND, name.as_str(), expect).await
    }
}

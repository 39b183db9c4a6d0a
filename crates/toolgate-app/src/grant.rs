//! Standing grants: what people let run from now on. Listed, counted, revocable.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::grant::Grant;
use toolgate_core::port::grant_use::GrantUse;
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Invocation};

use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Grant;
/// The longest a grant may hold.
const LONGEST: Duration = Duration::from_secs(90 * 24 * 3600);

/// What a person lets run from now on, with the call they decide on as the example.
#[derive(Debug, Clone)]
pub struct Remember {
    /// Within which arguments.
    pub arguments: RememberArguments,
    /// Only in the session of this call.
    pub session_only: bool,
    /// For how long.
    pub expires_in: Duration,
}

/// Which arguments a grant covers.
#[derive(Debug, Clone)]
pub enum RememberArguments {
    /// Just these.
    Same,
    /// Any that fit this JSON Schema.
    Within(Value),
    /// Any at all.
    Any,
}

impl App {
    /// Says what is wrong with a grant before anything is decided.
    pub(crate) fn check_remember(remember: &Remember) -> Result<(), AppError> {
        if remember.expires_in.is_zero() || remember.expires_in > LONGEST {
            return Err(AppError::invalid("a grant holds for at least a second and at most 90 days"));
        }
        if let RememberArguments::Within(schema) = &remember.arguments {
            toolgate_schema::compile(schema, toolgate_schema::Role::Output)
                .map_err(|bad| AppError::invalid(format!("the bounds on arguments can't be used: {bad}")))?;
        }
        Ok(())
    }

    /// Lets a waiting call run, and gives a standing grant with it as the example: both, or neither. The inner error is
    /// the call's own, such as a conflict when it no longer waits.
    pub(crate) async fn decide_and_remember(
        &self,
        actor: &Actor,
        invocation: &Invocation,
        reason: Option<String>,
        remember: &Remember,
    ) -> Result<Result<Invocation, StoreError>, AppError> {
        let decision = match self.runner.decision(invocation, &actor.principal, true, reason) {
            Ok(decision) => decision,
            Err(cause) => return Ok(Err(cause)),
        };
        // One call gives one grant; saying it again says it anew.
        let name = format!("gnt-{}", invocation.id().uuid().simple());
        let grant = self.grant_of(actor, invocation, remember);
        let along = vec![Write::Advance(Box::new(decision))];
        match self.put_stored_along(actor, KIND, &name, &grant, Expect::Anything, along).await {
            // A grant stands in nobody's way, so what has changed is the call.
            Err(AppError::Conflict { .. }) if self.has_room(actor, KIND, &name).await.is_ok() => {
                return Ok(Err(StoreError::Conflict));
            }
            other => other?,
        }
        let row = self.store().get(&actor.tenant, invocation.id()).await?;
        let row = row.ok_or(AppError::NotFound { what: "invocation" })?;
        self.runner.announce(&row);
        Ok(Ok(row))
    }

    fn grant_of(&self, actor: &Actor, invocation: &Invocation, remember: &Remember) -> Grant {
        let opened = &invocation.opened;
        let now = self.now();
        Grant {
            tool: opened.tool.clone(),
            actor: opened.actor.clone(),
            subject: opened.subject.clone(),
            session: remember.session_only.then_some(opened.session),
            arguments: match &remember.arguments {
                RememberArguments::Any => None,
                RememberArguments::Same => {
                    Some(json!({ "type": "object", "const": invocation.input().to_value() }))
                }
                RememberArguments::Within(schema) => Some(schema.clone()),
            },
            expires_at: now.plus(remember.expires_in),
            by: actor.principal.clone(),
            created_at: now,
            call: invocation.id(),
        }
    }

    /// Grants after `after` with how often each was used, and where the next part starts: one's own, or all for those who
    /// manage approvals.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn list_grants(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<(Stored<Grant>, u64)>, Option<String>), AppError> {
        let manages = self.require(actor, Area::Approvals).is_ok();
        let mut all: Vec<Stored<Grant>> = self.stored(actor, KIND).await?;
        all.retain(|grant| manages || concerns(&grant.body, actor));
        let (part, next) = part_of(all, |grant| &grant.name, after, limit);
        let uses: Vec<GrantUse> = part.iter().map(uses_of).collect();
        let used = self.store().grant_uses(&actor.tenant, &uses).await?;
        Ok((part.into_iter().zip(used).collect(), next))
    }

    /// One grant and how often it was used, up to a thousand times.
    ///
    /// # Errors
    /// "Not found" for one that is not there or not the caller's to see.
    pub async fn read_grant(&self, actor: &Actor, name: &str) -> Result<(Stored<Grant>, u64), AppError> {
        let found = self.stored_one(actor, KIND, name).await;
        let grant: Stored<Grant> = found.map_err(|_| AppError::NotFound { what: "grant" })?;
        if !concerns(&grant.body, actor) && self.require(actor, Area::Approvals).is_err() {
            return Err(AppError::NotFound { what: "grant" });
        }
        let used = self.store().grant_uses(&actor.tenant, &[uses_of(&grant)]).await?;
        Ok((grant, used.first().copied().unwrap_or_default()))
    }

    /// Takes a grant back: by whoever gave it, the person it works for, or those who manage approvals.
    ///
    /// # Errors
    /// "Not found" for one that is not there or not the caller's.
    pub async fn revoke_grant(&self, actor: &Actor, name: &str) -> Result<(), AppError> {
        let (grant, _) = self.read_grant(actor, name).await?;
        let own = grant.body.by == actor.principal || grant.body.subject.as_ref() == Some(&actor.principal);
        if !own {
            self.require(actor, Area::Approvals)?;
        }
        self.remove_stored(actor, KIND, name, Expect::Anything).await
    }
}

fn uses_of(grant: &Stored<Grant>) -> GrantUse {
    GrantUse {
        rule: Grant::rule(&grant.name),
        tool: grant.body.tool.clone(),
        actor: grant.body.actor.clone(),
        after: grant.body.call,
    }
}

/// Whether a grant is this caller's business: they gave it, or it lets them, or what works for them, run something.
fn concerns(grant: &Grant, actor: &Actor) -> bool {
    grant.by == actor.principal
        || grant.subject.as_ref() == Some(&actor.principal)
        || (grant.actor == actor.principal && grant.subject.as_ref() == actor.subject_id())
}

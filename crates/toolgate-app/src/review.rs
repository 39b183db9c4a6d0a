//! What people say of waiting calls: yes, yes to something else, no, a question, someone else's turn.

use std::time::Duration;

use serde_json::Value;
use toolgate_core::document::Area;
use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::port::store::StoreError;
use toolgate_core::review::{Review, ReviewStep};
use toolgate_core::runner::{Edit, RunError};
use toolgate_core::{Actor, Approval, CallResult, Effect, Invocation};

use crate::grant::Remember;
use crate::{App, AppError, bounds};

/// How often a decision is tried again when someone else said something in the same moment.
const TRIES: usize = 8;

/// A person's yes.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// What they say.
    pub reason: Option<String>,
    /// The digest of what they saw; another one in the meantime is a conflict.
    pub digest: Option<String>,
    /// The tool's name, typed: asked for where something is destroyed.
    pub confirm: Option<String>,
    /// The input that they would rather see run.
    pub input: Option<Value>,
    /// What they let run from now on.
    pub remember: Option<Remember>,
    /// How long to wait for the outcome.
    pub wait: Duration,
}

impl App {
    /// Says yes to a waiting call. Where more people are needed, it goes on waiting; else it runs, and policy, input and
    /// digest are checked once more first.
    ///
    /// # Errors
    /// "Forbidden" for whoever may not decide, a conflict when the call no longer waits or is not what they saw.
    pub async fn approve_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        decision: Decision,
    ) -> Result<CallResult, AppError> {
        let mut invocation = self.waiting(actor, id).await?;
        confirmed(&invocation, decision.confirm.as_deref())?;
        as_seen(&invocation, decision.digest.as_deref())?;
        if let Some(remember) = &decision.remember {
            Self::check_remember(remember)?;
        }
        not_ones_own(actor, &invocation, decision.remember.is_some())?;
        // What stands there now is what they decide on, whether they say so or not.
        let mut seen = decision.digest.clone().or_else(|| digest_of(&invocation));
        if let Some(input) = decision.input.clone() {
            invocation = self.edit(actor, &invocation, input).await?;
            // From here on, what they changed is what they saw.
            seen = digest_of(&invocation);
        }
        for _ in 0..TRIES {
            as_seen(&invocation, seen.as_deref())?;
            let standing = self.standing_votes(&invocation).await?;
            let said = match invocation.review.as_deref() {
                Some(review) if !review.awaits(&actor.principal) => {
                    return Err(AppError::Conflict {
                        message: "you said yes to this call already".to_owned(),
                    });
                }
                Some(review) if standing + 1 < review.needed as usize => {
                    self.runner.review(&invocation, &actor.principal, ReviewStep::Voted).await
                }
                // A grant is given with the word that lets the call run, not with one of several before it.
                _ => {
                    let reason = decision.reason.clone();
                    match &decision.remember {
                        Some(remember) => {
                            self.decide_and_remember(actor, &invocation, reason, remember).await?
                        }
                        None => self.runner.decide(&invocation, &actor.principal, true, reason).await,
                    }
                }
            };
            match said {
                Err(StoreError::Conflict) => invocation = self.waiting(actor, id).await?,
                Err(other) => return Err(other.into()),
                Ok(row) => return self.begin_approved(actor, row, decision.wait).await,
            }
        }
        Err(StoreError::Conflict.into())
    }

    async fn edit(
        &self,
        actor: &Actor,
        invocation: &Invocation,
        input: Value,
    ) -> Result<Invocation, AppError> {
        // Whoever may decide on what waits may not therefore decide on anything else.
        self.require_approval_of(actor, invocation, &input).await?;
        match self.runner.edit(invocation, &actor.principal, Edit { input }).await {
            Err(RunError::Store(StoreError::Conflict)) => {
                Err(AppError::Conflict { message: "the call changed while it was edited".to_owned() })
            }
            other => Ok(other?),
        }
    }

    /// How many of those who said yes could still say it.
    async fn standing_votes(&self, invocation: &Invocation) -> Result<usize, AppError> {
        let votes = invocation.review.iter().flat_map(|review| &review.votes);
        let mut standing = 0;
        for vote in votes {
            let directory = &self.runner.parts().directory;
            let voter = directory.actor(&invocation.opened.tenant, &vote.by, None, None).await?;
            if let Some(voter) = voter
                && self.require_approval(&voter, invocation).await.is_ok()
            {
                standing += 1;
            }
        }
        Ok(standing)
    }

    async fn begin_approved(
        &self,
        actor: &Actor,
        row: Invocation,
        wait: Duration,
    ) -> Result<CallResult, AppError> {
        if row.approval != Approval::Approved {
            return Ok(CallResult::of(&row));
        }
        let id = row.id();
        match self.runner.dispatch(row, actor.principal.clone(), wait).await {
            // Another worker was faster to begin it; it runs all the same.
            Err(RunError::Store(StoreError::Conflict)) => {
                let found = self.store().get(&actor.tenant, id).await?;
                Ok(CallResult::of(&found.ok_or(AppError::NotFound { what: "invocation" })?))
            }
            other => Ok(other?),
        }
    }

    /// Refuses a waiting call.
    ///
    /// # Errors
    /// As [`App::approve_invocation`].
    pub async fn reject_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        reason: String,
        digest: Option<&str>,
    ) -> Result<Invocation, AppError> {
        for _ in 0..TRIES {
            let invocation = self.waiting(actor, id).await?;
            as_seen(&invocation, digest)?;
            match self.runner.decide(&invocation, &actor.principal, false, Some(reason.clone())).await {
                Err(StoreError::Conflict) => {}
                other => return Ok(other?),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Changes the input of a waiting call without deciding on it.
    ///
    /// # Errors
    /// As [`App::approve_invocation`]; what is wrong with the input.
    pub async fn edit_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        input: Value,
        digest: Option<&str>,
    ) -> Result<Invocation, AppError> {
        let invocation = self.waiting(actor, id).await?;
        as_seen(&invocation, digest)?;
        self.edit(actor, &invocation, input).await
    }

    /// Says something about a waiting call: whoever decides asks back, whoever made it answers.
    ///
    /// # Errors
    /// "Not found" for whoever may not see the call, a conflict when it no longer waits.
    pub async fn remark_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        text: &str,
    ) -> Result<Invocation, AppError> {
        let text = bounds::description(text)?;
        if text.is_empty() {
            return Err(AppError::invalid("`text` must say something"));
        }
        self.review_step(actor, id, |review| {
            if review.remarks.len() >= Review::MAX_REMARKS {
                return Err(AppError::Conflict {
                    message: "enough has been said about this call".to_owned(),
                });
            }
            Ok(ReviewStep::Remarked { text: text.clone() })
        })
        .await
    }

    /// Takes one step of a review, for whoever may say something about the call.
    pub(crate) async fn review_step(
        &self,
        actor: &Actor,
        id: InvocationId,
        step: impl Fn(&Review) -> Result<ReviewStep, AppError>,
    ) -> Result<Invocation, AppError> {
        for _ in 0..TRIES {
            let invocation = self.read_invocation(actor, id).await?;
            self.require_say(actor, &invocation).await?;
            let Some(review) = invocation.review.as_deref().filter(|_| still_waits(&invocation)) else {
                return Err(no_longer(&invocation));
            };
            match self.runner.review(&invocation, &actor.principal, step(review)?).await {
                Err(StoreError::Conflict) => {}
                other => return Ok(other?),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// A waiting call that this person may decide on.
    pub(crate) async fn waiting(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        // Invariant: only a person decides, never the agent or service that asks.
        if actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person may decide on a call"));
        }
        self.require_approval(actor, &invocation).await?;
        if !still_waits(&invocation) {
            return Err(no_longer(&invocation));
        }
        Ok(invocation)
    }

    /// Asks whether the approval rules let this person decide: they hold one of the roles, or it was given to them, or
    /// they manage approvals.
    pub(crate) fn require_turn(&self, actor: &Actor, invocation: &Invocation) -> Result<(), AppError> {
        let Some(review) = invocation.review.as_deref() else { return Ok(()) };
        let named = review.approvers.is_empty()
            || review.approvers.iter().any(|role| actor.roles.contains(role))
            || review.assigned_to.as_ref() == Some(&actor.principal);
        if named || self.require(actor, Area::Approvals).is_ok() {
            return Ok(());
        }
        Err(AppError::Forbidden {
            message: format!("this call is decided by holders of: {}", review.approvers.join(", ")),
            rule: Some("approval rule".to_owned()),
            hint: Some("ask one of them, or have the approval rules changed".to_owned()),
        })
    }
}

fn digest_of(invocation: &Invocation) -> Option<String> {
    invocation.review.as_ref().map(|review| review.digest.clone())
}

/// Where several people must decide, whoever asks is none of them; and nobody lets themselves run from now on.
fn not_ones_own(actor: &Actor, invocation: &Invocation, remember: bool) -> Result<(), AppError> {
    let opened = &invocation.opened;
    let asks = opened.actor == actor.principal;
    let several = invocation.review.as_ref().is_some_and(|review| review.needed > 1);
    if several && (asks || opened.subject.as_ref() == Some(&actor.principal)) {
        return Err(AppError::forbidden("several people must decide, and whoever asks is none of them"));
    }
    if asks && remember {
        return Err(AppError::forbidden("nobody lets their own calls run from now on")
            .with_hint("approve this one, or have someone else give the grant"));
    }
    Ok(())
}

fn still_waits(invocation: &Invocation) -> bool {
    invocation.approval == Approval::Pending && !invocation.status.is_settled()
}

fn no_longer(invocation: &Invocation) -> AppError {
    AppError::Conflict {
        message: format!("the call is {}; it does not wait for a decision", invocation.status.as_str()),
    }
}

/// Where something is destroyed, a person types the tool's name.
fn confirmed(invocation: &Invocation, typed: Option<&str>) -> Result<(), AppError> {
    let opened = &invocation.opened;
    if opened.effect != Effect::Destructive || typed == Some(opened.tool.as_str()) {
        return Ok(());
    }
    Err(AppError::invalid("this call destroys something: confirm it with the tool's name")
        .with_hint(format!("send `confirm` with the tool's id, `{}`", opened.tool)))
}

/// What a person decides on is what they saw.
fn as_seen(invocation: &Invocation, digest: Option<&str>) -> Result<(), AppError> {
    match (invocation.review.as_deref(), digest) {
        (Some(review), Some(seen)) if review.digest != seen => Err(AppError::Conflict {
            message: "the call is not what you saw any more; look again, then decide".to_owned(),
        }),
        _ => Ok(()),
    }
}

//! Stage 7: a call that a person has to decide on, what they are shown, and what they have said beforehand.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::admit::Admitted;
use super::call::{Call, CallResult, RunError};
use super::cleared::PreviewCall;
use super::recorder::{Recorder, answer_repeat};
use super::run::Ready;
use super::{Runner, session_use};
use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::change::NewCall;
use crate::error::CallError;
use crate::id::{ConnectionId, InvocationId, PrincipalId, SessionId};
use crate::invocation::{Invocation, Step};
use crate::json::JsonText;
use crate::port::executor::{ToolContext, ToolFailure};
use crate::port::gate::{Ask, Permit, StandingGrant, Whose};
use crate::port::store::{Begun, StoreError};
use crate::review::{Preview, Review, ReviewStep};

/// How long a tool may take to look ahead.
const PREVIEW_WITHIN: Duration = Duration::from_secs(10);

/// How soon a granted call is taken up by another worker if this one dies before it begins.
const TAKE_UP: Duration = Duration::from_secs(5);

/// What a tool foresaw.
struct Foreseen {
    preview: Option<JsonText>,
    failed: Option<String>,
}

/// An input that a person would rather see run.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The input.
    pub input: Value,
}

impl Runner {
    /// Parks a call until a person decides.
    pub(super) async fn park(
        &self,
        call: &Call,
        digest: String,
        labels: &[String],
        admitted: &Admitted,
        reason: String,
    ) -> Result<CallResult, RunError> {
        let opened = self.opened(call, digest.clone(), admitted, true);
        let session = opened.session;
        let foreseen = self.foresee(&admitted.tool, &admitted.input, &call.actor, opened.id, session).await;
        let asked = self.asked(call, labels, admitted, reason, foreseen);
        match self.open(call, opened, &[asked]).await {
            Ok(Begun::Fresh(row)) => Ok(CallResult::of(&row)),
            Ok(Begun::Repeat(first)) => answer_repeat(&first, &digest),
            Err(cause) => Err(RunError::store(cause, session)),
        }
    }

    fn asked(
        &self,
        call: &Call,
        labels: &[String],
        admitted: &Admitted,
        reason: String,
        foreseen: Foreseen,
    ) -> Step {
        let now = self.0.clock.now();
        let terms = self.0.policy.review_terms(&self.ask(call, &admitted.tool, labels));
        let deadline = now.plus(terms.expires_after.unwrap_or(self.0.settings.approval_deadline));
        let escalate_at = terms.escalate_after.map(|after| now.plus(after)).filter(|at| *at < deadline);
        let contract = &admitted.tool.contract;
        let digest = Review::digest_of(
            &contract.id,
            Some(&admitted.tool.version),
            &admitted.input,
            admitted.connection,
            foreseen.preview.as_ref(),
        );
        let review = Review {
            digest,
            preview: foreseen.preview,
            preview_failed: foreseen.failed,
            connection: admitted.connection,
            needed: terms.needed.max(1),
            approvers: terms.approvers,
            escalate_at,
            escalate_to: terms.escalate_to,
            deadline,
            assigned_to: None,
            assigned_role: None,
            votes: Vec::new(),
            remarks: Vec::new(),
            input: None,
        };
        Step::NeedsApproval { reason, deadline, review: Some(Box::new(review)) }
    }

    /// The standing word of a person that covers this call. It stands for as long as that person could give it now.
    pub(super) async fn grant_for(
        &self,
        call: &Call,
        labels: &[String],
        admitted: &Admitted,
    ) -> Result<Option<StandingGrant>, StoreError> {
        let ask = self.ask(call, &admitted.tool, labels);
        let Some(grant) = self.0.policy.standing_grant(&ask, &admitted.input) else { return Ok(None) };
        let Some(giver) = self.0.directory.actor(&call.actor.tenant, &grant.by, None, None).await? else {
            return Ok(None);
        };
        let whose = Whose {
            own: grant.by == call.actor.principal,
            for_me: call.actor.subject_id() == Some(&grant.by),
        };
        let as_giver = Ask { actor: &giver, ..ask };
        let terms = self.0.policy.review_terms(&ask);
        let turn =
            terms.approvers.is_empty() || terms.approvers.iter().any(|role| giver.roles.contains(role));
        let decision = self.0.policy.decide_approval(&as_giver, whose, &admitted.input);
        Ok((turn && decision.verdict.permits()).then_some(grant))
    }

    /// Runs a call that a person let run beforehand. It is asked for and approved in the record, as any other.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call on its way")]
    pub(super) async fn run_granted(
        &self,
        call: Call,
        digest: String,
        mut admitted: Admitted,
        reason: String,
        grant: StandingGrant,
        permit: Permit,
        until: Instant,
    ) -> Result<CallResult, RunError> {
        admitted.decision.rule = Arc::clone(&grant.rule);
        let opened = self.opened(&call, digest.clone(), &admitted, true);
        let session = opened.session;
        let now = self.0.clock.now();
        let asked = self.asked(&call, &[], &admitted, reason, Foreseen { preview: None, failed: None });
        let approved = Step::Approved { reason: Some(grant.rule.to_string()) };
        let new = NewCall::open_approved(opened, &asked, &approved, &grant.by, now, session_use(&call))
            .map_err(|illegal| RunError::Store(StoreError::Refused(illegal.to_string())))?
            .due(now.plus(TAKE_UP));
        let row = match self.0.store.begin(new).await {
            Ok(Begun::Fresh(row)) => row,
            Ok(Begun::Repeat(first)) => return answer_repeat(&first, &digest),
            Err(cause) => return Err(RunError::store(cause, session)),
        };
        self.announce(&row);
        let ready = Ready {
            id: row.id(),
            session,
            tool: admitted.tool,
            input: admitted.input,
            connection: admitted.connection,
            rule: admitted.decision.rule.to_string(),
            permit,
            recorder: Arc::new(
                Recorder::resume(self.clone(), row, call.actor.principal.clone()).watched(call.watch),
            ),
            actor: call.actor,
            key: call.key,
            start_first: true,
        };
        self.launch(ready, until).await
    }

    /// Asks the tool what a call would do. Whatever goes wrong here, a person can still decide without it.
    async fn foresee(
        &self,
        tool: &BoundTool,
        input: &Value,
        actor: &Actor,
        call_id: InvocationId,
        session: SessionId,
    ) -> Foreseen {
        let Ok(capabilities) = self.capabilities_for(tool, &actor.tenant, input) else {
            return Foreseen { preview: None, failed: None };
        };
        let context = ToolContext {
            call_id,
            session,
            actor: actor.clone(),
            capabilities,
            cancelled: CancellationToken::new(),
            progress: None,
            asker: None,
            cost_micros: Arc::default(),
        };
        let call = PreviewCall::new(input.clone(), context);
        let looking = AssertUnwindSafe(tool.executor.dry_run(call)).catch_unwind();
        let foreseen = match tokio::time::timeout(PREVIEW_WITHIN, looking).await {
            Err(_) => Err("looking ahead took too long".to_owned()),
            Ok(Err(_)) => Err("looking ahead broke off".to_owned()),
            Ok(Ok(Err(ToolFailure::Failed { message, .. }))) => Err(message),
            Ok(Ok(Err(ToolFailure::Coded(error) | ToolFailure::Lost(error)))) => Err(error.message),
            Ok(Ok(Err(ToolFailure::Cancelled | ToolFailure::HandedOn { .. }))) => {
                Err("looking ahead was broken off".to_owned())
            }
            Ok(Ok(Ok(preview))) => Ok(preview),
        };
        match foreseen.and_then(|preview| preview.map(bounded).transpose()) {
            Ok(preview) => Foreseen { preview, failed: None },
            Err(failed) => Foreseen { preview: None, failed: Some(failed) },
        }
    }

    /// Changes the input of a waiting call on the word of `by`: checked, decided and previewed as if the caller had sent
    /// it. What was said of the earlier input no longer counts.
    ///
    /// # Errors
    /// [`RunError::Refused`] when the caller could not have made this call; a conflict when it no longer waits.
    pub async fn edit(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        edit: Edit,
    ) -> Result<Invocation, RunError> {
        let opened = &invocation.opened;
        let connection = connection_of(invocation);
        let Some((call, labels)) = self.call_again(invocation, edit.input, Duration::ZERO).await? else {
            return Err(RunError::Refused(caller_gone()));
        };
        let admitted =
            self.admit(&call, &labels).await.map_err(|stopped| RunError::Refused(stopped.error))?;
        let files = self.check_files(&call, &admitted).await.map_err(RunError::Store)?;
        files.map_err(|stopped| RunError::Refused(stopped.error))?;
        let foreseen =
            self.foresee(&admitted.tool, &admitted.input, &call.actor, invocation.id(), opened.session).await;
        let digest = Review::digest_of(
            &admitted.tool.contract.id,
            Some(&admitted.tool.version),
            &admitted.input,
            connection,
            foreseen.preview.as_ref(),
        );
        if opened.tool_version.as_ref() != Some(&admitted.tool.version) {
            return Err(RunError::Refused(super::recover::tool_changed()));
        }
        let step = ReviewStep::Edited {
            input: JsonText::from_value(&admitted.input),
            preview: foreseen.preview,
            preview_failed: foreseen.failed,
            digest,
        };
        self.review(invocation, by, step).await.map_err(RunError::Store)
    }

    /// Takes a step of a review, short of a decision.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the call no longer waits.
    pub async fn review(
        &self,
        invocation: &Invocation,
        by: &PrincipalId,
        step: ReviewStep,
    ) -> Result<Invocation, StoreError> {
        self.step(invocation, by, &Step::ReviewChanged { step }).await
    }
}

/// The connection a waiting call asked for.
pub(super) fn connection_of(invocation: &Invocation) -> Option<ConnectionId> {
    invocation.review.as_ref().and_then(|review| review.connection)
}

pub(super) fn caller_gone() -> CallError {
    CallError::new(crate::error::ErrorCode::AuthzDenied, "the caller may no longer act here")
}

fn bounded(preview: Preview) -> Result<JsonText, String> {
    let text = JsonText::from_serialize(&preview).map_err(|_| "the preview has no JSON form".to_owned())?;
    if text.as_str().len() > Preview::MAX_BYTES {
        return Err(format!("the preview is larger than {} bytes", Preview::MAX_BYTES));
    }
    Ok(text)
}

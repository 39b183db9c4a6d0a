//! Who may decide on a waiting call, and who has a say in any.

use serde_json::Value;
use toolgate_core::id::PrincipalKind;
use toolgate_core::port::gate::{Ask, Whose};
use toolgate_core::{Actor, Approval, Invocation};

use crate::{App, AppError};

impl App {
    /// Asks policy whether this person may decide on this call.
    pub(crate) async fn require_approval(
        &self,
        actor: &Actor,
        invocation: &Invocation,
    ) -> Result<(), AppError> {
        self.require_approval_of(actor, invocation, &invocation.input().to_value()).await
    }

    /// The same for another input than the one that waits.
    pub(crate) async fn require_approval_of(
        &self,
        actor: &Actor,
        invocation: &Invocation,
        input: &Value,
    ) -> Result<(), AppError> {
        let narrowed = actor.scopes.narrow_tools() && !self.within_reach(actor, invocation);
        if !actor.scopes.may_approve() || narrowed {
            return Err(AppError::Forbidden {
                message: "this key's scopes do not let it decide on calls".to_owned(),
                rule: Some("key scopes".to_owned()),
                hint: Some("use a key with the scope `approve`, or one without scopes".to_owned()),
            });
        }
        let opened = &invocation.opened;
        let parts = self.runner.parts();
        let catalog = parts.tools.of(&actor.tenant);
        // A tool that is gone can't be approved; its calls can be cancelled.
        let tool = catalog.get(&opened.tool).ok_or_else(|| AppError::Conflict {
            message: format!("the tool `{}` is no longer there; the call can only be cancelled", opened.tool),
        })?;
        let whose = Whose {
            own: opened.actor == actor.principal,
            for_me: opened.subject.as_ref() == Some(&actor.principal),
        };
        let labels = self.labels_of(invocation).await?;
        let ask = Ask { session: Some(opened.session), labels: &labels, ..self.ask(actor, tool) };
        let decision = parts.policy.decide_approval(&ask, whose, input);
        if decision.verdict.permits() {
            return self.require_turn(actor, invocation);
        }
        Err(AppError::Forbidden {
            message: decision.reason,
            rule: Some(decision.rule.to_string()),
            hint: decision.hint,
        })
    }

    /// Asks whether this caller has a say in this call, beside seeing it: it is theirs and within reach of their
    /// credential, or they may decide on it.
    pub(crate) async fn require_say(&self, actor: &Actor, invocation: &Invocation) -> Result<(), AppError> {
        let opened = &invocation.opened;
        let theirs = actor.may_see(&opened.tenant, &opened.actor, opened.subject.as_ref());
        if theirs && self.within_reach(actor, invocation) {
            return Ok(());
        }
        self.require_approval(actor, invocation).await
    }

    /// Whether a call is of a tool that this credential may call. A key for one tool has no business with another's
    /// calls, be they its own principal's.
    pub(crate) fn within_reach(&self, actor: &Actor, invocation: &Invocation) -> bool {
        if actor.scopes.is_all() {
            return true;
        }
        let catalog = self.runner.parts().tools.of(&actor.tenant);
        catalog.get(&invocation.opened.tool).is_some_and(|tool| actor.scopes.reach(&tool.contract))
    }

    /// What policy knows the call's session by; looked up only where policy asks.
    async fn labels_of(&self, invocation: &Invocation) -> Result<Vec<String>, AppError> {
        let opened = &invocation.opened;
        if !self.runner.parts().policy.reads_labels(&opened.tenant) {
            return Ok(Vec::new());
        }
        let session = self.store().session(&opened.tenant, opened.session).await?;
        Ok(session.map(|session| session.labels).unwrap_or_default())
    }

    /// Whether this person may decide on this waiting call.
    pub(crate) async fn may_approve(&self, actor: &Actor, invocation: &Invocation) -> bool {
        invocation.approval == Approval::Pending && self.decides_on(actor, invocation).await
    }

    /// Whether this person decides on such calls, and therefore sees this one, before and after it was decided.
    pub(crate) async fn decides_on(&self, actor: &Actor, invocation: &Invocation) -> bool {
        actor.tenant == invocation.opened.tenant
            && actor.principal.kind() == PrincipalKind::User
            && invocation.approval != Approval::NotRequired
            && self.require_approval(actor, invocation).await.is_ok()
    }
}

//! Results of calls that were handed on: reported by call id, or once by a callback address.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;
use toolgate_core::id::{InvocationId, SessionId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::runner::{Late, Report, Reported, RunError};
use toolgate_core::{Actor, Invocation, JsonText, Status};

use crate::attempts::address_bucket;
use crate::secret::Secret;
use crate::{App, AppError, hash_key};

const PURPOSE: &str = "callback";
/// The longest sentence on what went wrong.
const MAX_MESSAGE: usize = 2_000;

impl App {
    /// Takes the result of a call in this run from whoever made the call, or those it was made for.
    ///
    /// # Errors
    /// "Not found" for a call of another run or another's; what is wrong with the result.
    pub async fn report_result(
        &self,
        actor: &Actor,
        run: SessionId,
        id: InvocationId,
        report: Report,
    ) -> Result<Reported, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        let opened = &invocation.opened;
        let theirs = actor.may_see(&opened.tenant, &opened.actor, opened.subject.as_ref());
        if opened.session != run || !theirs || !self.within_reach(actor, &invocation) {
            return Err(AppError::NotFound { what: "invocation" });
        }
        check(&report)?;
        self.takes_results(&invocation)?;
        Ok(self.runner.report(invocation, &actor.principal, &report, Late::Kept).await?)
    }

    /// Whether a call gets its result from outside: one that runs here does not, and one that a person has not let
    /// run does not yet.
    fn takes_results(&self, invocation: &Invocation) -> Result<(), AppError> {
        let catalog = self.runner.parts().tools.of(&invocation.opened.tenant);
        let handed_on = catalog
            .get(&invocation.opened.tool)
            .is_some_and(|tool| tool.contract.execution.waits().is_some());
        let begun = !matches!(
            invocation.status,
            Status::Pending | Status::Running | Status::Rejected | Status::InDoubt
        );
        if handed_on && begun {
            return Ok(());
        }
        Err(AppError::Conflict {
            message: format!(
                "the call is {}; it does not wait for a result from outside",
                invocation.status.as_str()
            ),
        })
    }

    /// Whether this caller may make links for this call: it is their own or made in their name, or they administer.
    #[must_use]
    pub fn may_make_links(&self, actor: &Actor, invocation: &Invocation) -> bool {
        let opened = &invocation.opened;
        actor.may_see(&opened.tenant, &opened.actor, opened.subject.as_ref())
            && self.within_reach(actor, invocation)
    }

    /// New secrets for a waiting call of one's own, for whoever never got the first: callback and share link.
    ///
    /// # Errors
    /// "Not found" for a call that is not the caller's, a conflict for one that waits for nothing outside.
    pub async fn links_of(
        &self,
        actor: &Actor,
        id: InvocationId,
    ) -> Result<(Option<String>, Option<String>), AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        if !self.may_make_links(actor, &invocation) {
            return Err(AppError::NotFound { what: "invocation" });
        }
        // A call whose server asks something waits by the question below it.
        let asks = self.question_of(&invocation).await?.map_or(id, |question| question.id());
        let links = (
            self.callback_for(&actor.tenant, id).await?,
            self.share_input_request(&actor.tenant, asks).await?,
        );
        if links == (None, None) {
            return Err(AppError::Conflict {
                message: format!("the call is {}; it waits for nothing outside", invocation.status.as_str()),
            });
        }
        Ok(links)
    }

    /// A secret with which the result of this call can be reported once, by whoever has it. None for a call that does not
    /// wait for one.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn callback_for(
        &self,
        tenant: &TenantId,
        id: InvocationId,
    ) -> Result<Option<String>, AppError> {
        let found = self.store().get(tenant, id).await?;
        let Some(row) = found.filter(|row| self.takes_results(row).is_ok()) else { return Ok(None) };
        if row.status != Status::Waiting {
            return Ok(None);
        }
        let secret = Secret::generate()?;
        let token = OneTimeToken {
            hash: hash_key(secret.reveal()),
            purpose: PURPOSE.to_owned(),
            tenant: tenant.clone(),
            principal: Some(row.opened.actor.clone()),
            data: JsonText::from_value(&json!({ "call": id })),
            expires_at: row.due_at.unwrap_or_else(|| self.now().plus(Duration::from_secs(3600))),
        };
        self.store().put_token(token, self.now()).await?;
        Ok(Some(secret.reveal().to_owned()))
    }

    /// Takes the result that came to a callback address. The address works once; a result that does not fit leaves it
    /// open, to be mended and sent again.
    ///
    /// # Errors
    /// The same for an address that never was, was used or has run out; what is wrong with the result.
    pub async fn report_by_callback(
        &self,
        secret: &str,
        report: Report,
        peer: IpAddr,
    ) -> Result<Reported, AppError> {
        check(&report)?;
        let (hash, bucket) = (hash_key(secret), address_bucket(peer));
        self.entrance.addresses.take(&bucket)?;
        let token = self.store().read_token(&hash, PURPOSE, self.now()).await?;
        let token = token.ok_or(AppError::TokenInvalid)?;
        self.entrance.addresses.give_back(&bucket);
        let id: Option<InvocationId> = token.data.to_value()["call"].as_str().and_then(|id| id.parse().ok());
        let found = self.store().get(&token.tenant, id.ok_or(AppError::TokenInvalid)?).await?;
        let invocation: Invocation = found.ok_or(AppError::TokenInvalid)?;
        let opened = &invocation.opened;
        // Whoever called must still be allowed in: the tenant is on, they are, and so is their key.
        let directory = &self.runner.parts().directory;
        let known =
            directory.actor(&token.tenant, &opened.actor, opened.subject.as_ref(), opened.key).await?;
        let by = known.ok_or(AppError::TokenInvalid)?.principal;
        // The call's own state makes it once: what is written is written, whatever becomes of the address.
        match self.runner.report(invocation, &by, &report, Late::Refused).await {
            Err(RunError::Store(StoreError::Conflict)) => Err(AppError::TokenInvalid),
            Err(other) => Err(other.into()),
            Ok(reported) => {
                self.store().take_token(&hash, PURPOSE, self.now()).await?;
                Ok(reported)
            }
        }
    }
}

fn check(report: &Report) -> Result<(), AppError> {
    match report {
        Report::Failed { message } if message.chars().count() > MAX_MESSAGE || message.contains('\0') => {
            Err(AppError::invalid(format!(
                "`error` must have at most {MAX_MESSAGE} characters, none of them NUL"
            )))
        }
        Report::Completed { cost_micros: Some(cost), .. } if *cost < 0 => {
            Err(AppError::invalid("`cost_micros` can't be less than nothing"))
        }
        Report::Failed { .. } | Report::Completed { .. } => Ok(()),
    }
}

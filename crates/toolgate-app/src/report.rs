//! Results of calls that were handed on: reported by call id, or once by a callback address.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;
use toolgate_core::id::{InvocationId, SessionId, TenantId};
use toolgate_core::principal::OneTimeToken;
use toolgate_core::runner::{Report, Reported};
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
        Ok(self.runner.report(invocation, &actor.principal, &report).await?)
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
        let Some(token) = self.store().take_token(&hash, PURPOSE, self.now()).await? else {
            return Err(AppError::TokenInvalid);
        };
        self.entrance.addresses.give_back(&bucket);
        let call = serde_json::from_str::<serde_json::Value>(token.data.as_str()).unwrap_or_default();
        let id: Option<InvocationId> = call["call"].as_str().and_then(|id| id.parse().ok());
        let (Some(id), Some(by)) = (id, token.principal.clone()) else { return Err(AppError::TokenInvalid) };
        // Tools and policies of the tenant may not be in memory here.
        self.snapshots.load(&token.tenant).await?;
        let found = self.store().get(&token.tenant, id).await?;
        let invocation: Invocation = found.ok_or(AppError::TokenInvalid)?;
        match self.runner.report(invocation, &by, &report).await {
            Ok(reported) => Ok(reported),
            Err(cause) => {
                self.store().put_token(token, self.now()).await?;
                Err(cause.into())
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

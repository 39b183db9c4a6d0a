//! Questions put to people by a link: made with the call, shown to whoever has the link, answered once.

use std::net::IpAddr;

use serde_json::{Value, json};
use toolgate_core::id::{InvocationId, TenantId};
use toolgate_core::input_request::{InputRequest, TOOL};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::runner::{Late, Report, RunError};
use toolgate_core::{Invocation, JsonText, Status, Timestamp};

use crate::attempts::address_bucket;
use crate::secret::Secret;
use crate::{App, AppError, hash_key};

const PURPOSE: &str = "input_request";

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// What is asked.
    pub request: InputRequest,
    /// Until when it can be answered.
    pub expires_at: Timestamp,
    /// The MCP server whose words these are, where one asks.
    pub server: Option<String>,
}

impl App {
    /// The secret of the link to a question that was just asked; none for any other call.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn share_input_request(
        &self,
        tenant: &TenantId,
        id: InvocationId,
    ) -> Result<Option<String>, AppError> {
        let found = self.store().get(tenant, id).await?;
        let Some(row) = found.filter(|row| row.status == Status::Waiting && row.opened.tool.as_str() == TOOL)
        else {
            return Ok(None);
        };
        let Some(expires_at) = row.due_at else { return Ok(None) };
        let secret = Secret::generate()?;
        let token = OneTimeToken {
            hash: hash_key(secret.reveal()),
            purpose: PURPOSE.to_owned(),
            tenant: tenant.clone(),
            principal: Some(row.opened.actor.clone()),
            data: JsonText::from_value(&json!({ "call": id })),
            expires_at,
        };
        self.store().put_token(token, self.now()).await?;
        Ok(Some(secret.reveal().to_owned()))
    }

    /// What a link asks. Looking uses nothing up.
    ///
    /// # Errors
    /// The same for a link that never was, was answered or has run out.
    pub async fn read_input_request(&self, secret: &str, peer: IpAddr) -> Result<OpenRequest, AppError> {
        let (token, row) = self.open_request(secret, peer).await?;
        let server = self.server_behind(&row).await?;
        Ok(OpenRequest { request: request_of(&row)?, expires_at: token.expires_at, server })
    }

    /// Takes the answer to a link, once. Token, tenant, permission, single use and schema are checked in this order, and
    /// each closes the door by itself.
    ///
    /// # Errors
    /// As [`App::read_input_request`]; what does not fit about the answer, which can then be mended.
    pub async fn answer_input_request(
        &self,
        secret: &str,
        answer: &Value,
        peer: IpAddr,
    ) -> Result<(), AppError> {
        let (token, row) = self.open_request(secret, peer).await?;
        let answers = request_of(&row)?.answer(answer).map_err(AppError::invalid)?;
        let by = row.opened.subject.clone().unwrap_or_else(|| row.opened.actor.clone());
        let report = Report::Completed {
            result: json!({ "kind": "input_request", "answers": answers }),
            cost_micros: None,
        };
        // The call's own state makes it once: what is written is written, whatever becomes of the link.
        match self.runner.report(row, &by, &report, Late::Refused).await {
            Err(RunError::Store(StoreError::Conflict)) => Err(AppError::TokenInvalid),
            Err(other) => Err(other.into()),
            Ok(_) => {
                self.store().take_token(&token.hash, PURPOSE, self.now()).await?;
                Ok(())
            }
        }
    }

    /// Refuses to answer a link, once. Only a server's question can be refused so: it is told, and goes on as it likes.
    ///
    /// # Errors
    /// As [`App::read_input_request`]; a conflict for a question of anyone else's.
    pub async fn decline_input_request(&self, secret: &str, peer: IpAddr) -> Result<(), AppError> {
        let (token, row) = self.open_request(secret, peer).await?;
        let by = row.opened.subject.clone().unwrap_or_else(|| row.opened.actor.clone());
        self.decline(&row, &by).await?;
        self.store().take_token(&token.hash, PURPOSE, self.now()).await?;
        Ok(())
    }

    async fn open_request(&self, secret: &str, peer: IpAddr) -> Result<(OneTimeToken, Invocation), AppError> {
        let bucket = address_bucket(peer);
        // Links can't be guessed; asking for many costs, all the same.
        self.entrance.links.take(&bucket)?;
        let token = self.store().read_token(&hash_key(secret), PURPOSE, self.now()).await?;
        let token = token.ok_or(AppError::TokenInvalid)?;
        self.entrance.links.give_back(&bucket);
        let call: Value = token.data.to_value();
        let id: InvocationId =
            call["call"].as_str().and_then(|id| id.parse().ok()).ok_or(AppError::TokenInvalid)?;
        let row = self.store().get(&token.tenant, id).await?.ok_or(AppError::TokenInvalid)?;
        let opened = &row.opened;
        // Whoever asked must still be allowed to: the tenant is on, they are, and so is their key.
        let directory = &self.runner.parts().directory;
        let asking =
            directory.actor(&token.tenant, &opened.actor, opened.subject.as_ref(), opened.key).await?;
        let asking = asking.ok_or(AppError::TokenInvalid)?;
        let catalog = self.runner.parts().tools.of(&token.tenant);
        let tool = catalog.get(&opened.tool).ok_or(AppError::TokenInvalid)?;
        let permitted = self.runner.parts().permit(&self.ask(&asking, tool)).is_ok();
        if !permitted || row.status != Status::Waiting || !self.is_waited_for(&row).await? {
            return Err(AppError::TokenInvalid);
        }
        Ok((token, row))
    }
}

pub(crate) fn request_of(row: &Invocation) -> Result<InputRequest, AppError> {
    serde_json::from_str(row.input().as_str()).map_err(|_| AppError::TokenInvalid)
}

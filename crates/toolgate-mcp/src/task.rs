//! Tasks: calls that go on after the answer. A task is its call, under the same id, and so outlives every restart.

use serde_json::{Map, Value, json};
use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::{Actor, Approval, CallResult, Invocation, Status, Timestamp};

use crate::capability::TASKS;
use crate::conformance::{self, Output};
use crate::content;
use crate::exchange::Exchange;
use crate::form;
use crate::gate::{McpGate, text};
use crate::pending::{ANSWER, DECISION};
use crate::plane::{PlaneError, Selection};
use crate::question::{Said, declined, verdict};
use crate::result::ResultText;
use crate::rpc_error::RpcError;

/// How often it makes sense to ask.
const POLL_MS: u64 = 1000;

impl McpGate {
    /// Hands the client a task instead of a result.
    pub(crate) async fn create_task(&self, x: &Exchange<'_>, call: InvocationId) -> Result<String, RpcError> {
        let invocation = self.plane.read(x.actor, call).await?;
        let mut result = ResultText::of_type(x.client, "task");
        let status = match invocation.status {
            Status::Pending | Status::Waiting | Status::Running
                if self.asks(x, &invocation).await.is_some() =>
            {
                "input_required"
            }
            _ => "working",
        };
        for (key, value) in facts(&invocation, status) {
            result.field(&key, &value);
        }
        let said = match self.link_of_question(x, &invocation).await? {
            Some(link) => Some(format!("its MCP server asks a person, who answers here: {link}")),
            None => said_of(x, &invocation),
        };
        if let Some(said) = said {
            result.field("statusMessage", &said);
        }
        result.meta(content::CALL_ID, &call);
        Ok(result.finish())
    }

    /// `tasks/get`.
    pub(crate) async fn task(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let invocation = self.task_of(x, params).await?;
        let mut result = ResultText::complete(x.client);
        for (key, value) in self.detailed(x, &invocation).await {
            result.field(&key, &value);
        }
        Ok(result.finish())
    }

    /// A task with everything that its status brings along.
    pub(crate) async fn detailed(&self, x: &Exchange<'_>, invocation: &Invocation) -> Map<String, Value> {
        if invocation.status == Status::Cancelled {
            return facts(invocation, "cancelled");
        }
        if invocation.status.is_settled() {
            return self.ended(x, invocation);
        }
        if let Some(requests) = self.asks(x, invocation).await {
            let mut task = facts(invocation, "input_required");
            task.insert("inputRequests".to_owned(), Value::Object(requests));
            return task;
        }
        let mut task = facts(invocation, "working");
        if let Some(said) = said_of(x, invocation) {
            task.insert("statusMessage".to_owned(), said.into());
        }
        task
    }

    fn ended(&self, x: &Exchange<'_>, invocation: &Invocation) -> Map<String, Value> {
        let mut result = CallResult::of(invocation);
        result.error = result.error.map(|error| error.seen_from(x.base));
        let shown = match self.fixtures.as_ref().map(|_| Output::of(&result)) {
            Some(Output::Error(error)) => {
                let mut task = facts(invocation, "failed");
                let error = json!({ "code": error.code, "message": error.message });
                task.insert("error".to_owned(), error);
                return task;
            }
            Some(Output::Result(body)) => conformance::shown(x.client, &body),
            _ => content::settled(x.client, &result),
        };
        let mut task = facts(invocation, "completed");
        task.insert("result".to_owned(), serde_json::from_str(&shown).unwrap_or_default());
        task
    }

    /// `tasks/update`.
    pub(crate) async fn update_task(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let invocation = self.task_of(x, params).await?;
        let Some(responses) = params.get("inputResponses").and_then(Value::as_object) else {
            return Err(RpcError::invalid_params("`inputResponses` must be an object"));
        };
        let call = invocation.id();
        if let Some(fixtures) = &self.fixtures {
            fixtures.inputs.answer(&call.to_string(), responses);
        } else if let Some(decision) = responses.get(&key(DECISION, &invocation)) {
            let digest = invocation.review.as_ref().map(|review| review.digest.clone());
            let verdict = match Said::of(Some(decision)) {
                Said::Accepted(content) => verdict(content, digest, std::time::Duration::ZERO),
                Said::Declined => Some(declined(digest)),
                Said::PutOff => None,
            };
            if let Some(verdict) = verdict.filter(|_| invocation.approval == Approval::Pending)
                && self.plane.may_confirm(x.actor, &invocation).await
            {
                self.plane.decide(x.actor, call, verdict).await?;
            }
        } else if let Some(Said::Accepted(content)) =
            responses.get(&key(ANSWER, &invocation)).map(|answer| Said::of(Some(answer)))
            && invocation.status == Status::Waiting
        {
            self.plane.answer(x.actor, call, &Value::Object(content.clone())).await?;
        } else if let Some(question) = self.plane.question_of(&invocation).await?
            && let Some(answer) = responses.get(&question_key(&question))
        {
            match Said::of(Some(answer)) {
                Said::Accepted(content) => {
                    let answers = Value::Object(content.clone());
                    self.plane.answer(x.actor, question.id(), &answers).await?;
                }
                Said::Declined => self.plane.decline(x.actor, question.id()).await?,
                Said::PutOff => {}
            }
        }
        Ok(ResultText::complete(x.client).finish())
    }

    /// `tasks/cancel`.
    pub(crate) async fn cancel_task(
        &self,
        x: &Exchange<'_>,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let invocation = self.task_of(x, params).await?;
        if !invocation.status.is_settled() {
            // It may settle in between; a wish that comes too late is no error.
            let _ = self.plane.cancel(x.actor, invocation.id()).await;
        }
        Ok(ResultText::complete(x.client).finish())
    }

    /// The task that a request names. Only whoever made the call has it as a task.
    async fn task_of(&self, x: &Exchange<'_>, params: &Map<String, Value>) -> Result<Invocation, RpcError> {
        if !x.client.capabilities.tasks {
            return Err(RpcError::missing_capability(json!({ "extensions": { TASKS: {} } })));
        }
        let id = text(params, "taskId")?.parse().ok();
        let found = match id {
            Some(id) => self.own_call(x, id).await,
            None => None,
        };
        found.ok_or_else(|| {
            let hint = "check the id; what belongs to someone else is not shown either";
            RpcError::coded(RpcError::INVALID_PARAMS, "not_found", "there is no such task", hint)
        })
    }

    /// A call that this very caller made.
    pub(crate) async fn own_call(&self, x: &Exchange<'_>, id: InvocationId) -> Option<Invocation> {
        let invocation = match self.plane.read(x.actor, id).await {
            Ok(invocation) => invocation,
            Err(PlaneError::NotFound) => return None,
            Err(other) => {
                tracing::debug!(error = ?other, "a task could not be read");
                return None;
            }
        };
        let own = invocation.opened.acting() == x.actor.acting();
        (own && self.within(x.actor, x.selection, &invocation)).then_some(invocation)
    }

    /// Whether a call is one of the tools at this endpoint: a credential for some tools is none for the calls of others.
    pub(crate) fn within(&self, actor: &Actor, selection: &Selection, invocation: &Invocation) -> bool {
        match selection {
            Selection::Everything | Selection::Fixtures => true,
            Selection::Toolset(_) => self.plane.tool(actor, selection, &invocation.opened.tool).is_some(),
        }
    }

    /// What the client's person can be asked about this call now.
    async fn asks(&self, x: &Exchange<'_>, invocation: &Invocation) -> Option<Map<String, Value>> {
        if let Some(fixtures) = &self.fixtures {
            return Some(fixtures.inputs.pending(&invocation.id().to_string()))
                .filter(|asked| !asked.is_empty());
        }
        if !x.client.capabilities.form {
            return None;
        }
        let (key, form) = match (invocation.status, invocation.approval) {
            (Status::Pending, Approval::Pending) if self.plane.may_confirm(x.actor, invocation).await => {
                (key(DECISION, invocation), form::approval(invocation, None)?)
            }
            (Status::Waiting, _) if x.actor.principal.kind() == PrincipalKind::User => {
                self.plane.question_path(x.actor, invocation.id()).await.ok().flatten()?;
                (key(ANSWER, invocation), form::question(invocation.input(), None)?)
            }
            (Status::Running, _) if x.actor.principal.kind() == PrincipalKind::User => {
                let question = self.plane.question_of(invocation).await.ok().flatten()?;
                (question_key(&question), form::question(question.input(), None)?)
            }
            _ => return None,
        };
        let mut requests = Map::new();
        requests.insert(key, json!({ "method": "elicitation/create", "params": form }));
        Some(requests)
    }
}

/// The key of a question: another once what is asked about has changed.
fn key(name: &str, invocation: &Invocation) -> String {
    let digest = invocation.review.as_ref().map(|review| review.digest.as_str());
    format!("{name}-{}", digest.and_then(|digest| digest.get(..8)).unwrap_or("0"))
}

/// The key of what a server asks: each question has its own.
fn question_key(question: &Invocation) -> String {
    format!("{ANSWER}-{}", question.id())
}

fn said_of(x: &Exchange<'_>, invocation: &Invocation) -> Option<String> {
    match invocation.status {
        Status::Pending if invocation.approval == Approval::Pending => {
            Some(format!("waits until a person decides: {}/approvals?id={}", x.base, invocation.id()))
        }
        Status::Waiting => Some("waits for its result".to_owned()),
        _ => None,
    }
}

fn facts(invocation: &Invocation, status: &str) -> Map<String, Value> {
    let mut task = Map::new();
    let last = invocation.completed_at.or(invocation.started_at).unwrap_or(invocation.opened.created_at);
    task.insert("taskId".to_owned(), invocation.id().to_string().into());
    task.insert("status".to_owned(), status.into());
    task.insert("createdAt".to_owned(), moment(invocation.opened.created_at).into());
    task.insert("lastUpdatedAt".to_owned(), moment(last).into());
    // A call stays in the record.
    task.insert("ttlMs".to_owned(), Value::Null);
    task.insert("pollIntervalMs".to_owned(), POLL_MS.into());
    task
}

/// A moment as ISO 8601, in UTC.
fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros())
        .unwrap_or_default()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

//! Calls that wait for a person: asked through the client where it can, else told with a link.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgate_core::id::{InvocationId, ToolName};
use toolgate_core::{Approval, CallResult, Invocation, Status};

use crate::asking::{Asking, question};
use crate::call::{Asked, PATIENCE};
use crate::content::{self, CALL_ID};
use crate::exchange::Exchange;
use crate::form;
use crate::gate::McpGate;
use crate::plane::PlaneError;
use crate::question::{Said, declined, verdict};
use crate::result::ResultText;
use crate::rpc_error::RpcError;
use crate::state::RequestState;

/// The key of the one question asked about a call.
pub(crate) const DECISION: &str = "decision";
/// The key of the one question that a call asks.
pub(crate) const ANSWER: &str = "answer";

impl McpGate {
    /// A call that waits for a decision.
    pub(crate) async fn pending(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        call: InvocationId,
    ) -> Result<String, RpcError> {
        let invocation = self.plane.read(x.actor, call).await?;
        if invocation.approval != Approval::Pending {
            // Decided and about to run.
            return self.present(x, &asked.tool.contract.id, call, PATIENCE).await;
        }
        let confirms = x.client.capabilities.form && self.plane.may_confirm(x.actor, &invocation).await;
        // What does not fit into a form whole is looked at on its page.
        let form = form::approval(&invocation, None).filter(|_| confirms);
        if let Some(form) = form.clone().filter(|_| x.client.is_modern()) {
            return self.ask_about(x, asked, &invocation, DECISION, form);
        }
        if x.client.is_modern() && x.client.capabilities.tasks {
            return self.create_task(x, call).await;
        }
        if let Some(form) = form.filter(|_| x.out.is_open()) {
            return self.ask_on_stream(x, &invocation, Asking::With(form)).await;
        }
        let link = approval_link(x, call);
        if x.client.is_modern() && x.client.capabilities.url {
            return self.ask_to_open(x, asked, &invocation, &link);
        }
        let said = format!("The call of `{}` waits until a person decides on it", invocation.opened.tool);
        Ok(waits(x, "pending", call, &said, Some(&link)))
    }

    /// A call that waits for a result: a person's answer, or something outside.
    pub(crate) async fn waiting(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        call: InvocationId,
    ) -> Result<String, RpcError> {
        let invocation = self.plane.read(x.actor, call).await?;
        let path = self.plane.question_path(x.actor, call).await?;
        if let Some(form) = question(x, &invocation, path.as_deref()) {
            if x.client.is_modern() {
                return self.ask_answer(x, asked, &invocation, form);
            }
            if x.out.is_open() {
                return self.ask_on_stream(x, &invocation, Asking::With(form)).await;
            }
        }
        if x.client.is_modern() && x.client.capabilities.tasks {
            return self.create_task(x, call).await;
        }
        let link = path.map(|path| format!("{}{path}", x.base));
        if let Some(link) = link.as_deref().filter(|_| x.client.is_modern() && x.client.capabilities.url) {
            return self.ask_to_open(x, asked, &invocation, link);
        }
        let said = match &link {
            Some(_) => "The question waits until a person answers it".to_owned(),
            None => format!("The call of `{}` waits for its result from outside", invocation.opened.tool),
        };
        Ok(waits(x, "waiting", call, &said, link.as_deref()))
    }

    /// A call that takes longer than its client waits.
    pub(crate) fn goes_on(&self, x: &Exchange<'_>, call: InvocationId) -> String {
        waits(x, "running", call, "The call takes longer than you can be kept waiting; it goes on", None)
    }

    fn ask_decision(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        invocation: &Invocation,
        again: Option<&str>,
    ) -> Result<String, RpcError> {
        match form::approval(invocation, again) {
            Some(form) => self.ask_about(x, asked, invocation, DECISION, form),
            None => self.ask_to_open(x, asked, invocation, &approval_link(x, invocation.id())),
        }
    }

    fn ask_answer(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        invocation: &Invocation,
        form: Value,
    ) -> Result<String, RpcError> {
        self.ask_about(x, asked, invocation, ANSWER, form)
    }

    fn ask_to_open(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        invocation: &Invocation,
        link: &str,
    ) -> Result<String, RpcError> {
        let message = format!("`{}` waits for a person. Open the page to go on.", invocation.opened.tool);
        let form = form::address(&message, link, &invocation.id().to_string());
        self.ask_about(x, asked, invocation, DECISION, form)
    }

    fn ask_about(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        invocation: &Invocation,
        key: &str,
        form: Value,
    ) -> Result<String, RpcError> {
        let mut requests = Map::new();
        requests.insert(key.to_owned(), json!({ "method": "elicitation/create", "params": form }));
        let state = self.state_of(x, asked.digest(), invocation);
        self.input_required(x, &requests, &state)
    }

    pub(crate) fn state_of(&self, x: &Exchange<'_>, digest: String, invocation: &Invocation) -> RequestState {
        RequestState {
            call: Some(invocation.id()),
            digest: invocation.review.as_ref().map(|review| review.digest.clone()),
            ..RequestState::new(x.actor, digest, self.plane.now())
        }
    }

    /// Goes on with a call that a client brings back with its person's answer.
    pub(crate) async fn resume(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        state: &RequestState,
    ) -> Result<String, RpcError> {
        let Some(call) = state.call else { return Err(PlaneError::NotFound.into()) };
        if let Some(question) = state.question {
            return self.resume_server(x, asked, call, question).await;
        }
        let invocation = self.plane.read(x.actor, call).await?;
        let response =
            |key: &str| asked.params.get("inputResponses").and_then(|responses| responses.get(key));
        let undecided = invocation.status == Status::Pending && invocation.approval == Approval::Pending;
        // What was decided or answered before is not decided again: the client is told how the call stands.
        if undecided && x.client.capabilities.form && self.plane.may_confirm(x.actor, &invocation).await {
            let Some(response) = response(DECISION) else {
                return self.ask_decision(x, asked, &invocation, None);
            };
            let verdict = match Said::of(Some(response)) {
                Said::Accepted(content) => match verdict(content, state.digest.clone(), PATIENCE) {
                    Some(verdict) => verdict,
                    None => return self.ask_decision(x, asked, &invocation, Some("please say yes or no")),
                },
                Said::Declined => declined(state.digest.clone()),
                Said::PutOff => {
                    let said = "The person did not decide; the call waits";
                    return Ok(waits(x, "pending", call, said, Some(&approval_link(x, call))));
                }
            };
            return match self.plane.decide(x.actor, call, verdict).await {
                Ok(CallResult { asks: Some(question), .. }) => {
                    self.server_asks(x, asked, call, question, None).await
                }
                Ok(result) => self.tell_again(x, &asked.tool.contract.id, &result).await,
                Err(PlaneError::Unfit(why)) => {
                    let invocation = self.plane.read(x.actor, call).await?;
                    match invocation.approval {
                        Approval::Pending => self.ask_decision(x, asked, &invocation, Some(&why)),
                        // Someone else was faster.
                        _ => self.present(x, &asked.tool.contract.id, call, PATIENCE).await,
                    }
                }
                Err(other) => Err(other.into()),
            };
        }
        if invocation.status == Status::Waiting
            && let Some(Said::Accepted(content)) = response(ANSWER).map(|response| Said::of(Some(response)))
        {
            return match self.plane.answer(x.actor, call, &Value::Object(content.clone())).await {
                Ok(result) => self.tell_again(x, &asked.tool.contract.id, &result).await,
                Err(PlaneError::Unfit(why)) => match form::question(invocation.input(), Some(&why)) {
                    Some(form) => self.ask_answer(x, asked, &invocation, form),
                    None => Err(PlaneError::Unfit(why).into()),
                },
                Err(other) => Err(other.into()),
            };
        }
        self.present(x, &asked.tool.contract.id, call, Duration::from_secs(2)).await
    }

    /// How a call stands after a while, without asking anything more.
    async fn present(
        &self,
        x: &Exchange<'_>,
        tool: &ToolName,
        call: InvocationId,
        wait: Duration,
    ) -> Result<String, RpcError> {
        let invocation = self.plane.follow(x.actor, call, wait).await?;
        self.tell_again(x, tool, &CallResult::of(&invocation)).await
    }

    pub(crate) async fn tell_again(
        &self,
        x: &Exchange<'_>,
        tool: &ToolName,
        result: &CallResult,
    ) -> Result<String, RpcError> {
        match result.status {
            Status::Pending => {
                let said = format!("The call of `{tool}` waits until a person decides on it");
                Ok(waits(x, "pending", result.call_id, &said, Some(&approval_link(x, result.call_id))))
            }
            Status::Waiting => Ok(waits(x, "waiting", result.call_id, "The call waits for its result", None)),
            Status::Running => Ok(self.goes_on(x, result.call_id)),
            _ => {
                let error = result.error.clone().map(|error| error.seen_from(x.base));
                Ok(content::settled(x.client, &CallResult { error, ..result.clone() }))
            }
        }
    }
}

fn approval_link(x: &Exchange<'_>, call: InvocationId) -> String {
    format!("{}/approvals?id={call}", x.base)
}

/// A result that says that the outcome is still to come.
///
/// It is marked as an error because every tool here promises an output schema: clients hold a result without one
/// against it, and drop the text that says what to do.
pub(crate) fn waits(
    x: &Exchange<'_>,
    status: &str,
    call: InvocationId,
    said: &str,
    link: Option<&str>,
) -> String {
    let mut text = format!("{said}. Call id: {call}.");
    if let Some(link) = link {
        text.push_str(&format!(" A person goes on here: {link}"));
    }
    text.push_str(&format!(
        "\nDo not call the tool again. Read the resource toolgate://calls/{call} to see how it stands."
    ));
    let mut result = ResultText::complete(x.client);
    result.field("content", &json!([{ "type": "text", "text": text }]));
    result.field("isError", &true);
    let mut pending = json!({ "status": status, "call_id": call });
    if let Some(link) = link {
        pending["link"] = link.into();
    }
    result.meta("toolgate/pending", &pending);
    result.meta(CALL_ID, &call);
    result.finish()
}

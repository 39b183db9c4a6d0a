//! What an MCP server behind one of our tools asks in the middle of a call, put to the client of whoever called: the call
//! runs and waits for the answer, and goes on by itself.

use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolgate_core::id::InvocationId;
use toolgate_core::{CallResult, Invocation, Status};

use crate::asking::{Asking, question};
use crate::call::{Asked, PATIENCE};
use crate::exchange::Exchange;
use crate::form;
use crate::gate::McpGate;
use crate::pending::{ANSWER, waits};
use crate::plane::PlaneError;
use crate::question::Said;
use crate::rpc_error::RpcError;
use crate::state::RequestState;

/// How often it is looked whether a call asks something more.
const LOOK: Duration = Duration::from_millis(250);
/// How long a client that was asked on its stream is kept for the outcome.
const AFTERWARDS: Duration = Duration::from_secs(60);

impl McpGate {
    /// A call whose server asks a person something.
    pub(crate) async fn server_asks(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        call: InvocationId,
        asks: InvocationId,
        again: Option<&str>,
    ) -> Result<String, RpcError> {
        let open = self.plane.read(x.actor, asks).await?;
        let path = self.plane.question_path(x.actor, asks).await?;
        if path.is_none() {
            // It was answered meanwhile, on its page.
            return self.after_answer(x, asked, call).await;
        }
        let form = question(x, &open, path.as_deref());
        let form =
            form.and_then(|form| again.map_or(Some(form), |again| form::question(open.input(), Some(again))));
        if let Some(form) = form {
            if x.client.is_modern() {
                return self.ask_for_server(x, asked, call, asks, form);
            }
            if x.out.is_open() {
                let settled = self.put_on_stream(x, call, &open, Asking::With(form)).await?;
                return match settled.status.is_settled() {
                    true => self.after_answer(x, asked, call).await,
                    false => Ok(self.goes_on_asking(x, call, path.as_deref())),
                };
            }
        }
        if x.client.is_modern() && x.client.capabilities.tasks {
            return self.create_task(x, call).await;
        }
        Ok(self.goes_on_asking(x, call, path.as_deref()))
    }

    /// Goes on with a call that a client brings back with its person's answer to the server.
    pub(crate) async fn resume_server(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        call: InvocationId,
        asks: InvocationId,
    ) -> Result<String, RpcError> {
        let response = asked.params.get("inputResponses").and_then(|responses| responses.get(ANSWER));
        let open = self.plane.read(x.actor, asks).await?;
        // What was answered before is not answered again: the client is told how the call stands.
        if open.status != Status::Waiting {
            return self.after_answer(x, asked, call).await;
        }
        let Some(response) = response else { return self.server_asks(x, asked, call, asks, None).await };
        match Said::of(Some(response)) {
            Said::Accepted(content) => {
                match self.plane.answer(x.actor, asks, &Value::Object(content.clone())).await {
                    Ok(_) => {}
                    Err(PlaneError::Unfit(why)) => {
                        return self.server_asks(x, asked, call, asks, Some(&why)).await;
                    }
                    Err(other) => return Err(other.into()),
                }
            }
            Said::Declined => self.plane.decline(x.actor, asks).await?,
            Said::PutOff => {
                let path = self.plane.question_path(x.actor, asks).await?;
                return Ok(self.goes_on_asking(x, call, path.as_deref()));
            }
        }
        self.after_answer(x, asked, call).await
    }

    /// Where a person answers what the server of a running call asks; none where it asks nothing.
    pub(crate) async fn link_of_question(
        &self,
        x: &Exchange<'_>,
        invocation: &Invocation,
    ) -> Result<Option<String>, RpcError> {
        let Some(question) = self.plane.question_of(invocation).await? else { return Ok(None) };
        let path = self.plane.question_path(x.actor, question.id()).await?;
        Ok(path.map(|path| format!("{}{path}", x.base)))
    }

    fn ask_for_server(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        call: InvocationId,
        asks: InvocationId,
        form: Value,
    ) -> Result<String, RpcError> {
        let mut requests = Map::new();
        requests.insert(ANSWER.to_owned(), json!({ "method": "elicitation/create", "params": form }));
        let state = RequestState {
            call: Some(call),
            question: Some(asks),
            ..RequestState::new(x.actor, asked.digest(), self.plane.now())
        };
        self.input_required(x, &requests, &state)
    }

    /// Waits for what becomes of a call after an answer: its outcome, or the next question.
    fn after_answer<'a>(
        &'a self,
        x: &'a Exchange<'_>,
        asked: &'a Asked,
        call: InvocationId,
    ) -> BoxFuture<'a, Result<String, RpcError>> {
        let wait = if x.client.is_modern() { PATIENCE } else { AFTERWARDS };
        let until = Instant::now() + wait;
        async move {
            loop {
                let left = until.saturating_duration_since(Instant::now());
                let invocation = self.plane.follow(x.actor, call, left.min(LOOK)).await?;
                if let Some(question) = self.plane.question_of(&invocation).await? {
                    return self.server_asks(x, asked, call, question.id(), None).await;
                }
                if invocation.status != Status::Running || left.is_zero() || x.gone.is_cancelled() {
                    return self.tell(x, asked, &CallResult::of(&invocation)).await;
                }
            }
        }
        .boxed()
    }

    fn goes_on_asking(&self, x: &Exchange<'_>, call: InvocationId, path: Option<&str>) -> String {
        let link = path.map(|path| format!("{}{path}", x.base));
        let said =
            "The MCP server behind this tool asks a person something; the call goes on when it is answered";
        waits(x, "running", call, said, link.as_deref())
    }
}

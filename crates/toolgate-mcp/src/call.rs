//! `tools/call`: through the one path, and told as the client can take it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use toolgate_core::id::IdempotencyKey;
use toolgate_core::runner::{Watch, Watched};
use toolgate_core::{BoundTool, CallResult, Status};

use crate::conformance::Output;
use crate::content;
use crate::era::meta;
use crate::exchange::Exchange;
use crate::gate::{McpGate, text};
use crate::header;
use crate::plane::{Order, PlaneError};
use crate::report::Reports;
use crate::rpc_error::RpcError;
use crate::search_mode;
use crate::state::request_digest;

/// How long a client is kept waiting for a call. Many give up after a minute, and a call that goes on is not lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(55);
/// The longest a client may ask to be kept waiting, in seconds.
const MAX_PATIENCE: f64 = 300.0;
/// How long one is that can be handed a task.
const TASK_PATIENCE: Duration = Duration::from_secs(5);

/// A call as a client asked for it.
pub(crate) struct Asked {
    /// The tool.
    pub(crate) tool: Arc<BoundTool>,
    /// Its arguments.
    pub(crate) arguments: Value,
    /// What else came with the request.
    pub(crate) params: Map<String, Value>,
}

impl Asked {
    /// What makes two requests the same.
    pub(crate) fn digest(&self) -> String {
        request_digest("tools/call", self.tool.contract.id.as_str(), &self.arguments)
    }
}

impl McpGate {
    pub(crate) async fn call_tool(
        &self,
        x: &Exchange<'_>,
        mut params: Map<String, Value>,
    ) -> Result<String, RpcError> {
        let arguments = match params.shift_remove("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(arguments @ Value::Object(_)) => arguments,
            Some(_) => return Err(RpcError::invalid_params("`arguments` must be an object")),
        };
        let name = text(&params, "name")?;
        let searches = x.selection.searches();
        if searches && search_mode::has(name) {
            let asked = match search_mode::run(self, x, name, arguments)? {
                search_mode::Found::Result(result) => return Ok(result),
                search_mode::Found::Call { tool, arguments } => Asked { tool, arguments, params },
                search_mode::Found::Refused { tool, arguments, said } => {
                    self.plane.refuse(x.actor, tool, arguments).await?;
                    return Ok(said);
                }
            };
            return self.call_asked(x, asked).await;
        }
        let id = x.selection.id_of(name);
        // Where tools are searched for, only the three have a name of their own.
        let listed = id.as_ref().filter(|_| !searches);
        let tool = listed.and_then(|id| self.plane.tool(x.actor, x.selection, id));
        let Some(tool) = tool else {
            // Who asks for what they may not have is in the record here as at every door.
            if let Some(id) = id {
                self.plane.refuse(x.actor, id, arguments).await?;
            }
            return Err(unknown_tool(name));
        };
        if let Some(headers) = x.headers.filter(|_| x.client.is_modern()) {
            header::check_params(headers, &self.entry(x.selection, &tool).headers, &arguments)?;
        }
        self.call_asked(x, Asked { tool, arguments, params }).await
    }

    async fn call_asked(&self, x: &Exchange<'_>, asked: Asked) -> Result<String, RpcError> {
        let mut kept = None;
        if asked.params.contains_key("requestState") || asked.params.contains_key("inputResponses") {
            let state = self.brought_back(x, &asked.params, &asked.digest())?;
            if let Some(state) = &state
                && state.call.is_some()
            {
                return self.resume(x, &asked, state).await;
            }
            kept = state.and_then(|state| state.kept);
        }
        if self.fixtures.is_some() {
            return self.call_fixture(x, &asked, kept).await;
        }
        let wait = patience(x, &asked.params)?;
        let mut reports = Reports::new(&asked.params);
        match self.run(x, &asked, asked.arguments.clone(), wait, &mut reports).await {
            Ok(mut result) => {
                result.error = result.error.map(|error| error.seen_from(x.base));
                self.tell(x, &asked, &result).await
            }
            // What a model can read and act on is a result.
            Err(PlaneError::Refused(error)) => Ok(content::error_text(x.client, &error).finish()),
            Err(other) => Err(other.into()),
        }
    }

    /// Takes a call through the one path, passing on what it reports.
    pub(crate) async fn run(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        input: Value,
        wait: Duration,
        reports: &mut Reports,
    ) -> Result<CallResult, PlaneError> {
        let (sender, mut watched) = mpsc::unbounded_channel();
        let order = Order {
            tool: asked.tool.contract.id.clone(),
            input,
            idempotency_key: idempotency_key(x, &asked.params)?,
            wait,
            watch: Watch { sender, gone: x.gone.clone() },
        };
        let mut call = std::pin::pin!(self.plane.call(x.actor, order));
        let mut note = None;
        // Only who has a session can come back for the call, or call it off, elsewhere.
        let mut known: Option<BoxFuture<'_, ()>> = None;
        let result = loop {
            tokio::select! {
                biased;
                result = &mut call => break result,
                Some(told) = watched.recv() => match told {
                    Watched::Began(id) => {
                        note = self.note_open(x, id);
                        let token = reports.token().cloned();
                        known = note.as_ref().map(|_| self.become_known(x, id, token, wait).boxed());
                    }
                    Watched::Reported(chunk) => {
                        // What reports is in the record by now.
                        if let Some(note) = &note {
                            self.mark(x, note.call(), reports.token().cloned(), wait);
                        }
                        self.pass_on(x, &chunk.to_value(), reports);
                    }
                },
                () = done(&mut known), if known.is_some() => known = None,
            }
        };
        drop(note);
        while let Ok(told) = watched.try_recv() {
            if let Watched::Reported(chunk) = told {
                self.pass_on(x, &chunk.to_value(), reports);
            }
        }
        if let Ok(result) = &result {
            let spent = u64::try_from(result.tool_time.as_micros()).unwrap_or(u64::MAX);
            x.outside.fetch_add(spent, Ordering::Relaxed);
        }
        result
    }

    fn pass_on(&self, x: &Exchange<'_>, chunk: &Value, reports: &mut Reports) {
        x.out.reported();
        if self.fixtures.is_none() || !self.report_of_fixture(x, chunk, true) {
            reports.progress(x, chunk, true);
        }
    }

    /// Tells the client how a call stands.
    pub(crate) async fn tell(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        result: &CallResult,
    ) -> Result<String, RpcError> {
        if let (Status::Running, Some(question)) = (result.status, result.asks) {
            return self.server_asks(x, asked, result.call_id, question, None).await;
        }
        match result.status {
            Status::Pending => self.pending(x, asked, result.call_id).await,
            Status::Waiting => self.waiting(x, asked, result.call_id).await,
            Status::Running if x.client.capabilities.tasks && x.client.is_modern() => {
                self.create_task(x, result.call_id).await
            }
            Status::Running => Ok(self.goes_on(x, result.call_id)),
            Status::Completed
            | Status::Failed
            | Status::Rejected
            | Status::Cancelled
            | Status::Expired
            | Status::InDoubt => Ok(content::settled(x.client, result)),
        }
    }

    /// Calls a tool of the conformance suite and reads its output by the suite's conventions.
    async fn call_fixture(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        mut kept: Option<Value>,
    ) -> Result<String, RpcError> {
        let mut params = asked.params.clone();
        let mut reports = Reports::new(&params);
        loop {
            let input = self.with_context(x, asked, &params, kept.as_ref());
            let as_task = self.runs_as_task(x, asked, &params)?;
            let wait = if as_task { Duration::ZERO } else { PATIENCE };
            let result = match self.run(x, asked, input, wait, &mut reports).await {
                Err(PlaneError::Refused(error)) => return Ok(content::error_text(x.client, &error).finish()),
                other => other?,
            };
            if as_task {
                return self.create_task(x, result.call_id).await;
            }
            match Output::of(&result) {
                Output::Plain => return self.tell(x, asked, &result).await,
                Output::Error(error) => return Err(error),
                Output::Result(body) => return Ok(crate::conformance::shown(x.client, &body)),
                Output::Asks { requests, state } if x.client.is_modern() => {
                    return self.ask_client(x, &asked.digest(), &requests, state);
                }
                Output::Asks { requests, state } => {
                    let answers = self.questions.ask_all(x, &requests).await?;
                    params.insert("inputResponses".to_owned(), Value::Object(answers));
                    kept = state;
                }
            }
        }
    }
}

async fn done(work: &mut Option<BoxFuture<'_, ()>>) {
    if let Some(work) = work {
        work.await;
    }
}

/// How long to wait: what the client says, or what most clients bear.
fn patience(x: &Exchange<'_>, params: &Map<String, Value>) -> Result<Duration, RpcError> {
    match meta(params).and_then(|meta| meta.get("toolgate/wait_seconds")) {
        None if x.client.capabilities.tasks => Ok(TASK_PATIENCE),
        // Whoever wants to hear of progress stays for the end; few of them can look the call up afterwards.
        None if meta(params).is_some_and(|meta| meta.contains_key("progressToken")) => {
            Ok(Duration::from_secs_f64(MAX_PATIENCE))
        }
        None => Ok(PATIENCE),
        Some(said) => match said.as_f64() {
            Some(seconds) if (0.0..=MAX_PATIENCE).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
            _ => Err(RpcError::invalid_params("`toolgate/wait_seconds` must be from 0 to 300")),
        },
    }
}

fn idempotency_key(
    x: &Exchange<'_>,
    params: &Map<String, Value>,
) -> Result<Option<IdempotencyKey>, PlaneError> {
    let said = meta(params).and_then(|meta| meta.get("toolgate/idempotency_key"));
    let header = x.headers.and_then(|headers| header::text(headers, "idempotency-key"));
    let text = match (said, header) {
        (Some(Value::String(text)), _) => text.as_str(),
        (None, Some(text)) => text,
        (None, None) => return Ok(None),
        (Some(_), _) => return Err(PlaneError::Unfit("the idempotency key must be a text".to_owned())),
    };
    text.parse().map(Some).map_err(|_| {
        PlaneError::Unfit("the idempotency key must be 1 to 255 visible ASCII characters".to_owned())
    })
}

/// The answer to a name that is no tool's, or no tool's that this caller may see.
pub(crate) fn unknown_tool(name: &str) -> RpcError {
    let shown: String = name.chars().filter(|c| c.is_ascii_graphic()).take(128).collect();
    RpcError::coded(
        RpcError::INVALID_PARAMS,
        "unavailable",
        format!("there is no tool `{shown}` that you may call"),
        "list the tools; one that is not listed can't be called",
    )
}

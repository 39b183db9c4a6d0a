//! The conventions of the conformance suite's fixtures: tools that are told of their client, and whose output says what
//! the protocol should do next. Only behind a start flag, on a loopback address.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgate_core::CallResult;

use crate::call::Asked;
use crate::capability::TASKS;
use crate::era::Client;
use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::offering::{Offerings, TaskInputs};
use crate::report::Reports;
use crate::result::ResultText;
use crate::rpc_error::RpcError;

/// The argument by which a fixture is told of its client.
pub(crate) const INJECTED: &str = "mcp";

/// What the fixtures bring beside tools.
#[derive(Clone)]
pub struct Fixtures {
    /// Prompts, resources and completions.
    pub offerings: Arc<dyn Offerings>,
    /// What running tasks ask.
    pub inputs: Arc<dyn TaskInputs>,
}

impl std::fmt::Debug for Fixtures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fixtures").finish_non_exhaustive()
    }
}

/// What a fixture's output says.
pub(crate) enum Output {
    /// Nothing of its own: it failed, or goes on.
    Plain,
    /// An error of the protocol.
    Error(RpcError),
    /// A result.
    Result(Value),
    /// The client must answer something first.
    Asks { requests: Map<String, Value>, state: Option<Value> },
}

impl Output {
    pub(crate) fn of(result: &CallResult) -> Self {
        let Some(value) = result.value.as_ref().filter(|_| result.ok) else { return Self::Plain };
        let value = value.to_value();
        if let Some(error) = value.get("rpc_error") {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or(RpcError::INTERNAL);
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            return Self::Error(RpcError::new(code, message, error.get("data").cloned()));
        }
        if let Some(asks) = value.get("input_required") {
            let requests = asks.get("requests").and_then(Value::as_object).cloned().unwrap_or_default();
            return Self::Asks {
                requests,
                state: asks.get("state").filter(|state| !state.is_null()).cloned(),
            };
        }
        Self::Result(value)
    }
}

/// A fixture's result as the protocol has it.
pub(crate) fn shown(client: &Client, body: &Value) -> String {
    let mut result = ResultText::complete(client);
    result.field("content", body.get("content").unwrap_or(&json!([])));
    if let Some(structured) = body.get("structured").filter(|structured| !structured.is_null()) {
        result.field("structuredContent", structured);
    }
    if body.get("is_error") == Some(&Value::Bool(true)) {
        result.field("isError", &true);
    }
    result.finish()
}

impl McpGate {
    /// The arguments of a fixture, with what it is told of its client.
    pub(crate) fn with_context(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        params: &Map<String, Value>,
        kept: Option<&Value>,
    ) -> Value {
        let mut input = asked.arguments.clone();
        if property(asked).is_some()
            && let Some(fields) = input.as_object_mut()
        {
            fields.insert(INJECTED.to_owned(), x.context(params, kept));
        }
        input
    }

    /// Whether a fixture runs as a task for this client.
    pub(crate) fn runs_as_task(
        &self,
        x: &Exchange<'_>,
        asked: &Asked,
        params: &Map<String, Value>,
    ) -> Result<bool, RpcError> {
        let property = property(asked).unwrap_or_default();
        let Some(task) = property.get("x-task").and_then(Value::as_str) else { return Ok(false) };
        let able = x.client.is_modern() && x.client.capabilities.tasks;
        if !able && task == "required" {
            return Err(RpcError::missing_capability(json!({ "extensions": { TASKS: {} } })));
        }
        let input_first = property.get("x-task-after-input") == Some(&Value::Bool(true));
        Ok(able && (!input_first || params.contains_key("inputResponses")))
    }

    /// Does what a fixture's report asks for, unless it was done before; false when it is plain progress.
    pub(crate) fn report_of_fixture(&self, x: &Exchange<'_>, chunk: &Value, news: bool) -> bool {
        let (log, list) = (chunk.get("log"), chunk.get("list_changed").and_then(Value::as_str));
        let close = chunk.get("close_stream");
        match (log, list, close) {
            (None, None, None) => return false,
            _ if !news => {}
            (Some(entry), ..) => Reports::log(x, entry),
            (_, Some("tools"), _) => self.changes.send_modify(|changes| changes.tools += 1),
            (_, Some("prompts"), _) => self.changes.send_modify(|changes| changes.prompts += 1),
            (_, Some(_), _) => {}
            (_, _, Some(close)) => {
                let retry = close.get("retry_ms").and_then(Value::as_u64).unwrap_or_default();
                x.out.close(Duration::from_millis(retry));
            }
        }
        true
    }
}

fn property(asked: &Asked) -> Option<Value> {
    asked
        .tool
        .contract
        .input_schema
        .to_value()
        .pointer_mut(&format!("/properties/{INJECTED}"))
        .map(Value::take)
}

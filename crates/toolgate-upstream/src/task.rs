//! Tools that a server runs only as tasks, as the version 2025-11-25 has them: begun, asked after, fetched, cancelled.

use std::borrow::Cow;
use std::time::Duration;

use rmcp::model::{ClientRequest, CustomRequest};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::port::executor::ToolFailure;

use crate::clean::quoted;
use crate::connection::{Asked, CallFault, Connection, Order};
use crate::fault::Fault;
use crate::interaction::Interaction;

/// How long a server is asked to keep a task: as long as a call may take at the most.
const KEPT_FOR: u64 = toolgate_core::contract::Limits::MAX_TIMEOUT_MS;
/// How often a server is asked how a task does, where it wants something else or says nothing.
const SOONEST: Duration = Duration::from_millis(100);
const USUAL: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(10);
const LONGEST_ID: usize = 1_024;
const LONGEST_MESSAGE: usize = 1_024;
const SILENT: &str = "it does not say how its task does";

/// What a server says of a task.
struct Task {
    id: String,
    status: String,
    message: Option<String>,
    poll: Option<Duration>,
}

impl Task {
    fn read(task: &Value) -> Option<Self> {
        let text = |key: &str| task.get(key).and_then(Value::as_str);
        let poll = task.get("pollInterval").and_then(Value::as_u64).map(Duration::from_millis);
        Some(Self {
            id: text("taskId").filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)?.to_owned(),
            status: text("status")?.to_owned(),
            message: text("statusMessage").map(|words| quoted(words, LONGEST_MESSAGE)),
            poll: poll.map(|poll| poll.clamp(SOONEST, LATEST)),
        })
    }

    /// Whether there is nothing to wait for: it is over, or its result is how it asks something.
    fn is_ready(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled" | "input_required")
    }
}

impl Connection {
    /// Calls a tool as a task, and waits for what comes of it.
    pub(crate) async fn call_as_task(
        &self,
        order: &Order<'_>,
        interaction: Option<&std::sync::Arc<dyn Interaction>>,
    ) -> Result<Value, CallFault> {
        let params = json!({ "name": order.tool, "arguments": order.arguments, "task": { "ttl": KEPT_FOR } });
        let begun = self.request(asks("tools/call", params), order.context, &order.cancelled, interaction);
        let begun = begun.await.map_err(|error| self.failed(error))?;
        let Some(task) = begun.get("task") else {
            // It came to a result at once.
            return Ok(begun);
        };
        let task = Task::read(task).ok_or_else(|| lost(SILENT))?;
        let mut guard = Guard { peer: self.peer(), id: Some(task.id.clone()) };
        let (task, asked_to_stop) = self.settled(task, order, &mut guard).await?;
        if task.status == "cancelled" {
            if asked_to_stop {
                // Whether it had an effect before can't be known, and the runner says so.
                return std::future::pending().await;
            }
            guard.id = None;
            let message = format!("`{}` cancelled the call itself", self.name());
            let error = CallError::new(ErrorCode::UpstreamFailed, message).hint("try again later");
            return Err(CallFault::Failure(ToolFailure::Coded(Box::new(error))));
        }
        let fetch = asks("tasks/result", json!({ "taskId": task.id }));
        let result = self.request(fetch, order.context, &order.cancelled, interaction).await;
        // Of a task that is over nothing is left to cancel; of one that was lost on the way there may be.
        if result.is_ok() || task.status != "input_required" {
            guard.id = None;
        }
        let result = result.map_err(|error| match self.failed(error) {
            CallFault::Fault(Fault::NotSent(why)) => lost(why),
            other => other,
        })?;
        // Another task in the place of a result is none.
        if result.get("task").is_some() { Err(lost(SILENT)) } else { Ok(result) }
    }

    /// Asks after a task until it is over or wants something; also whether we wanted it to stop.
    async fn settled(
        &self,
        mut task: Task,
        order: &Order<'_>,
        guard: &mut Guard,
    ) -> Result<(Task, bool), CallFault> {
        let (mut asked_to_stop, mut poll, mut said) = (false, task.poll.unwrap_or(USUAL), None);
        let never = CancellationToken::new();
        loop {
            if let (Some(context), true) = (order.context, task.message != said) {
                said.clone_from(&task.message);
                // What can't be recorded is lost; the call goes on.
                let _ = context.progress(&json!({ "message": said })).await;
            }
            if task.is_ready() {
                return Ok((task, asked_to_stop));
            }
            tokio::select! {
                biased;
                () = order.cancelled.cancelled(), if !asked_to_stop => {
                    asked_to_stop = true;
                    guard.cancel();
                }
                () = tokio::time::sleep(poll) => {}
            }
            let look = asks("tasks/get", json!({ "taskId": task.id }));
            let found = self.request(look, None, &never, None).await.map_err(|error| lost(words(error)))?;
            let now = Task::read(&found).filter(|now| now.id == task.id);
            task = now.ok_or_else(|| lost(SILENT))?;
            poll = task.poll.unwrap_or(poll);
        }
    }
}

fn asks(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}

/// Once a task was begun, whatever goes wrong leaves open what it did.
fn lost(why: impl Into<String>) -> CallFault {
    CallFault::Fault(Fault::Lost(why.into()))
}

fn words(error: Asked) -> String {
    match error {
        Asked::Refused(_, words) => format!("it no longer knows its task; it says: {}", quoted(&words, 400)),
        Asked::NotSent | Asked::Bad(_) | Asked::Failed(_) | Asked::Http(_) => SILENT.to_owned(),
    }
}

/// Cancels a task at the server when its caller leaves.
struct Guard {
    peer: Peer<RoleClient>,
    id: Option<String>,
}

impl Guard {
    fn cancel(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        tokio::spawn(async move {
            // A server that is gone has nothing left to cancel, and one that does not answer is not waited for.
            let cancel = peer.send_request(asks("tasks/cancel", json!({ "taskId": id })));
            let _ = tokio::time::timeout(LATEST, cancel).await;
        });
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// A message so that the library keeps what is said of tasks in it. It knows those of a later version: of a tool it drops
/// how it wants to be run, which is noted among the tool's own notes, and whatever has notes is the result of a call to
/// it, which has no task, so notes on a task are left out.
pub(crate) fn kept_whole(message: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(message) else { return Cow::Borrowed(message) };
    let (lists, of_task) = (text.contains("\"taskSupport\""), text.contains("\"taskId\""));
    if !lists && !of_task {
        return Cow::Borrowed(message);
    }
    let Ok(mut read) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(message) };
    let Some(Value::Object(result)) = read.get_mut("result") else { return Cow::Borrowed(message) };
    let is_task = |value: Option<&Value>| value.is_some_and(|task| task["taskId"].is_string());
    if let Some(Value::Array(tools)) = result.get_mut("tools") {
        tools.iter_mut().filter(|tool| tool["execution"]["taskSupport"] == "required").for_each(note);
    } else if is_task(result.get("task")) || result.contains_key("taskId") && result.contains_key("status") {
        result.remove("_meta");
    } else {
        // A call's own result, which may hold anything and stays as it came.
        return Cow::Borrowed(message);
    }
    Cow::Owned(read.to_string().into_bytes())
}

/// Under which name among a tool's notes it says that it is run only as a task. A server that notes it itself says the
/// same of itself.
const NOTED: &str = "toolgate/as-task";

fn note(tool: &mut Value) {
    if let Value::Object(tool) = tool {
        let notes = tool.entry("_meta").or_insert_with(|| json!({}));
        // Some write nothing as `null`.
        if notes.is_null() {
            *notes = json!({});
        }
        if let Value::Object(notes) = notes {
            notes.insert(NOTED.to_owned(), Value::Bool(true));
        }
    }
}

/// Whether a tool is run only as a task.
pub(crate) fn is_only_task(tool: &Value) -> bool {
    tool.get("_meta").and_then(|notes| notes.get(NOTED)).is_some_and(|noted| *noted == true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_task_has_no_notes() {
        let check = |message: Value, kept: bool| {
            let text = message.to_string();
            let read: Value = serde_json::from_slice(&kept_whole(text.as_bytes())).unwrap();
            assert_eq!(read["result"].get("_meta").is_some(), kept, "{message}");
        };
        check(json!({ "result": { "task": { "taskId": "t" }, "_meta": { "a": 1 } } }), false);
        check(json!({ "result": { "taskId": "t", "status": "completed", "_meta": {} } }), false);
        check(
            json!({ "result": { "content": [{ "text": "\"taskId\"" }], "_meta": { "taskId": "t" } } }),
            true,
        );
    }

    #[test]
    fn how_a_tool_is_run_outlives_the_library() {
        let tools = [("required", true), ("optional", false), ("forbidden", false)];
        let tool =
            |word: &str| json!({ "name": word, "execution": { "taskSupport": word }, "_meta": { "a": 1 } });
        let mut tools_of = tools.iter().map(|(word, _)| tool(word)).collect::<Vec<_>>();
        tools_of[0]["_meta"] = Value::Null;
        let text = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools_of } }).to_string();
        let read: Value = serde_json::from_slice(&kept_whole(text.as_bytes())).unwrap();
        for (at, (_, expected)) in tools.iter().enumerate() {
            assert_eq!(is_only_task(&read["result"]["tools"][at]), *expected, "{read}");
        }
    }

    #[test]
    fn servers_are_asked_within_bounds() {
        let read = |poll: Value| {
            Task::read(&json!({ "taskId": "t", "status": "working", "pollInterval": poll })).unwrap().poll
        };
        assert_eq!(read(json!(0)), Some(SOONEST));
        assert_eq!(read(json!(250)), Some(Duration::from_millis(250)));
        assert_eq!(read(json!(u64::MAX)), Some(LATEST));
        assert_eq!(read(json!("soon")), None);
        assert!(Task::read(&json!({ "taskId": "", "status": "working" })).is_none());
    }
}

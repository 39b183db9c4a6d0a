//! Tools that run as tasks for clients that know tasks. How one runs stands beside `mcp` in its schema: `x-task` is
//! `supported` or `required`, and `x-task-after-input` makes a task only of the call that brings the answers.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_native::ToolFailure;

use super::{Asked, Body, Fixture, INPUTS, Running, asks, filled, fixture, form, says, with_protocol};

pub(super) fn fixtures() -> Vec<Fixture> {
    let name = json!({ "name": { "type": "string", "description": "Whom to greet." } });
    let work = json!({
        "seconds": { "type": "number", "minimum": 0, "maximum": 100, "description": "How long it takes." },
        "label": { "type": "string", "description": "What it is called." },
    });
    let file = json!({ "filename": { "type": "string", "description": "What to delete." } });
    let task = |how: &str| json!({ "type": "object", "x-task": how });
    let after_input = json!({ "type": "object", "x-task": "required", "x-task-after-input": true });
    vec![
        fixture(
            "greet",
            "Greets at once.",
            name,
            Body::Says(|asked| says(format!("Hello, {}!", asked.text("name")))),
        ),
        with_protocol("slow_compute", "Takes its time.", work, task("supported"), Body::Runs(slow_compute)),
        with_protocol("failing_job", "Fails.", json!({}), task("required"), Body::Runs(failing_job)),
        with_protocol(
            "protocol_error_job",
            "Breaks off.",
            json!({}),
            task("supported"),
            Body::Runs(break_off),
        ),
        with_protocol(
            "confirm_delete",
            "Asks on the way.",
            file,
            task("supported"),
            Body::Runs(confirm_delete),
        ),
        with_protocol(
            "multi_input",
            "Asks two things on the way.",
            json!({}),
            task("required"),
            Body::Runs(multi_input),
        ),
        with_protocol(
            "test_tool_with_task",
            "Asks, then works.",
            json!({}),
            after_input,
            Body::Runs(ask_then_work),
        ),
    ]
}

fn slow_compute(asked: Asked) -> Running {
    Box::pin(async move {
        let seconds = asked.arguments["seconds"].as_f64().unwrap_or(1.0);
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        work_for(&asked, wait).await?;
        Ok(says(format!("{} took {seconds} s", asked.text("label"))))
    })
}

fn failing_job(asked: Asked) -> Running {
    Box::pin(async move {
        work_for(&asked, Duration::from_millis(500)).await?;
        let mut failed = says("The job failed, as it always does");
        failed["is_error"] = true.into();
        Ok(failed)
    })
}

fn break_off(asked: Asked) -> Running {
    Box::pin(async move {
        work_for(&asked, Duration::from_millis(200)).await?;
        Ok(json!({ "rpc_error": { "code": -32603, "message": "the job broke off, as it always does" } }))
    })
}

fn confirm_delete(asked: Asked) -> Running {
    Box::pin(async move {
        let message = format!("Delete {}?", asked.text("filename"));
        let question = form(&message, json!({ "confirm": { "type": "boolean" } }), &["confirm"]);
        let requests = json!({ "confirm": question });
        let confirmed = if asked.knows_tasks() {
            ask(&asked, requests).await?["confirm"]["content"]["confirm"] == true
        } else if let Some(answer) = asked.answer("confirm") {
            filled(answer, "confirm") == Some(&Value::Bool(true))
        } else if asked.declares("elicitation") {
            return Ok(asks(requests));
        } else {
            // Nobody can be asked.
            false
        };
        Ok(says(if confirmed { "Deleted" } else { "Kept" }))
    })
}

fn multi_input(asked: Asked) -> Running {
    Box::pin(async move {
        let question = |which: &str| {
            form(&format!("Provide value {which}"), json!({ "name": { "type": "string" } }), &["name"])
        };
        let answers = ask(&asked, json!({ "first": question("A"), "second": question("B") })).await?;
        let value = |key: &str| answers[key]["content"]["name"].as_str().unwrap_or("nothing").to_owned();
        Ok(says(format!("Got {} and {}", value("first"), value("second"))))
    })
}

fn ask_then_work(asked: Asked) -> Running {
    Box::pin(async move {
        let Some(answer) = asked.answer("user_name") else {
            let question = form("What is your name?", json!({ "name": { "type": "string" } }), &["name"]);
            return Ok(asks(json!({ "user_name": question })));
        };
        let name = filled(answer, "name").and_then(Value::as_str).unwrap_or("friend").to_owned();
        work_for(&asked, Duration::from_millis(200)).await?;
        Ok(says(format!("Hello, {name}!")))
    })
}

async fn work_for(asked: &Asked, time: Duration) -> Result<(), ToolFailure> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = asked.context.cancelled.cancelled() => Err(ToolFailure::Cancelled),
    }
}

/// Asks and waits for all answers.
async fn ask(asked: &Asked, requests: Value) -> Result<Value, ToolFailure> {
    let call = asked.context.call_id.to_string();
    let Value::Object(requests) = requests else { return Ok(Value::Null) };
    tokio::select! {
        answers = INPUTS.ask(&call, requests) => Ok(Value::Object(answers)),
        () = asked.context.cancelled.cancelled() => Err(ToolFailure::Cancelled),
    }
}

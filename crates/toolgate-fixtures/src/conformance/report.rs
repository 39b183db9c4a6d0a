//! Tools that report while they run: progress, log lines, changed lists, a stream that closes.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_native::ToolFailure;

use super::{Asked, Body, Fixture, Running, fixture, says};

const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn fixtures() -> Vec<Fixture> {
    let plain = |name, description, runs| fixture(name, description, json!({}), Body::Runs(runs));
    vec![
        plain("test_tool_with_progress", "Reports progress three times.", |asked| {
            let steps = [0, 50, 100]
                .map(|done| json!({ "progress": done, "total": 100, "message": format!("{done} of 100") }));
            reports(asked, steps.to_vec(), "Tool with progress completed")
        }),
        plain("test_tool_with_logging", "Logs three lines.", |asked| {
            let lines = ["Tool execution started", "Tool processing data", "Tool execution completed"];
            reports(asked, lines.map(|line| log("info", line)).to_vec(), "Tool with logging completed")
        }),
        plain("test_logging_tool", "Logs where the client asked for it.", |asked| {
            let level = asked.arguments["mcp"]["log_level"].as_str();
            let lines = level.map(|level| log(level, "the client asked for log lines")).into_iter().collect();
            reports(asked, lines, "Logging tool completed")
        }),
        plain("test_trigger_tool_change", "Says that the list of tools changed.", |asked| {
            reports(asked, vec![json!({ "list_changed": "tools" })], "Tool list change triggered")
        }),
        plain("test_trigger_prompt_change", "Says that the list of prompts changed.", |asked| {
            reports(asked, vec![json!({ "list_changed": "prompts" })], "Prompt list change triggered")
        }),
        plain("test_reconnection", "Has its stream closed on the way.", |asked| {
            let close = json!({ "close_stream": { "retry_ms": 500 } });
            reports(asked, vec![close], "Reconnection test completed")
        }),
    ]
}

fn log(level: &str, line: &str) -> Value {
    json!({ "log": { "level": level, "logger": "conformance", "data": line } })
}

fn reports(asked: Asked, chunks: Vec<Value>, end: &'static str) -> Running {
    Box::pin(async move {
        for chunk in chunks {
            asked.context.progress(&chunk).await?;
            pause(&asked).await?;
        }
        Ok(says(end))
    })
}

async fn pause(asked: &Asked) -> Result<(), ToolFailure> {
    tokio::select! {
        () = tokio::time::sleep(PAUSE) => Ok(()),
        () = asked.context.cancelled.cancelled() => Err(ToolFailure::Cancelled),
    }
}

//! Tools that take their time.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::contract::Limits;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SlowInput {
    /// How long to take.
    #[schemars(range(min = 0, max = 600_000))]
    milliseconds: u64,
    /// How often to report on the way.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2000))]
    reports: u32,
    /// How long each report's message is.
    #[serde(default)]
    #[schemars(range(min = 0, max = 60_000))]
    message_bytes: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SlowOutput {
    /// How long it took.
    milliseconds: u64,
}

async fn take_time(input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
    let step = Duration::from_millis(input.milliseconds) / (input.reports + 1);
    for part in 0..=input.reports {
        tokio::select! {
            () = tokio::time::sleep(step) => {}
            () = context.cancelled.cancelled() => return Err(ToolFailure::Cancelled),
        }
        if part < input.reports {
            let mut report = serde_json::json!({ "part": part + 1, "of": input.reports });
            if input.message_bytes > 0 {
                report["message"] = "m".repeat(input.message_bytes).into();
            }
            context.progress(&report).await?;
        }
    }
    Ok(SlowOutput { milliseconds: input.milliseconds })
}

struct SlowRead;

impl Tool for SlowRead {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::read("fixture__slow_read", "Slow read")
            .describe("Takes its time and reports progress. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits { timeout_ms: 600_000, ..Limits::default() })
    }
    async fn run(&self, input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        take_time(input, context).await
    }
}

struct SlowMutate;

impl Tool for SlowMutate {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::mutate("fixture__slow_mutate", "Slow write")
            .describe("A write that takes its time. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits { timeout_ms: 600_000, ..Limits::default() })
    }
    async fn run(&self, input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        take_time(input, context).await
    }
}

/// Ignores that it is cancelled, and has little time.
struct Stubborn;

impl Tool for Stubborn {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::mutate("fixture__stubborn", "Stubborn write")
            .describe("A write that does not listen and has one second. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits { timeout_ms: 1_000, ..Limits::default() })
    }
    async fn run(&self, input: SlowInput, _context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        tokio::time::sleep(Duration::from_millis(input.milliseconds)).await;
        Ok(SlowOutput { milliseconds: input.milliseconds })
    }
}

/// A read with little time and one place.
struct Hurried;

impl Tool for Hurried {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::read("fixture__hurried", "Hurried read")
            .describe("A read with half a second, one at a time, ten a minute. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits {
                timeout_ms: 500,
                concurrency: Some(1),
                rate_per_minute: Some(10),
                ..Limits::default()
            })
    }
    async fn run(&self, input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        take_time(input, context).await
    }
}

/// Takes one of the places that heavy tools share.
struct Heavy;

impl Tool for Heavy {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::read("fixture__heavy", "Heavy read")
            .describe("Takes a place among heavy tools for a while. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits { timeout_ms: 600_000, ..Limits::default() })
            .heavy()
    }
    async fn run(&self, input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        take_time(input, context).await
    }
}

/// The same, with little time to wait for a place.
struct HeavyHurried;

impl Tool for HeavyHurried {
    type Input = SlowInput;
    type Output = SlowOutput;
    fn promise() -> Promise {
        Promise::read("fixture__heavy_hurried", "Heavy and hurried read")
            .describe("Takes a place among heavy tools, if one comes free soon. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["milliseconds"])
            .limits(Limits { timeout_ms: 1_000, ..Limits::default() })
            .heavy()
    }
    async fn run(&self, input: SlowInput, context: &ToolContext) -> Result<SlowOutput, ToolFailure> {
        take_time(input, context).await
    }
}

pub(crate) fn tools() -> Vec<NativeTool> {
    vec![
        NativeTool::of(SlowRead),
        NativeTool::of(SlowMutate),
        NativeTool::of(Stubborn),
        NativeTool::of(Hurried),
        NativeTool::of(Heavy),
        NativeTool::of(HeavyHurried),
    ]
}

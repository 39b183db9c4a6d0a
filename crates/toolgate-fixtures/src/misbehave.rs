//! A tool that does one wrong thing on request, and one that nobody outside may see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wrong {
    /// Nothing: it answers, with a field that must be redacted.
    Nothing,
    /// It says that it failed.
    Fail,
    /// It breaks off.
    Panic,
    /// Its result does not fit its schema.
    BreakSchema,
    /// Its result is large, and may be.
    Large,
    /// Its result is too large.
    TooLarge,
    /// Its result is nested too deep.
    TooDeep,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to do wrong.
    how: Wrong,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// May be shown.
    #[schemars(range(min = 0, max = 100))]
    shown: i64,
    /// May not be shown.
    withheld: String,
    /// Filler.
    #[serde(skip_serializing_if = "Option::is_none")]
    filler: Option<serde_json::Value>,
}

struct Misbehave;

impl Tool for Misbehave {
    type Input = Input;
    type Output = Output;
    fn promise() -> Promise {
        Promise::read("fixture__misbehave", "Misbehave")
            .describe("Does one wrong thing. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["shown", "filler"])
    }
    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        let mut output = Output { shown: 1, withheld: "not for anyone's eyes".to_owned(), filler: None };
        match input.how {
            Wrong::Nothing => {}
            Wrong::Fail => {
                return Err(ToolFailure::failed("it was asked to fail").hint("ask for nothing wrong"));
            }
            #[allow(clippy::panic, reason = "this is what the tool is for")]
            Wrong::Panic => panic!("it was asked to panic"),
            Wrong::BreakSchema => output.shown = -1,
            Wrong::Large => output.filler = Some("x".repeat(200_000).into()),
            Wrong::TooLarge => output.filler = Some("x".repeat(2 << 20).into()),
            Wrong::TooDeep => {
                let mut deep = serde_json::Value::Null;
                for _ in 0..200 {
                    deep = serde_json::Value::Array(vec![deep]);
                }
                output.filler = Some(deep);
            }
        }
        Ok(output)
    }
}

struct Internal;

impl Tool for Internal {
    type Input = Input;
    type Output = Output;
    fn promise() -> Promise {
        Promise::read("fixture__internal", "Internal")
            .describe("No API key may see this. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["shown"])
            .internal()
    }
    async fn run(&self, _input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(Output { shown: 1, withheld: String::new(), filler: None })
    }
}

pub(crate) fn tools() -> Vec<NativeTool> {
    vec![NativeTool::of(Misbehave), NativeTool::of(Internal)]
}

//! What the official MCP conformance suite asks a server to have: tools, prompts and resources with known answers. On
//! only with `--mcp-conformance`.
//!
//! The tools go through the registry and the pipeline like any other. What one needs of the protocol arrives as the
//! argument `mcp`, which no client sees: the client's capabilities, its answers, the state it brings back. What a tool
//! wants of the protocol is said in its result: `content`, `is_error`, `input_required` or `rpc_error`.

mod ask;
mod content;
mod input_required;
mod inputs;
mod offerings;
mod prompts;
mod report;
mod resources;
mod schema;
mod task;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolgate_core::contract::Limits;
use toolgate_core::port::executor::Executor;
use toolgate_core::{ClearedCall, ToolOutput};
use toolgate_native::{NativeTool, Plugin, Promise, Tool, ToolContext, ToolFailure};

use inputs::Inputs;
use toolgate_mcp::{Offerings, TaskInputs};

/// The tools.
#[must_use]
pub fn plugin() -> Plugin {
    let fixtures = [
        content::fixtures(),
        report::fixtures(),
        ask::fixtures(),
        input_required::fixtures(),
        schema::fixtures(),
        task::fixtures(),
    ];
    Plugin { id: "conformance", tools: fixtures.into_iter().flatten().map(Fixture::into_tool).collect() }
}

/// The prompts, resources and completions.
#[must_use]
pub fn offerings() -> Arc<dyn Offerings> {
    Arc::new(offerings::Fixtures)
}

/// What tools that run as tasks ask on the way.
#[must_use]
pub fn inputs() -> Arc<dyn TaskInputs> {
    Arc::<Inputs>::clone(&INPUTS)
}

/// A picture of one red pixel, as PNG.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// No sound at all, as WAV.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// What running tools ask: calls have ids of their own, so one place serves all.
static INPUTS: LazyLock<Arc<Inputs>> = LazyLock::new(Arc::default);

type Running = Pin<Box<dyn Future<Output = Result<Value, ToolFailure>> + Send>>;

/// How a fixture comes to its answer.
#[derive(Clone, Copy)]
enum Body {
    /// At once.
    Says(fn(&Asked) -> Value),
    /// Over time.
    Runs(fn(Asked) -> Running),
}

/// One tool of the suite.
struct Fixture {
    name: &'static str,
    description: &'static str,
    input_schema: Value,
    body: Body,
}

/// A tool that takes these arguments and what the protocol tells.
fn fixture(name: &'static str, description: &'static str, properties: Value, body: Body) -> Fixture {
    with_protocol(name, description, properties, json!({ "type": "object" }), body)
}

/// The same, with a word on how it runs beside what the protocol tells.
fn with_protocol(
    name: &'static str,
    description: &'static str,
    mut properties: Value,
    protocol: Value,
    body: Body,
) -> Fixture {
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("mcp".to_owned(), protocol);
    }
    let input_schema = json!({ "type": "object", "properties": properties });
    Fixture { name, description, input_schema, body }
}

impl Fixture {
    fn into_tool(self) -> NativeTool {
        let mut tool = NativeTool::of(Template);
        // The template stands for the contract's other fields; its own id and schemas are nobody's.
        match (format!("conformance__{}", self.name).parse(), &mut tool.contract) {
            (Ok(id), Ok(contract)) => {
                contract.id = id;
                contract.title = self.name.replace('_', " ");
                contract.description = format!("{} For the conformance suite only.", self.description);
                contract.input_schema = self.input_schema.into();
                contract.output_schema = json!({ "type": "object" }).into();
            }
            (Err(bad), _) => tool.contract = Err(bad),
            (Ok(_), Err(_)) => {}
        }
        tool.executor = Arc::new(Runs(self.body));
        tool
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Said {}

struct Template;

impl Tool for Template {
    type Input = Nothing;
    type Output = Said;
    fn promise() -> Promise {
        // Longer than the longest task the suite starts.
        let limits = Limits { timeout_ms: 120_000, ..Limits::default() };
        Promise::read("conformance__template", "Template")
            .describe("Stands for the others.")
            .category("conformance", "flask-conical")
            .shows(&["*"])
            .limits(limits)
    }
    async fn run(&self, _: Nothing, _: &ToolContext) -> Result<Said, ToolFailure> {
        Ok(Said {})
    }
}

struct Runs(Body);

#[async_trait]
impl Executor for Runs {
    async fn execute(&self, call: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        let (arguments, context) = call.into_parts();
        let asked = Asked { arguments, context };
        match self.0 {
            Body::Says(says) => Ok(says(&asked).into()),
            Body::Runs(runs) => runs(asked).await.map(ToolOutput::from),
        }
    }
}

/// One call of a fixture.
struct Asked {
    arguments: Value,
    context: ToolContext,
}

impl Asked {
    /// An argument that is a text.
    fn text(&self, name: &str) -> &str {
        self.arguments[name].as_str().unwrap_or_default()
    }

    /// What the client answered to this question; none where it did not, or not with an object.
    fn answer(&self, key: &str) -> Option<&Map<String, Value>> {
        answered(&self.arguments["mcp"], key)
    }

    /// The state the client brought back.
    fn state(&self) -> Option<&Value> {
        self.arguments["mcp"].get("request_state").filter(|state| !state.is_null())
    }

    /// Whether the client said that it can do this.
    fn declares(&self, capability: &str) -> bool {
        self.arguments["mcp"]["capabilities"].get(capability).is_some_and(Value::is_object)
    }

    /// Whether the client said that it knows tasks.
    fn knows_tasks(&self) -> bool {
        self.arguments["mcp"]["capabilities"]["extensions"].get(toolgate_mcp::TASKS).is_some()
    }
}

/// What the client answered to a question, out of what the protocol tells.
fn answered<'a>(protocol: &'a Value, key: &str) -> Option<&'a Map<String, Value>> {
    protocol["input_responses"].get(key).and_then(Value::as_object)
}

/// A field of what a person filled in.
fn filled<'a>(answer: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    answer.get("content").and_then(|content| content.get(field))
}

/// A result that is one text.
fn says(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

/// A result that asks the client first.
fn asks(requests: Value) -> Value {
    json!({ "input_required": { "requests": requests } })
}

/// The same, with a state to bring back.
fn asks_with(requests: Value, state: Value) -> Value {
    json!({ "input_required": { "requests": requests, "state": state } })
}

/// A form for a person.
fn form(message: &str, properties: Value, required: &[&str]) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "message": message,
        "requestedSchema": { "type": "object", "properties": properties, "required": required },
    } })
}

/// A question for the client's model.
fn sampling(prompt: &str) -> Value {
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
        "maxTokens": 100,
    } })
}

/// The question where the client's roots are.
fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_is_a_tool_of_the_suite_s_own_plugin() {
        let tools = plugin().registrable().unwrap();
        assert_eq!(tools.len(), 35);
        for (contract, capabilities, executor) in tools {
            let id = contract.id.clone();
            assert!(id.as_str().len() <= 64, "{id}");
            toolgate_schema::register(contract, capabilities, executor)
                .unwrap_or_else(|bad| panic!("{id}: {bad}"));
        }
    }
}

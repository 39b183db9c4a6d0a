//! Tools that not everyone has: switched on by hand, dear, for one tenant, or with arguments policy may read.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::contract::Binding;
use toolgate_core::port::executor::HandOn;
use toolgate_native::{FieldChange, NativeTool, Preview, Promise, Tool, ToolContext, ToolFailure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// Whether it did.
    done: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Price {
    /// What the call is to cost.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    micros: u32,
}

struct Paid;

impl Tool for Paid {
    type Input = Price;
    type Output = Done;
    fn promise() -> Promise {
        Promise::read("fixture__paid", "Paid read")
            .describe("Costs what it is told to. Off until switched on. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["done"])
            .opt_in()
    }
    async fn run(&self, input: Price, context: &ToolContext) -> Result<Done, ToolFailure> {
        context.add_cost(input.micros);
        Ok(Done { done: true })
    }
}

struct Elsewhere;

impl Tool for Elsewhere {
    type Input = Nothing;
    type Output = Done;
    fn promise() -> Promise {
        Promise::read("fixture__elsewhere", "Another tenant's read")
            .describe("Only for the tenant `elsewhere`. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["done"])
            .tenants(&["elsewhere"])
    }
    async fn run(&self, _: Nothing, _: &ToolContext) -> Result<Done, ToolFailure> {
        Ok(Done { done: true })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TransferInput {
    /// How much.
    amount: i64,
    /// To whom.
    to: String,
    /// Whether it can wait.
    #[serde(default)]
    urgent: bool,
}

struct Transfer;

impl Tool for Transfer {
    type Input = TransferInput;
    type Output = TransferOutput;
    fn promise() -> Promise {
        Promise::mutate("fixture__transfer", "Transfer")
            .describe("Moves nothing to nobody. For trying policies that read arguments.")
            .category("fixture", "flask-conical")
            .shows(&["*"])
    }
    async fn run(&self, input: TransferInput, _: &ToolContext) -> Result<TransferOutput, ToolFailure> {
        Ok(TransferOutput { amount: input.amount, to: input.to, urgent: input.urgent })
    }
    async fn dry_run(&self, input: TransferInput, _: &ToolContext) -> Result<Option<Preview>, ToolFailure> {
        if input.to == "nobody" {
            return Err(ToolFailure::failed("there is no such account"));
        }
        Ok(Some(Preview {
            summary: format!("moves {} to {}", input.amount, input.to),
            changes: vec![FieldChange {
                field: format!("balance of {}", input.to),
                before: Some(0.into()),
                after: Some(input.amount.into()),
            }],
            count: Some(1),
            reversible: Some(true),
        }))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct TransferOutput {
    /// How much.
    amount: i64,
    /// To whom.
    to: String,
    /// Whether it could wait.
    urgent: bool,
}

/// Tools whose results come from outside.
fn handed_on(id: &'static str, to: &'static str, space: bool) -> NativeTool {
    let mut tool = NativeTool::of(Paid);
    if let Ok(contract) = &mut tool.contract {
        if let Ok(id) = id.parse() {
            contract.id = id;
        }
        contract.title = format!("Ask {to}");
        contract.description = format!("Hands the question on to {to} and waits. For trying the gate only.");
        contract.opt_in = false;
        contract.input_schema = serde_json::json!({ "type": "object", "properties": {
            "question": { "type": "string", "description": "What to ask." } }, "additionalProperties": false })
        .into();
        contract.output_schema =
            serde_json::json!({ "type": "object", "required": ["answer"], "properties": {
            "answer": { "type": "string", "description": "The answer." },
            "aside": { "type": "string", "description": "Not for anyone." } } })
            .into();
        contract.redaction.allow = vec!["answer".to_owned()];
        let expires_after_seconds = 3_600;
        contract.execution = if space {
            Binding::Space { expires_after_seconds }
        } else {
            Binding::External { expires_after_seconds }
        };
    }
    tool.executor = Arc::new(HandOn { to, within: Duration::from_secs(3_600) });
    tool
}

pub(crate) fn tools() -> Vec<NativeTool> {
    vec![
        NativeTool::of(Paid),
        NativeTool::of(Elsewhere),
        NativeTool::of(Transfer),
        handed_on("fixture__ask_service", "an outside service", false),
        handed_on("fixture__ask_space", "someone at a screen", true),
    ]
}

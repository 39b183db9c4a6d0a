//! Tools with an effect that a receiver counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::Egress;
use toolgate_native::{Capability, NativeTool, Promise, Tool, ToolContext, ToolFailure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EffectInput {
    /// What the receiver counts by.
    #[schemars(length(min = 1, max = 200))]
    effect_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EffectOutput {
    /// What the receiver counted by.
    effect_id: String,
    /// The receiver's answer.
    status: u16,
}

async fn effect(input: EffectInput, context: &ToolContext) -> Result<EffectOutput, ToolFailure> {
    let body = serde_json::json!({ "effect_id": input.effect_id }).to_string();
    let (status, _) = context.capabilities.http()?.post_json("effects", body).await?;
    context.add_cost(1_500);
    Ok(EffectOutput { effect_id: input.effect_id, status })
}

macro_rules! effect_tools {
    ($($(#[$doc:meta])* $name:ident => $promise:expr;)+) => {
        $($(#[$doc])*
        struct $name;

        impl Tool for $name {
            type Input = EffectInput;
            type Output = EffectOutput;
            fn promise() -> Promise {
                $promise.needs(Capability::Http).shows(&["effect_id", "status"]).category("fixture", "flask-conical")
            }
            async fn run(&self, input: EffectInput, context: &ToolContext) -> Result<EffectOutput, ToolFailure> {
                effect(input, context).await
            }
        })+

        pub(crate) fn tools() -> Vec<NativeTool> {
            vec![$(NativeTool::of($name)),+]
        }
    };
}

effect_tools! {
    /// Has an effect that must not happen twice.
    Mutate => Promise::mutate("fixture__mutate", "Count an effect")
        .describe("Makes a receiver count one effect. For trying the gate only.");
    /// Has an effect that may happen twice.
    MutateIdempotent => Promise::mutate("fixture__mutate_idempotent", "Count an idempotent effect")
        .describe("Makes a receiver count one effect that may safely be repeated. For trying the gate only.")
        .idempotent();
    /// Takes something away.
    Destroy => Promise::destructive("fixture__destroy", "Destroy something")
        .describe("Makes a receiver count one destruction. For trying the gate only.");
    /// Sends something out of the house.
    WriteOutside => Promise::mutate("fixture__write_outside", "Write outside")
        .describe("Makes a receiver count one write to an outside service. For trying the gate only.")
        .egress(Egress::Write);
    /// Asks a person every time.
    AlwaysAsk => Promise::mutate("fixture__always_ask", "Always ask")
        .describe("Makes a receiver count one effect, after a person said yes. For trying the gate only.")
        .always_ask();
    /// A read that the receiver counts, to see how often it runs.
    CountedRead => Promise::read("fixture__counted_read", "Count a read")
        .describe("Makes a receiver count one read. For trying the gate only.");
}

//! Typed native tools: Rust types in, a contract with both schemas and an executor out.
//!
//! A tool is one file with an input type, an output type, what it promises and a function:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use schemars::JsonSchema;
//! use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};
//!
//! /// What to double.
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Input {
//!     /// A number.
//!     value: f64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Output {
//!     doubled: f64,
//! }
//!
//! struct Double;
//!
//! impl Tool for Double {
//!     type Input = Input;
//!     type Output = Output;
//!     fn promise() -> Promise {
//!         Promise::read("core__double", "Double").describe("Doubles a number.").shows(&["doubled"])
//!     }
//!     async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
//!         Ok(Output { doubled: input.value * 2.0 })
//!     }
//! }
//!
//! let tool = NativeTool::of(Double);
//! assert_eq!(tool.contract.unwrap().output_schema.to_value()["properties"]["doubled"]["type"], "number");
//! ```

mod heavy;

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgate_core::contract::{
    Alias, ApprovalMode, Audience, Binding, Limits, OutputSection, Redaction, SectionKind, ToolContract,
};
use toolgate_core::id::BadId;
use toolgate_core::port::executor::Executor;
use toolgate_core::runner::PreviewCall;
use toolgate_core::{ClearedCall, Effect, Egress, ToolOutput};

pub use heavy::heavy_places;
pub use toolgate_core::port::capability::Capability;
pub use toolgate_core::port::executor::{ToolContext, ToolFailure};
pub use toolgate_core::review::{FieldChange, Preview};

/// A tool in Rust.
pub trait Tool: Send + Sync + 'static {
    /// What it takes.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// What it gives.
    type Output: Serialize + JsonSchema;

    /// Everything of the contract that the types don't say.
    fn promise() -> Promise;

    /// Does it. The input has been validated; I/O goes through the context's capabilities only.
    fn run(
        &self,
        input: Self::Input,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolFailure>> + Send;

    /// Foresees what it would do, without doing anything: shown to the person who has to decide. None where it can't.
    fn dry_run(
        &self,
        _input: Self::Input,
        _context: &ToolContext,
    ) -> impl Future<Output = Result<Option<Preview>, ToolFailure>> + Send {
        async { Ok(None) }
    }
}

/// The part of a contract that types don't say, built up in words.
#[derive(Debug, Clone)]
pub struct Promise {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    category: &'static str,
    icon: &'static str,
    effect: Effect,
    egress: Egress,
    idempotent: bool,
    shows: Vec<String>,
    permissions: Vec<String>,
    audience: Audience,
    tenants: Vec<String>,
    opt_in: bool,
    aliases: Vec<(&'static str, &'static str)>,
    approval: ApprovalMode,
    limits: Limits,
    sections: Vec<OutputSection>,
    capabilities: Vec<Capability>,
    heavy: bool,
}

impl Promise {
    /// A tool that changes nothing.
    #[must_use]
    pub fn read(id: &'static str, title: &'static str) -> Self {
        Self::with_effect(id, title, Effect::Read)
    }

    /// A tool that changes something.
    #[must_use]
    pub fn mutate(id: &'static str, title: &'static str) -> Self {
        Self::with_effect(id, title, Effect::Mutate)
    }

    /// A tool that takes something away for good.
    #[must_use]
    pub fn destructive(id: &'static str, title: &'static str) -> Self {
        Self::with_effect(id, title, Effect::Destructive)
    }

    fn with_effect(id: &'static str, title: &'static str, effect: Effect) -> Self {
        Self {
            id,
            title,
            description: "",
            category: "general",
            icon: "wrench",
            effect,
            egress: Egress::None,
            idempotent: effect == Effect::Read,
            shows: Vec::new(),
            permissions: Vec::new(),
            audience: Audience::External,
            tenants: Vec::new(),
            opt_in: false,
            aliases: Vec::new(),
            approval: ApprovalMode::Auto,
            limits: Limits::default(),
            sections: Vec::new(),
            capabilities: Vec::new(),
            heavy: false,
        }
    }

    /// Operating instructions for a model: when to use it, when not, what to try first.
    #[must_use]
    pub fn describe(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Where it stands in the library.
    #[must_use]
    pub fn category(mut self, category: &'static str, icon: &'static str) -> Self {
        (self.category, self.icon) = (category, icon);
        self
    }

    /// The output fields that may be shown; `*` for all.
    #[must_use]
    pub fn shows(mut self, fields: &[&str]) -> Self {
        self.shows = fields.iter().map(|&field| field.to_owned()).collect();
        self
    }

    /// What leaves the house.
    #[must_use]
    pub fn egress(mut self, egress: Egress) -> Self {
        self.egress = egress;
        self
    }

    /// The same call twice is the same as once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Access rules the caller needs, all of them.
    #[must_use]
    pub fn permissions(mut self, rules: &[&str]) -> Self {
        self.permissions = rules.iter().map(|&rule| rule.to_owned()).collect();
        self
    }

    /// Off until someone switches it on: it needs keys or credit.
    #[must_use]
    pub fn opt_in(mut self) -> Self {
        self.opt_in = true;
        self
    }

    /// Only for these tenants.
    #[must_use]
    pub fn tenants(mut self, slugs: &[&str]) -> Self {
        self.tenants = slugs.iter().map(|&slug| slug.to_owned()).collect();
        self
    }

    /// An old id that works until that day, `YYYY-MM-DD`.
    #[must_use]
    pub fn alias(mut self, id: &'static str, remove_by: &'static str) -> Self {
        self.aliases.push((id, remove_by));
        self
    }

    /// Never for API keys or MCP clients.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.audience = Audience::Internal;
        self
    }

    /// Every call waits for a person.
    #[must_use]
    pub fn always_ask(mut self) -> Self {
        self.approval = ApprovalMode::AlwaysAsk;
        self
    }

    /// What one call may take.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How people see one part of the output.
    #[must_use]
    pub fn section(mut self, key: &str, label: &str, kind: SectionKind) -> Self {
        self.sections.push(OutputSection {
            key: key.to_owned(),
            label: label.to_owned(),
            kind,
            config: None,
        });
        self
    }

    /// The same, with how to draw it in detail.
    #[must_use]
    pub fn section_with(mut self, key: &str, label: &str, kind: SectionKind, config: Value) -> Self {
        self.sections.push(OutputSection {
            key: key.to_owned(),
            label: label.to_owned(),
            kind,
            config: Some(config),
        });
        self
    }

    /// It works the processor hard: all such tools share a few places, and a call waits for one for up to half of its
    /// time limit.
    #[must_use]
    pub fn heavy(mut self) -> Self {
        self.heavy = true;
        self
    }

    /// What the tool may reach.
    #[must_use]
    pub fn needs(mut self, capability: Capability) -> Self {
        self.capabilities.push(capability);
        self
    }
}

/// A tool's contract, needs and code, ready to be registered.
pub struct NativeTool {
    /// The contract, unless its id is not one.
    pub contract: Result<ToolContract, BadId>,
    /// What it may reach.
    pub capabilities: Vec<Capability>,
    /// Its code.
    pub executor: Arc<dyn Executor>,
}

impl std::fmt::Debug for NativeTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeTool").field("contract", &self.contract).finish_non_exhaustive()
    }
}

impl NativeTool {
    /// A tool of this binary's own plugin, `core`.
    #[must_use]
    pub fn of<T: Tool>(tool: T) -> Self {
        let promise = T::promise();
        let patience = Duration::from_millis(promise.limits.timeout_ms) / 2;
        let patience = promise.heavy.then_some(patience);
        let contract = promise.id.parse().map(|id| ToolContract {
            id,
            title: promise.title.to_owned(),
            description: promise.description.to_owned(),
            category: promise.category.to_owned(),
            icon: promise.icon.to_owned(),
            input_schema: schema_of::<T::Input>(Direction::In).into(),
            output_schema: schema_of::<T::Output>(Direction::Out).into(),
            effect: promise.effect,
            egress: promise.egress,
            idempotent: promise.idempotent,
            redaction: Redaction { allow: promise.shows },
            permissions: promise.permissions,
            tenants: promise.tenants,
            opt_in: promise.opt_in,
            audience: promise.audience,
            visible: false,
            approval: promise.approval,
            connection: None,
            limits: promise.limits,
            cache: None,
            collaborative: false,
            aggregate: None,
            form: None,
            output: promise.sections,
            aliases: promise
                .aliases
                .iter()
                .filter_map(|(id, day)| Some(Alias { id: id.parse().ok()?, remove_by: (*day).to_owned() }))
                .collect(),
            execution: Binding::Native { plugin: promise.id.split("__").next().unwrap_or("core").to_owned() },
        });
        Self {
            contract,
            capabilities: promise.capabilities,
            executor: Arc::new(Typed { tool, patience, types: PhantomData }),
        }
    }
}

/// A crate's tools under the plugin id that their names begin with.
#[derive(Debug)]
pub struct Plugin {
    /// The id: the namespace of every tool it brings.
    pub id: &'static str,
    /// Its tools.
    pub tools: Vec<NativeTool>,
}

/// A tool, ready to be registered: its contract, what it may reach, its code.
pub type Registrable = (ToolContract, Vec<Capability>, Arc<dyn Executor>);

/// A plugin that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadPlugin {
    /// A tool's id is not one.
    Id(BadId),
    /// A tool is named under another plugin.
    ForeignName {
        /// The plugin.
        plugin: &'static str,
        /// The tool.
        tool: String,
    },
}

impl std::fmt::Display for BadPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(cause) => write!(f, "a tool's id: {cause}"),
            Self::ForeignName { plugin, tool } => {
                write!(f, "the plugin `{plugin}` may not bring `{tool}`: its tools are named `{plugin}__…`")
            }
        }
    }
}

impl std::error::Error for BadPlugin {}

impl Plugin {
    /// The plugin's tools, once it is sure that each is named under the plugin's own id: no plugin can bring a tool
    /// that looks like another's.
    ///
    /// # Errors
    /// The first tool that is not.
    pub fn registrable(self) -> Result<Vec<Registrable>, BadPlugin> {
        self.tools
            .into_iter()
            .map(|tool| {
                let contract = tool.contract.map_err(BadPlugin::Id)?;
                if contract.id.namespace() != self.id {
                    return Err(BadPlugin::ForeignName { plugin: self.id, tool: contract.id.to_string() });
                }
                Ok((contract, tool.capabilities, tool.executor))
            })
            .collect()
    }
}

enum Direction {
    In,
    Out,
}

fn schema_of<T: JsonSchema>(direction: Direction) -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_width));
    let settings = match direction {
        Direction::In => settings.for_deserialize(),
        Direction::Out => settings.for_serialize(),
    };
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    // The type's Rust name says nothing to people or models.
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("title");
    }
    schema
}

/// Leaves out how wide a number is in Rust: no dialect has such formats, and clients complain of each.
fn without_width(schema: &mut Schema) {
    let width = schema.get("format").and_then(Value::as_str).is_some_and(|format| {
        let number =
            format.strip_prefix('u').unwrap_or(format).trim_end_matches(|c: char| c.is_ascii_digit());
        matches!(number, "int" | "float" | "double")
    });
    if width {
        schema.remove("format");
    }
}

struct Typed<T> {
    tool: T,
    /// How long a heavy tool waits for a place.
    patience: Option<Duration>,
    types: PhantomData<fn() -> T>,
}

#[async_trait]
impl<T: Tool> Executor for Typed<T> {
    async fn execute(&self, call: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        let (input, context) = call.into_parts();
        // The schema came from the same type, so what it let through fits, except for what no schema can say.
        let input =
            serde_json::from_value(input).map_err(|_| ToolFailure::failed("the input could not be read"))?;
        let _place = match self.patience {
            Some(patience) => Some(heavy::PLACES.take(patience).await?),
            None => None,
        };
        let output = self.tool.run(input, &context).await?;
        let value = serde_json::to_value(output);
        value.map(ToolOutput::from).map_err(|_| ToolFailure::failed("the result has no JSON form"))
    }

    async fn dry_run(&self, call: PreviewCall) -> Result<Option<Preview>, ToolFailure> {
        let (input, context) = call.into_parts();
        let input =
            serde_json::from_value(input).map_err(|_| ToolFailure::failed("the input could not be read"))?;
        self.tool.dry_run(input, &context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, JsonSchema)]
    struct Nothing {}

    #[derive(Serialize, JsonSchema)]
    struct Done {
        done: bool,
    }

    struct Trivial;

    impl Tool for Trivial {
        type Input = Nothing;
        type Output = Done;
        fn promise() -> Promise {
            Promise::read("core__trivial", "Trivial").describe("Does nothing.").shows(&["done"])
        }
        async fn run(&self, _input: Nothing, _context: &ToolContext) -> Result<Done, ToolFailure> {
            Ok(Done { done: true })
        }
    }

    #[test]
    fn a_plugin_brings_tools_under_its_own_name_only() {
        let plugin = |id| Plugin { id, tools: vec![NativeTool::of(Trivial)] };
        assert_eq!(plugin("core").registrable().unwrap().len(), 1);
        assert!(matches!(plugin("other").registrable(), Err(BadPlugin::ForeignName { plugin: "other", .. })));
    }
}

//! Schemas ready for use, and how a value is checked against one.

use std::sync::Arc;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use serde_json::Value;
use toolgate_core::JsonText;
use toolgate_core::json::{Bounds, OutOfBounds};
use toolgate_core::port::validator::{Validator, Violation};

use crate::check::{Checked, Role, check_content};
use crate::error::SchemaError;
use crate::explain::explain;
use crate::on_demand::registered;
use crate::pattern::options;
use crate::shown;

/// The deepest value that is checked.
const MAX_VALUE_DEPTH: usize = 128;
/// The most schemas that may lean on each other while a value is checked: each takes some stack.
const MAX_LEVELS: u64 = 1_000;
/// The most checks one value may need, so that a large value under a wide schema cannot take minutes.
const MAX_CHECKS: u64 = 100_000_000;

/// Checks that a schema can be compiled, or hands out the one that is in use already. It is compiled to stay when
/// something is first checked against it.
///
/// The dialect is JSON Schema 2020-12, or draft-07 when `$schema` says so. Nothing is fetched. `format` is checked for
/// the formats the dialect defines (but the two international ones, `idn-email` and `idn-hostname`) and is a mere note
/// for others.
///
/// # Errors
/// What keeps the schema from being registered.
pub fn compile(schema: &Value, role: Role) -> Result<Arc<dyn Validator>, SchemaError> {
    Ok(registered(schema, role, || JsonText::from_value(schema))?)
}

/// Runs the compiler on a stack of its own. It recurses over a schema's depth times the references it follows at once,
/// and a schema within all bounds can make it use up a worker thread's stack, which would end the process.
pub(crate) fn with_ample_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SchemaError> {
    const STACK_BYTES: usize = 16 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("schema-compiler".to_owned()).stack_size(STACK_BYTES);
        let running = thread.spawn_scoped(scope, work).map_err(|_| SchemaError::NotCompiled)?;
        running.join().map_err(|_| SchemaError::NotCompiled)
    })
}

/// A schema ready for use.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The schema without `$schema` and `$id`.
    pub(crate) schema: Value,
    pub(crate) checked: Checked,
    validator: jsonschema::Validator,
}

impl Compiled {
    /// Checks and compiles a schema whose bounds were checked.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let checked = check_content(schema)?;
        // The dialect is decided and all references are local: what these say could only confuse the compiler.
        let mut schema = schema.clone();
        if let Some(keywords) = schema.as_object_mut() {
            keywords.shift_remove("$schema");
            keywords.shift_remove("$id");
        }
        let validator = options(checked.draft).build(&schema).map_err(|error| invalid(&error))?;
        Ok(Self { schema, checked, validator })
    }

    /// Refuses values that would take too much stack or time, walking without recursion.
    fn check_size(&self, value: &Value) -> Result<(), Violation> {
        let weight = self.checked.weight;
        let levels = MAX_LEVELS / u64::from(weight.chain.max(1));
        let depth = match weight.height {
            Some(height) if u64::from(height) <= MAX_LEVELS => MAX_VALUE_DEPTH,
            _ => MAX_VALUE_DEPTH.min(usize::try_from(levels).unwrap_or(MAX_VALUE_DEPTH)),
        };
        let nodes = usize::try_from(MAX_CHECKS / weight.width.max(1)).unwrap_or(usize::MAX);
        let refuse = |message: &str| Violation { path: String::new(), message: message.to_owned() };
        Bounds { depth, nodes }.check(value).map_err(|broken| match broken {
            OutOfBounds::Depth(_) => refuse("is nested too deep to be checked"),
            OutOfBounds::Nodes(_) => refuse("has too many values to be checked against this schema"),
        })
    }
}

impl Validator for Compiled {
    fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        self.check_size(value).map_err(|violation| vec![violation])?;
        // Of the ways to ask, this one remembers what it has seen: values that contain themselves under a schema that
        // describes each part twice stay quick. The others take twice as long per level.
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(explain(self, value))
    }
}

/// What the meta-schema, or the compiler after it, has against a schema.
fn invalid(error: &ValidationError<'_>) -> SchemaError {
    let segments: Vec<String> = error
        .instance_path()
        .segments()
        .map(|segment| match segment {
            LocationSegment::Property(name) => shown::schema_key(&name).to_owned(),
            LocationSegment::Index(i) => i.to_string(),
        })
        .collect();
    let message = match error.kind() {
        ValidationErrorKind::Type { .. } => "is of the wrong type for this keyword",
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::Enum { .. } => {
            "is not among what this keyword takes"
        }
        ValidationErrorKind::Minimum { .. } | ValidationErrorKind::ExclusiveMinimum { .. } => "is too small",
        ValidationErrorKind::MinItems { .. } => "has too few items",
        ValidationErrorKind::UniqueItems => "has the same item twice",
        ValidationErrorKind::Format { .. } => "is not written as this keyword wants",
        _ => "is not valid here",
    };
    SchemaError::Invalid {
        path: shown::pointer(segments.iter().map(String::as_str)),
        message: message.to_owned(),
    }
}

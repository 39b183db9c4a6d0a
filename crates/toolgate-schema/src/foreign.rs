//! Schemas of tools that other servers have.

use std::sync::Arc;

use serde_json::Value;
use toolgate_core::port::validator::Validator;

use crate::check::{Role, check_bounds};
use crate::compile::compile;
use crate::error::SchemaError;
use crate::mend::mended;
use crate::register::Side;

/// Compiles the schema of a tool that another server has, as far as it can be checked here.
///
/// Any dialect will do, and `format` is a note. Regular expressions that can't be run in linear time and what makes no
/// sense are left to the server; [`notes`] tells of them. The bounds are those of [`compile`], and nothing is fetched.
///
/// # Errors
/// What keeps the schema from being used.
pub fn compile_foreign(schema: &Value, role: Role) -> Result<Arc<dyn Validator>, SchemaError> {
    check_bounds(schema)?;
    let mut mended = mended(schema, role)?.schema;
    if role == Role::Input {
        leave_defaults_to_the_server(&mut mended, schema);
    }
    compile(&mended, Role::Output)
}

/// A field that has a default may be left out whatever `required` says: generators that describe a value after the
/// defaults were filled in list every one of them.
fn leave_defaults_to_the_server(mended: &mut Value, schema: &Value) {
    let has_default = |name: &Value| {
        name.as_str().and_then(|name| schema.get("properties")?.get(name)?.get("default")).is_some()
    };
    if let Some(Value::Array(names)) = mended.get_mut("required") {
        names.retain(|name| !has_default(name));
    }
}

/// What a reviewer should know of the schemas of a tool that another server has, each as one sentence: what in them is
/// not checked here, and which properties look like secrets.
#[must_use]
pub fn notes(input: &Value, output: Option<&Value>) -> Vec<String> {
    let sides = [(Side::Input, Role::Input, Some(input)), (Side::Output, Role::Output, output)];
    let mut notes = Vec::new();
    for (side, role, schema) in sides {
        let Some(schema) = schema.filter(|schema| check_bounds(schema).is_ok()) else { continue };
        // What keeps it from being used is told apart.
        let Ok(mended) = mended(schema, role) else { continue };
        let name = match side {
            Side::Input => "its input schema",
            Side::Output => "its output schema",
        };
        notes.extend(mended.notes.iter().map(|note| format!("{name} {note}")));
    }
    notes
}

//! The schema policies are checked against, plain and with one tool's arguments.

use std::sync::LazyLock;

use cedar_policy::{Schema, SchemaFragment};
use serde_json::Value;

use super::input::InputType;
use super::scope::NAMESPACE;

/// The schema in Cedar's own form.
pub const SCHEMA: &str = include_str!("../../policies/toolgate.cedarschema");
/// The context types of the actions that have arguments.
const WITH_INPUT: [&str; 2] = ["CallContext", "ApproveContext"];

/// The schema in the form that takes arguments. Reading the text costs as much as making a schema of it.
static JSON: LazyLock<Option<Value>> = LazyLock::new(|| {
    let (fragment, _) = SchemaFragment::from_cedarschema_str(SCHEMA).ok()?;
    fragment.to_json_value().ok()
});

/// The schema without arguments.
pub(super) fn plain() -> Option<Schema> {
    Schema::from_cedarschema_str(SCHEMA).ok().map(|(schema, _)| schema)
}

/// The schema of policies about one tool, whose calls have these arguments.
pub(super) fn with_input(input: &InputType) -> Option<Schema> {
    let mut schema = JSON.clone()?;
    for context in WITH_INPUT {
        let attributes =
            schema.get_mut(NAMESPACE)?.get_mut("commonTypes")?.get_mut(context)?.get_mut("attributes")?;
        attributes.as_object_mut()?.insert("input".to_owned(), required(input.to_schema()));
    }
    Schema::from_json_value(schema).ok()
}

fn required(mut attribute: Value) -> Value {
    attribute["required"] = true.into();
    attribute
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_schemas_can_be_read() {
        let actions = plain().unwrap().actions().count();
        assert_eq!(actions, 6);
        let input = InputType::of(&json!({
            "type": "object",
            "properties": { "a b\"c": { "type": "integer" }, "type": { "type": "string" }, "__cedar": { "type": "number" } }
        }));
        assert!(with_input(&input).is_some());
        assert!(with_input(&InputType::default()).is_some());
    }
}

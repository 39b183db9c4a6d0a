//! What the keywords of all dialects take, for schemas that were written by others and keep to no meta-schema.

use std::collections::HashSet;

use serde_json::Value;

/// What stands after a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A schema.
    Schema,
    /// A schema that is mostly a boolean, and as such known to every reader.
    Rest,
    /// Schemas in a list.
    List,
    /// A schema, or a list of them in older dialects.
    SchemaOrList,
    /// Schemas by name.
    Schemas,
    /// A type, or several.
    Types,
    /// A number.
    Number,
    /// A number; in draft-04 a boolean that belongs to the number beside it.
    Exclusive,
    /// How many: a whole number from zero on.
    Count,
    /// True or false.
    Flag,
    /// Text.
    Text,
    /// Names of properties.
    Names,
    /// Names of properties by name, or schemas in older dialects.
    Dependents,
    /// Values in a list.
    Values,
    /// Anything.
    Anything,
}

/// What a keyword takes; none for one that no dialect has.
pub(crate) fn takes(keyword: &str) -> Option<Takes> {
    Some(match keyword {
        "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "contentSchema" => Takes::Schema,
        "additionalProperties" | "additionalItems" | "unevaluatedProperties" | "unevaluatedItems" => {
            Takes::Rest
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Takes::List,
        "items" => Takes::SchemaOrList,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => Takes::Schemas,
        "type" => Takes::Types,
        "minimum" | "maximum" | "multipleOf" => Takes::Number,
        "exclusiveMinimum" | "exclusiveMaximum" => Takes::Exclusive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Takes::Count,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => Takes::Flag,
        "title" | "description" | "$comment" | "pattern" | "format" | "contentEncoding"
        | "contentMediaType" | "$ref" | "$dynamicRef" | "$recursiveRef" | "$id" | "$schema" | "$anchor"
        | "$dynamicAnchor" => Takes::Text,
        "required" => Takes::Names,
        "dependentRequired" | "dependencies" => Takes::Dependents,
        "enum" | "examples" => Takes::Values,
        "const" | "default" => Takes::Anything,
        _ => return None,
    })
}

/// Whether a value can stand where a schema does.
pub(crate) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// What `type` says, if all of it is a type.
pub(crate) fn types(held: &Value) -> Option<Value> {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match held {
        Value::Array(names) if !names.is_empty() && names.iter().all(known) => {
            Some(Value::Array(without_repeats(names)))
        }
        Value::String(_) if known(held) => Some(held.clone()),
        _ => None,
    }
}

/// The names in a list, each once; none if it is no list of names.
pub(crate) fn names(held: &Value) -> Option<Value> {
    let names = held.as_array()?;
    names.iter().all(Value::is_string).then(|| Value::Array(without_repeats(names)))
}

/// The values in a list, if there are any.
pub(crate) fn values(held: &Value) -> Option<Value> {
    held.as_array().filter(|values| !values.is_empty()).map(|_| held.clone())
}

/// Whether a value says how many.
pub(crate) fn is_count(held: &Value) -> bool {
    held.is_u64() || held.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
}

/// Whether a value is a number that this keyword takes.
pub(crate) fn is_number(keyword: &str, held: &Value) -> bool {
    held.is_number() && (keyword != "multipleOf" || held.as_f64().is_some_and(|number| number > 0.0))
}

/// In draft-04 a limit is exclusive when a boolean beside it says so: the keyword a limit has in every later dialect.
pub(crate) fn limit_keyword(keyword: &str, beside: impl Fn(&str) -> bool) -> &str {
    match keyword {
        "minimum" if beside("exclusiveMinimum") => "exclusiveMinimum",
        "maximum" if beside("exclusiveMaximum") => "exclusiveMaximum",
        other => other,
    }
}

/// Each name once, in the order they came; of a list of nothing but names.
fn without_repeats(names: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
}

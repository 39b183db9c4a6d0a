//! A tool's arguments as Cedar knows them: the same type shapes the schema a policy is checked against and the value
//! it is evaluated with.

use std::collections::BTreeMap;

use cedar_policy::RestrictedExpression;
use serde_json::{Value, json};

use super::number;

/// How deep types and values nest. What lies deeper is not there.
const DEEPEST: usize = 8;
/// The most fields of one tool, counted everywhere. Those after are not there.
const MOST_FIELDS: usize = 256;
/// The most values of one call's arguments that policies read.
const MOST_VALUES: usize = 20_000;
/// The most references followed in one schema.
const MOST_REFERENCES: usize = 256;

/// The arguments of a tool: a record of what has a type in Cedar. Unions, free objects and what has no type are not
/// in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct InputType(Fields);

type Fields = BTreeMap<String, Field>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    kind: Type,
    required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    Long,
    Decimal,
    String,
    Bool,
    Set(Box<Type>),
    Record(Fields),
}

/// Arguments that are not what the tool's schema says, or too many.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadInput {
    #[error("the arguments do not have the tool's types")]
    Type,
    #[error("the arguments have more than {MOST_VALUES} values")]
    TooMany,
}

impl InputType {
    /// The type of what a JSON Schema describes.
    pub(super) fn of(schema: &Value) -> Self {
        let mut reader = Reader { root: schema, fields: MOST_FIELDS, references: MOST_REFERENCES };
        match reader.read(schema, DEEPEST) {
            Some(Type::Record(fields)) => Self(fields),
            _ => Self::default(),
        }
    }

    /// The names of the arguments.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// As the type of an attribute in Cedar's JSON schema.
    pub(super) fn to_schema(&self) -> Value {
        record_schema(&self.0)
    }

    /// A call's arguments as a record of this type.
    pub(super) fn convert(&self, input: &Value) -> Result<RestrictedExpression, BadInput> {
        convert_record(&self.0, input, &mut { MOST_VALUES })
    }
}

struct Reader<'a> {
    root: &'a Value,
    fields: usize,
    references: usize,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Value, depth: usize) -> Option<Type> {
        let depth = depth.checked_sub(1)?;
        let name = match schema.get("type") {
            Some(Value::String(name)) => name.as_str(),
            Some(Value::Array(names)) if names.len() == 1 => names[0].as_str()?,
            Some(_) => return None,
            // A type declared once and named from elsewhere, as schema generators write it.
            None => {
                let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
                self.references = self.references.checked_sub(1)?;
                let target = self.root.pointer(pointer)?;
                return self.read(target, depth);
            }
        };
        match name {
            "integer" => Some(Type::Long),
            "number" => Some(Type::Decimal),
            "string" => Some(Type::String),
            "boolean" => Some(Type::Bool),
            // With `prefixItems` the items may differ in type.
            "array" if schema.get("prefixItems").is_none() => {
                Some(Type::Set(Box::new(self.read(schema.get("items")?, depth)?)))
            }
            "object" => Some(Type::Record(self.read_fields(schema, depth)?)),
            _ => None,
        }
    }

    fn read_fields(&mut self, schema: &Value, depth: usize) -> Option<Fields> {
        let properties = schema.get("properties")?.as_object()?;
        let required = schema.get("required").and_then(Value::as_array);
        let mut fields = Fields::new();
        for (name, property) in properties {
            if self.fields == 0 {
                break;
            }
            self.fields -= 1;
            if let Some(kind) = self.read(property, depth) {
                let required = required.is_some_and(|names| names.iter().any(|required| required == name));
                fields.insert(name.clone(), Field { kind, required });
            }
        }
        Some(fields)
    }
}

fn record_schema(fields: &Fields) -> Value {
    let attributes = fields.iter().map(|(name, field)| {
        let mut schema = type_schema(&field.kind);
        schema["required"] = field.required.into();
        (name.clone(), schema)
    });
    json!({ "type": "Record", "attributes": Value::Object(attributes.collect()) })
}

fn type_schema(kind: &Type) -> Value {
    match kind {
        Type::Long => json!({ "type": "Long" }),
        Type::Decimal => json!({ "type": "Extension", "name": "decimal" }),
        Type::String => json!({ "type": "String" }),
        Type::Bool => json!({ "type": "Boolean" }),
        Type::Set(element) => json!({ "type": "Set", "element": type_schema(element) }),
        Type::Record(fields) => record_schema(fields),
    }
}

fn convert_record(
    fields: &Fields,
    value: &Value,
    left: &mut usize,
) -> Result<RestrictedExpression, BadInput> {
    let object = value.as_object().ok_or(BadInput::Type)?;
    let mut attributes = Vec::new();
    for (name, field) in fields {
        match object.get(name) {
            Some(value) => attributes.push((name.clone(), convert(&field.kind, value, left)?)),
            None if field.required => return Err(BadInput::Type),
            None => {}
        }
    }
    RestrictedExpression::new_record(attributes).map_err(|_| BadInput::Type)
}

fn convert(kind: &Type, value: &Value, left: &mut usize) -> Result<RestrictedExpression, BadInput> {
    *left = left.checked_sub(1).ok_or(BadInput::TooMany)?;
    let converted = match (kind, value) {
        (Type::Long, Value::Number(found)) => number::long(found).map(RestrictedExpression::new_long),
        (Type::Decimal, Value::Number(found)) => {
            number::decimal(found).map(RestrictedExpression::new_decimal)
        }
        (Type::String, Value::String(text)) => Some(RestrictedExpression::new_string(text.clone())),
        (Type::Bool, Value::Bool(flag)) => Some(RestrictedExpression::new_bool(*flag)),
        (Type::Set(element), Value::Array(items)) => {
            let items =
                items.iter().map(|item| convert(element, item, left)).collect::<Result<Vec<_>, _>>()?;
            Some(RestrictedExpression::new_set(items))
        }
        (Type::Record(fields), _) => return convert_record(fields, value, left),
        _ => None,
    };
    converted.ok_or(BadInput::Type)
}

#[cfg(test)]
mod tests {
    use cedar_policy::{Context, EvalResult};

    use super::*;

    fn order() -> InputType {
        InputType::of(&json!({
            "type": "object",
            "required": ["amount", "order"],
            "properties": {
                "amount": { "type": "integer" },
                "price": { "type": "number" },
                "note": { "type": ["string"] },
                "tags": { "type": "array", "items": { "type": "string" } },
                "order": { "$ref": "#/$defs/order" },
                "either": { "type": ["string", "null"] },
                "free": { "type": "object" },
                "any": {},
                "mixed": { "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } },
                "unknown_items": { "type": "array" }
            },
            "$defs": { "order": { "type": "object", "properties": {
                "paid": { "type": "boolean" }, "next": { "$ref": "#/$defs/order" }
            } } }
        }))
    }

    fn convert(input: Value) -> Result<EvalResult, BadInput> {
        let record = order().convert(&input)?;
        Ok(Context::from_pairs([("input".to_owned(), record)]).unwrap().get("input").unwrap())
    }

    #[test]
    fn only_what_has_a_type_is_there() {
        let schema = order().to_schema();
        let attributes = schema["attributes"].as_object().unwrap();
        let names: Vec<&String> = attributes.keys().collect();
        assert_eq!(names, ["amount", "note", "order", "price", "tags"]);
        assert_eq!(attributes["amount"], json!({"type": "Long", "required": true}));
        assert_eq!(attributes["price"], json!({"type": "Extension", "name": "decimal", "required": false}));
        assert_eq!(
            attributes["tags"],
            json!({"type": "Set", "element": {"type": "String"}, "required": false})
        );
        assert_eq!(attributes["order"]["attributes"]["paid"], json!({"type": "Boolean", "required": false}));
    }

    #[test]
    fn values_come_in_the_same_types() {
        let found = convert(json!({
            "amount": 5.0, "price": 1.23456, "tags": ["a", "a", "b"], "order": {"paid": true, "x": 1}, "any": [null]
        }));
        assert_eq!(
            found.unwrap().to_string(),
            r#"{"amount": 5, "order": {"paid": true}, "price": decimal("1.2346"), "tags": ["a", "b"]}"#
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in [
            json!(null),
            json!({}),
            json!({"amount": "5", "order": {}}),
            json!({"amount": 5.5, "order": {}}),
            json!({"amount": 5, "order": []}),
            json!({"amount": 5, "order": {}, "note": null}),
            json!({"amount": 5, "order": {}, "tags": ["a", 1]}),
        ] {
            assert_eq!(convert(bad.clone()), Err(BadInput::Type), "{bad}");
        }
        let many = json!({"amount": 5, "order": {}, "tags": vec!["x"; MOST_VALUES]});
        assert_eq!(convert(many), Err(BadInput::TooMany));
    }

    #[test]
    fn hostile_schemas_stay_small() {
        let fan: serde_json::Map<String, Value> =
            (0..50).map(|i| (format!("f{i}"), json!({ "$ref": "#/$defs/a" }))).collect();
        let kind = InputType::of(&json!({
            "type": "object", "properties": fan.clone(),
            "$defs": { "a": { "type": "object", "properties": fan } }
        }));
        assert!(kind.to_schema().to_string().len() < 100_000);
        assert_eq!(InputType::of(&json!({"$ref": "#"})), InputType::default());
        assert_eq!(InputType::of(&json!(true)), InputType::default());
    }
}

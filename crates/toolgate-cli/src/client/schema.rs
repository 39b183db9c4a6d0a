//! A tool's input schema as a list of fields: what a flag or a line of a table needs to know.

use serde_json::{Map, Value};

/// How deep fields of fields are listed.
const DEPTH: usize = 3;
/// How many steps from a schema to what it stands for; a circle of references ends here.
const STEPS: usize = 16;

/// One property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) default: Option<Value>,
    pub(super) description: String,
    /// The fields of an object, or of the objects in a list.
    pub(super) inner: Vec<Field>,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    /// One of these.
    Choice(Vec<Choice>),
    /// Any number of scalars.
    List(Box<Kind>),
    /// Anything else, such as an object.
    Json(&'static str),
}

/// One value of an enumeration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) text: String,
    pub(super) value: Value,
    pub(super) description: Option<String>,
}

impl Kind {
    /// What people call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::Choice(choices) => {
                choices.iter().map(|choice| choice.text.as_str()).collect::<Vec<_>>().join(" | ")
            }
            Self::List(item) => format!("list of {}", item.name()),
            Self::Json(what) => (*what).to_owned(),
        }
    }
}

/// The fields of an object schema, in its own order.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    fields_of(schema, &Resolved::new(schema, schema), DEPTH)
}

fn fields_of(root: &Value, object: &Resolved<'_>, depth: usize) -> Vec<Field> {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let required = object.get("required").and_then(Value::as_array);
    properties
        .iter()
        .map(|(name, schema)| {
            let seen = Resolved::new(root, schema);
            Field {
                name: name.clone(),
                kind: seen.kind(root),
                required: required
                    .is_some_and(|names| names.iter().any(|required| required == name.as_str())),
                default: seen.get("default").filter(|default| !default.is_null()).cloned(),
                description: seen.text("description").unwrap_or_default(),
                inner: inner(root, &seen, depth),
            }
        })
        .collect()
}

fn inner(root: &Value, seen: &Resolved<'_>, depth: usize) -> Vec<Field> {
    if depth <= 1 {
        return Vec::new();
    }
    match seen.get("items") {
        Some(items) => fields_of(root, &Resolved::new(root, items), depth - 1),
        None => fields_of(root, seen, depth - 1),
    }
}

/// A schema and what it refers to, nearest first: words beside a `$ref` win over the words behind it.
struct Resolved<'a>(Vec<&'a Map<String, Value>>);

impl<'a> Resolved<'a> {
    fn new(root: &'a Value, schema: &'a Value) -> Self {
        let mut parts = Vec::new();
        let mut current = schema.as_object();
        while let Some(part) = current.filter(|_| parts.len() < STEPS) {
            parts.push(part);
            current = stands_for(root, part).and_then(Value::as_object);
        }
        Self(parts)
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|part| part.get(key))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key)
            .and_then(Value::as_str)
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn kind(&self, root: &Value) -> Kind {
        if let Some(choices) = self.choices() {
            return Kind::Choice(choices);
        }
        match self.type_name() {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("array") => match self.get("items").map(|items| Resolved::new(root, items).kind(root)) {
                Some(Kind::Json("object")) => Kind::Json("list of objects"),
                None | Some(Kind::Json(_) | Kind::List(_)) => Kind::Json("list"),
                Some(item) => Kind::List(Box::new(item)),
            },
            Some("object") => Kind::Json("object"),
            _ => Kind::Json("JSON"),
        }
    }

    /// The one type there is beside `null`.
    fn type_name(&self) -> Option<&'a str> {
        match self.get("type")? {
            Value::String(name) => Some(name),
            Value::Array(names) => {
                let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                names.next().filter(|_| names.next().is_none())
            }
            _ => None,
        }
    }

    fn choices(&self) -> Option<Vec<Choice>> {
        let mut choices = Vec::new();
        if self.get("const").is_some() || self.get("enum").is_some() {
            collect(&self.0, &mut choices)?;
        } else {
            let options = self.get("oneOf").or_else(|| self.get("anyOf"))?.as_array()?;
            for option in options.iter().filter(|option| !is_null(option)) {
                collect(&[option.as_object()?], &mut choices)?;
            }
        }
        Some(choices).filter(|choices| !choices.is_empty())
    }
}

/// Adds the values of one enumeration; nothing when it has values that can't be written as one word.
fn collect(parts: &[&Map<String, Value>], choices: &mut Vec<Choice>) -> Option<()> {
    let get = |key: &str| parts.iter().find_map(|part| part.get(key));
    let values = match (get("const"), get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(values)) => values.as_array()?.as_slice(),
        (None, None) => return None,
    };
    let description = get("description").and_then(Value::as_str).filter(|_| get("const").is_some());
    for value in values.iter().filter(|value| !value.is_null()) {
        let text = match value {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        choices.push(Choice { text, value: value.clone(), description: description.map(str::to_owned) });
    }
    Some(())
}

/// What a schema says by pointing elsewhere: a local `$ref`, an `allOf` of one, or "this or null".
fn stands_for<'a>(root: &'a Value, part: &'a Map<String, Value>) -> Option<&'a Value> {
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        return root.pointer(reference.strip_prefix('#')?);
    }
    let only = |key: &str| {
        let mut options = part.get(key)?.as_array()?.iter().filter(|option| !is_null(option));
        options.next().filter(|_| options.next().is_none())
    };
    only("allOf").or_else(|| only("anyOf")).or_else(|| only("oneOf"))
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

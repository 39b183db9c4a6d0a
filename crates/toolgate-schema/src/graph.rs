//! A schema as a graph: its subschemas, and which of them apply to what.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::error::SchemaError;
use crate::shown;

/// Where a subschema applies, seen from the schema that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the same value.
    Same,
    /// To a part of the value.
    Part,
    /// To nothing until something refers to it.
    Nothing,
}

/// How a keyword holds its subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    List,
    OneOrList,
    Map,
}

/// The keywords that hold subschemas, of both dialects. One that a dialect does not know is walked all the same: more
/// is checked than will apply, never less.
fn subschemas(keyword: &str) -> Option<(Holds, Reach)> {
    Some(match keyword {
        "not" | "if" | "then" | "else" => (Holds::One, Reach::Same),
        "allOf" | "anyOf" | "oneOf" => (Holds::List, Reach::Same),
        "dependentSchemas" | "dependencies" => (Holds::Map, Reach::Same),
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => (Holds::One, Reach::Part),
        "items" => (Holds::OneOrList, Reach::Part),
        "prefixItems" => (Holds::List, Reach::Part),
        "properties" | "patternProperties" => (Holds::Map, Reach::Part),
        "$defs" | "definitions" => (Holds::Map, Reach::Nothing),
        "contentSchema" => (Holds::One, Reach::Nothing),
        _ => return None,
    })
}

/// The place of a node in the list of nodes.
pub(crate) type NodeId = usize;

/// The schema that holds another, the keyword it holds it under, and the name or number among that keyword's own.
type Holder<'a> = (NodeId, &'a str, Cow<'a, str>);

/// One schema within the schema.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// The schema, if it is not a boolean.
    pub(crate) keywords: Option<&'a Map<String, Value>>,
    /// The schemas it holds or refers to.
    pub(crate) edges: Vec<(Reach, NodeId)>,
    holder: Option<Holder<'a>>,
}

/// All schemas of a schema, the whole one first.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
}

impl<'a> Graph<'a> {
    /// Walks a schema whose size and depth are known to be within bounds, and follows its references.
    pub(crate) fn of(schema: &'a Value) -> Result<Self, SchemaError> {
        let mut graph = Self { nodes: Vec::new() };
        let mut places = HashMap::new();
        let mut rest: Vec<(&Value, Option<Holder<'_>>, Reach)> = vec![(schema, None, Reach::Nothing)];
        while let Some((value, holder, reach)) = rest.pop() {
            let id = graph.nodes.len();
            places.insert(address(value), id);
            if let Some((holder, ..)) = &holder {
                graph.nodes[*holder].edges.push((reach, id));
            }
            let keywords = value.as_object();
            graph.nodes.push(Node { keywords, edges: Vec::new(), holder });
            for (keyword, held) in keywords.into_iter().flatten() {
                let Some((holds, reach)) = subschemas(keyword) else { continue };
                let mut hold = |key: Cow<'a, str>, value: &'a Value| {
                    if value.is_object() || value.is_boolean() {
                        rest.push((value, Some((id, keyword.as_str(), key)), reach));
                    }
                };
                match (holds, held) {
                    (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => {
                        hold("".into(), held)
                    }
                    (Holds::List | Holds::OneOrList, Value::Array(items)) => {
                        for (i, item) in items.iter().enumerate() {
                            hold(i.to_string().into(), item);
                        }
                    }
                    (Holds::Map, Value::Object(map)) => {
                        for (key, value) in map {
                            hold(key.as_str().into(), value);
                        }
                    }
                    // Something else in its place: the meta-schema says so.
                    _ => {}
                }
            }
        }
        graph.follow_references(schema, &places)?;
        Ok(graph)
    }

    fn follow_references(
        &mut self,
        root: &'a Value,
        places: &HashMap<usize, NodeId>,
    ) -> Result<(), SchemaError> {
        for id in 0..self.nodes.len() {
            let Some(Value::String(reference)) =
                self.nodes[id].keywords.and_then(|schema| schema.get("$ref"))
            else {
                continue;
            };
            if !reference.starts_with('#') {
                return Err(SchemaError::RemoteRef { path: self.path(id) });
            }
            let target = resolve(root, reference).and_then(|target| places.get(&address(target)));
            let Some(target) = target else { return Err(SchemaError::DanglingRef { path: self.path(id) }) };
            self.nodes[id].edges.push((Reach::Same, *target));
        }
        Ok(())
    }

    /// The JSON pointer to a node.
    pub(crate) fn path(&self, id: NodeId) -> String {
        self.path_to(id, &[])
    }

    /// The JSON pointer to something within a node.
    pub(crate) fn path_to(&self, id: NodeId, inner: &[&str]) -> String {
        let mut segments: Vec<&str> = inner.iter().rev().copied().collect();
        let mut at = &self.nodes[id];
        while let Some((holder, keyword, key)) = &at.holder {
            if !key.is_empty() {
                segments.push(key);
            }
            segments.push(keyword);
            at = &self.nodes[*holder];
        }
        shown::pointer(segments.into_iter().rev().map(shown::schema_key))
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// What a local reference such as `#/$defs/name` points to.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.contains('%') {
        return root.pointer(fragment);
    }
    root.pointer(&percent_decoded(fragment)?)
}

pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

//! What a schema must be before it is compiled.

use jsonschema::Draft;
use serde_json::{Map, Value};
use toolgate_core::json::{Bounds, OutOfBounds};

use crate::error::SchemaError;
use crate::graph::{Graph, NodeId};
use crate::names::{forbidden_name, forbidden_pattern};
use crate::pattern::{BadPattern, Patterns};
use crate::shown;
use crate::weight::{Weight, weigh};

/// The longest schema text, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;
/// The deepest nesting of a schema's JSON.
pub const MAX_DEPTH: usize = 32;
/// The most values in a schema's JSON.
pub const MAX_NODES: usize = 20_000;
/// The most parts a schema may have once its references are followed, a part for each way to it.
pub const MAX_EXPANDED: u64 = 50_000;
/// The most schemas that may lean on each other at one place of a value, such as a definition that is a reference to a
/// definition.
pub(crate) const MAX_CHAIN: u32 = 64;

/// What a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A tool's input: an object whose fields a form, a model and an MCP client can read off the top.
    Input,
    /// A tool's result.
    Output,
}

/// What the checks found out on the way.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) draft: Draft,
    pub(crate) weight: Weight,
    pub(crate) patterns: Patterns,
}

/// Checks that hold for a schema's JSON as such. Everything after this may recurse.
pub(crate) fn check_bounds(schema: &Value) -> Result<(), SchemaError> {
    Bounds { depth: MAX_DEPTH, nodes: MAX_NODES }.check(schema).map_err(|broken| match broken {
        OutOfBounds::Depth(_) => SchemaError::TooDeep,
        OutOfBounds::Nodes(_) => SchemaError::TooManyNodes,
    })?;
    if !schema.is_object() && !schema.is_boolean() {
        return Err(SchemaError::NotASchema);
    }
    if schema.to_string().len() > MAX_BYTES {
        return Err(SchemaError::TooLarge);
    }
    Ok(())
}

/// Checks that a schema fits what it is for.
pub(crate) fn check_role(schema: &Value, role: Role) -> Result<(), SchemaError> {
    if role == Role::Output {
        return Ok(());
    }
    // Servers do say `anyOf` beside `properties`, and clients read the fields off the top all the same.
    for keyword in ["$ref", "enum", "const"] {
        if schema.get(keyword).is_some() {
            return Err(SchemaError::InputCombined { keyword });
        }
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaError::InputNotObject);
    }
    Ok(())
}

/// Checks everything else but the meta-schema.
pub(crate) fn check_content(schema: &Value) -> Result<Checked, SchemaError> {
    let draft = dialect(schema)?;
    let graph = Graph::of(schema)?;
    let mut patterns = Patterns::default();
    for (id, node) in graph.nodes.iter().enumerate() {
        let Some(keywords) = node.keywords else { continue };
        check_keywords(&graph, id, keywords)?;
        collect_patterns(&graph, id, keywords, draft, &mut patterns)?;
    }
    Ok(Checked { draft, weight: weigh(&graph)?, patterns })
}

fn dialect(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(named) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    let bare = named.as_str().map(|uri| uri.trim_end_matches('#'));
    match bare.and_then(|uri| uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))) {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        _ => Err(SchemaError::UnknownDialect),
    }
}

/// A schema is one document: keywords that give parts of it other names or another dialect are refused, so that a
/// reference can only mean a place. The top may have a `$id`, which then means nothing.
fn check_keywords(graph: &Graph<'_>, id: NodeId, keywords: &Map<String, Value>) -> Result<(), SchemaError> {
    // `$anchor` names a place that no reference may use: it changes nothing, and stays as it came.
    const REFUSED: [&str; 5] =
        ["$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"];
    const ONLY_AT_THE_TOP: [&str; 2] = ["$id", "$schema"];
    let below_top: &[&str] = if id == 0 { &[] } else { &ONLY_AT_THE_TOP };
    match REFUSED.iter().chain(below_top).find(|keyword| keywords.contains_key(**keyword)) {
        Some(keyword) => Err(SchemaError::Keyword { path: graph.path(id), keyword }),
        None => Ok(()),
    }
}

/// Checks that no property of a schema that can be compiled carries a secret or chooses a connection. What tools of
/// other servers call their properties is theirs to say.
pub(crate) fn check_names(schema: &Value) -> Result<(), SchemaError> {
    let (draft, graph) = (dialect(schema)?, Graph::of(schema)?);
    for (id, node) in graph.nodes.iter().enumerate() {
        let Some(keywords) = node.keywords else { continue };
        check_names_of(&graph, id, keywords)?;
        let mut patterns = Patterns::default();
        for (pattern, _) in keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
        {
            // One that does not fit was refused before.
            let known = patterns.add(pattern, draft).is_ok();
            if let Some(kind) = forbidden_pattern(|name| known && patterns.matches(pattern, name)) {
                let name = shown::name(pattern).to_owned();
                let path = graph.path_to(id, &["patternProperties"]);
                return Err(SchemaError::ForbiddenProperty { path, name, kind });
            }
        }
    }
    Ok(())
}

fn check_names_of(graph: &Graph<'_>, id: NodeId, keywords: &Map<String, Value>) -> Result<(), SchemaError> {
    let refuse = |keyword: &str, name: &str| match forbidden_name(name) {
        Some(kind) => Err(SchemaError::ForbiddenProperty {
            path: graph.path_to(id, &[keyword]),
            name: shown::name(name).to_owned(),
            kind,
        }),
        None => Ok(()),
    };
    for keyword in ["properties", "dependentSchemas", "dependentRequired", "dependencies"] {
        for (name, value) in keywords.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            refuse(keyword, name)?;
            // `dependentRequired` and `dependencies` hold lists of names.
            for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                refuse(keyword, name)?;
            }
        }
    }
    for name in
        keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        refuse("required", name)?;
    }
    if let Some(of_names) = keywords.get("propertyNames") {
        let listed = of_names.get("enum").and_then(Value::as_array).into_iter().flatten();
        for name in listed.chain(of_names.get("const")).filter_map(Value::as_str) {
            refuse("propertyNames", name)?;
        }
    }
    Ok(())
}

fn collect_patterns(
    graph: &Graph<'_>,
    id: NodeId,
    keywords: &Map<String, Value>,
    draft: Draft,
    patterns: &mut Patterns,
) -> Result<(), SchemaError> {
    let of_properties = keywords.get("patternProperties").and_then(Value::as_object);
    let of_names =
        of_properties.into_iter().flatten().map(|(pattern, _)| ("patternProperties", pattern.as_str()));
    let of_text = keywords.get("pattern").and_then(Value::as_str).map(|pattern| ("pattern", pattern));
    for (keyword, pattern) in of_names.chain(of_text) {
        let path = || graph.path_to(id, &[keyword]);
        patterns.add(pattern, draft).map_err(|bad| match bad {
            BadPattern::Unfit => SchemaError::Pattern { path: path() },
            BadPattern::TooMany => SchemaError::TooManyPatterns,
        })?;
    }
    Ok(())
}

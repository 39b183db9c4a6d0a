use serde_json::{Value, json};

use super::*;

const ID: &str = "fil_0199c0de0199c0de0199c0de0199c0de";

fn check(schema: Value, input: Value, expected: &[&str]) {
    let found = FilePlaces::of(&schema).named(&input);
    let shown: Vec<String> = found
        .iter()
        .map(|named| format!("{}{}", named.path, if named.id.is_some() { "" } else { " is no id" }))
        .collect();
    assert_eq!(shown, expected, "{schema} {input}");
}

fn file() -> Value {
    json!({ "type": "string", "format": "file" })
}

#[test]
fn a_schema_without_files_has_no_places() {
    let schema = json!({ "properties": { "a": { "format": "date" }, "file": { "type": "string" } } });
    assert!(FilePlaces::of(&schema).is_empty());
    check(schema, json!({ "file": ID }), &[]);
}

#[test]
fn places_are_found_in_fields_lists_and_maps() {
    let schema = json!({ "properties": {
        "one": file(),
        "many": { "type": "array", "items": file() },
        "pair": { "prefixItems": [{ "type": "string" }, file()], "items": file() },
        "old": { "items": [file(), { "type": "string" }] },
        "map": { "properties": { "title": { "type": "string" } }, "additionalProperties": file() },
        "deep": { "properties": { "a/b": { "properties": { "c": file() } } } },
        "text": { "type": "string" }
    } });
    check(schema.clone(), json!({ "one": ID, "text": ID, "more": ID }), &["/one"]);
    check(schema.clone(), json!({ "one": "x" }), &["/one is no id"]);
    check(schema.clone(), json!({ "many": [ID, "../../etc/passwd"] }), &["/many/0", "/many/1 is no id"]);
    check(
        schema.clone(),
        json!({ "pair": ["plain", ID, ID], "old": [ID, "x"] }),
        &["/pair/1", "/pair/2", "/old/0"],
    );
    check(schema.clone(), json!({ "map": { "title": "x", "a": ID } }), &["/map/a"]);
    check(schema.clone(), json!({ "deep": { "a/b": { "c": ID } } }), &["/deep/a~1b/c"]);
    check(schema, json!({ "one": null, "many": {}, "map": [ID] }), &[]);
}

#[test]
fn references_lead_there_and_may_go_in_circles() {
    let schema = json!({
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": { "properties": {
                "leaf": { "$ref": "#/$defs/a%20file" },
                "named": { "$ref": "#upload" },
                "below": { "type": "array", "items": { "$ref": "#/$defs/tree" } },
                "self": { "allOf": [{ "$ref": "#/$defs/circle" }] }
            } },
            "circle": { "allOf": [{ "$ref": "#/$defs/circle" }, { "$ref": "#" }] },
            "a file": file(),
            "x": { "$anchor": "upload", "format": "file" }
        }
    });
    check(
        schema.clone(),
        json!({ "leaf": ID, "below": [{ "below": [{ "leaf": ID }] }] }),
        &["/leaf", "/below/0/below/0/leaf"],
    );
    check(schema.clone(), json!({ "named": ID }), &["/named"]);
    check(schema, json!({ "self": { "leaf": "x" } }), &["/self/leaf is no id"]);
}

/// Where a text may be meant otherwise, only what is an id counts as a file.
#[test]
fn a_choice_is_left_to_the_schema() {
    let either = json!({ "oneOf": [
        { "properties": { "kind": { "const": "text" }, "value": { "type": "string" } } },
        { "properties": { "kind": { "const": "file" }, "value": file() } }
    ] });
    check(either.clone(), json!({ "kind": "text", "value": "hello" }), &[]);
    check(either, json!({ "kind": "file", "value": ID }), &["/value"]);
    let both =
        json!({ "allOf": [{ "properties": { "a": file() } }], "anyOf": [{ "properties": { "a": {} } }] });
    check(both, json!({ "a": "hello" }), &["/a is no id"]);
    let when = json!({ "properties": { "a": true }, "if": { "required": ["a"] }, "then": { "properties": { "a": file() } } });
    check(when, json!({ "a": ID }), &["/a"]);
}

/// Each level describes its part twice; walking it takes a moment, not two to the power of its depth.
#[test]
fn wide_schemas_stay_quick() {
    let mut schema = file();
    let mut input = json!(ID);
    for _ in 0..60 {
        schema = json!({ "allOf": [{ "properties": { "n": { "$ref": "#" } } }, { "properties": { "n": schema.clone() } }] });
        if schema.to_string().len() > 100_000 {
            break;
        }
        input = json!({ "n": input });
    }
    assert_eq!(FilePlaces::of(&schema).named(&input).len(), 1);
}

#[test]
fn what_is_accepted_comes_with_the_place() {
    let of = |accept: &str| json!({ "type": "string", "format": "file", "x-accept": [accept] });
    let schema = json!({ "properties": {
        "free": file(),
        "table": of(".csv"),
        "both": { "allOf": [of(".csv"), of("text/*")] },
        "either": { "anyOf": [of(".csv"), of(".pdf")] },
        "loose": { "anyOf": [of(".csv"), file()] },
        "text": { "type": "string", "x-accept": [".csv"] }
    } });
    let input = json!({ "free": ID, "table": ID, "both": ID, "either": ID, "loose": ID, "text": ID });
    let found = FilePlaces::of(&schema).named(&input);
    let at = |path: &str| found.iter().find(|named| named.path == path).map(|named| &named.accept);
    assert_eq!(at("/text"), None);
    let shown = |path: &str| -> Vec<String> { at(path).unwrap().iter().map(ToString::to_string).collect() };
    assert!(shown("/free").is_empty());
    assert_eq!(shown("/table"), ["`.csv`"]);
    assert_eq!(shown("/both"), ["`.csv`", "`text/*`"]);
    assert_eq!(shown("/either"), ["`.csv` or `.pdf`"]);
    assert!(shown("/loose").is_empty());
}

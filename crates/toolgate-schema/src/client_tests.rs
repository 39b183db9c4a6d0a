//! What clients are shown of a schema.

use serde_json::{Value, json};

use crate::{Role, for_clients};

#[track_caller]
fn check(role: Role, schema: Value, expected: Value) {
    assert_eq!(for_clients(&schema, role).to_string(), expected.to_string());
}

/// A field's schema, as an input's and as an output's.
#[track_caller]
fn field(schema: Value, expected: Value) {
    let whole = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    for role in [Role::Input, Role::Output] {
        check(role, whole(schema.clone()), whole(expected.clone()));
    }
}

#[test]
fn what_clients_can_read_stays_as_it_is() {
    for schema in [
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": { "address": { "$anchor": "addressDef", "type": "object" } },
            "properties": {
                "name": { "type": ["string", "null"], "default": null, "x-mcp-header": "Name", "minLength": 1 },
                "address": { "$ref": "#/$defs/address" },
                "list": { "type": "array", "prefixItems": [{ "const": null }], "items": { "enum": [1, null] } },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] }, "else": { "required": ["email"] },
            "additionalProperties": false, "unevaluatedProperties": false, "required": [],
        }),
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object",
            "properties": { "a": { "type": "array", "items": [{}], "additionalItems": false } },
        }),
    ] {
        check(Role::Input, schema.clone(), schema);
    }
    // Expressions that we do not run are for the model to read.
    let pattern = json!({ "type": "object", "properties": { "e": { "pattern": r"^(?!\.)(?P<x>a)\1" } } });
    check(Role::Input, pattern.clone(), pattern);
}

#[test]
fn booleans_become_objects_where_schemas_stand() {
    field(json!(true), json!({}));
    field(json!(false), json!({ "not": {} }));
    field(
        json!({ "anyOf": [true, false], "items": true, "not": false, "patternProperties": { "x": true } }),
        json!({ "anyOf": [{}, { "not": {} }], "items": {}, "not": { "not": {} }, "patternProperties": { "x": {} } }),
    );
    field(json!({ "additionalProperties": true }), json!({ "additionalProperties": true }));
}

#[test]
fn an_input_has_its_fields_at_the_top() {
    check(Role::Input, json!({}), json!({ "type": "object", "properties": {} }));
    check(Role::Input, json!({ "type": ["object", "null"] }), json!({ "type": "object", "properties": {} }));
    check(
        Role::Input,
        json!({ "$ref": "#/definitions/In", "definitions": { "In": {
            "type": "object", "properties": { "a": { "$ref": "#/definitions/In" } }, "additionalProperties": {},
        } } }),
        json!({
            "definitions": { "In": {
                "type": "object", "properties": { "a": { "$ref": "#/definitions/In" } }, "additionalProperties": {},
            } },
            "type": "object", "properties": { "a": { "$ref": "#/definitions/In" } }, "additionalProperties": true,
        }),
    );
    // One that only refers to itself says nothing.
    check(Role::Input, json!({ "$ref": "#" }), json!({ "$ref": "#", "type": "object", "properties": {} }));
    check(Role::Output, json!({ "type": "array" }), json!({ "type": "array" }));
    check(Role::Output, json!({ "properties": {} }), json!({ "properties": {}, "type": "object" }));
}

#[test]
fn slips_are_not_handed_on() {
    field(
        json!({ "type": "any", "title": null, "description": 5, "required": true, "enum": [], "minLength": "1" }),
        json!({}),
    );
    field(
        json!({ "type": "object", "properties": { "x": null } }),
        json!({ "type": "object", "properties": { "x": {} } }),
    );
    field(json!({ "$ref": "#/$defs/gone", "description": "x" }), json!({ "description": "x" }));
    field(json!({ "nullable": true, "enum": ["a"] }), json!({ "enum": ["a"] }));
    field(json!({ "nullable": true, "type": "string" }), json!({ "nullable": true, "type": "string" }));
    field(
        json!({ "nullable": true, "$ref": "#/properties/a" }),
        json!({ "anyOf": [{ "$ref": "#/properties/a" }, { "type": "null" }] }),
    );
    check(
        Role::Input,
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "$id": "y", "type": "object",
            "properties": { "id": { "type": "string" }, "n": { "minimum": 1, "exclusiveMinimum": true } },
            "required": ["id", "id"],
        }),
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": { "id": { "type": "string" }, "n": { "exclusiveMinimum": 1 } },
            "required": ["id"],
        }),
    );
}

#[test]
fn the_dialect_is_one_that_fits() {
    let tuple = json!({ "type": "object", "properties": { "a": { "items": [{}] } } });
    let mut named = tuple.clone();
    named["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    check(Role::Output, tuple, named);
    let newest = json!({ "type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema" });
    check(Role::Output, newest, json!({ "type": "object" }));
    check(
        Role::Output,
        json!({ "type": "object", "$schema": "https://example.com" }),
        json!({ "type": "object" }),
    );
}

#[test]
fn outputs_have_no_expressions_of_one_language_alone() {
    let with = |pattern: &str| json!({ "type": "object", "properties": { "a": { "pattern": pattern } } });
    check(Role::Output, with("^a$"), with("^a$"));
    check(Role::Output, with("(?i)a"), json!({ "type": "object", "properties": { "a": {} } }));
}

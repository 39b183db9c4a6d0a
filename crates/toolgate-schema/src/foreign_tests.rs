//! Schemas in the manner of the libraries that servers are written with: they are taken, and mean what they meant.

use serde_json::{Value, json};

use crate::{Role, SchemaError, compile, compile_foreign, notes};

/// Which values hold against an output's schema.
#[track_caller]
fn check(schema: Value, holds: &[Value], breaks: &[Value]) {
    let validator =
        compile_foreign(&schema, Role::Output).unwrap_or_else(|error| panic!("{error}\n{schema:#}"));
    for value in holds {
        assert_eq!(validator.validate(value), Ok(()), "{value}\n{schema:#}");
    }
    for value in breaks {
        assert!(validator.validate(value).is_err(), "{value}\n{schema:#}");
    }
}

#[track_caller]
fn noted(schema: Value, expected: &[&str]) {
    assert_eq!(notes(&json!({}), Some(&schema)), expected, "{schema:#}");
}

fn field(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "a": schema } })
}

#[test]
fn formats_are_notes_for_others_and_checks_for_our_own() {
    let pydantic = json!({
        "$defs": { "P": {
            "properties": { "when": { "format": "date-time", "title": "When", "type": "string" } },
            "required": ["when"], "title": "P", "type": "object",
        } },
        "properties": { "result": { "items": { "$ref": "#/$defs/P" }, "title": "Result", "type": "array" } },
        "required": ["result"], "title": "fOutput", "type": "object", "x-fastmcp-wrap-result": true,
    });
    let naive = json!({ "result": [{ "when": "2026-01-01T00:00:00" }] });
    check(pydantic.clone(), std::slice::from_ref(&naive), &[json!({}), json!({ "result": [{ "when": 1 }] })]);
    assert!(compile(&pydantic, Role::Output).unwrap().validate(&naive).is_err());
    // Two forms that only a format tells apart are not told apart.
    check(
        field(
            json!({ "oneOf": [{ "type": "string", "format": "ipv4" }, { "type": "string", "format": "ipv6" }] }),
        ),
        &[json!({ "a": "10.0.0.1" }), json!({ "a": "::1" })],
        &[json!({ "a": 1 })],
    );
    check(field(json!({ "not": { "format": "uuid" } })), &[json!({ "a": "x" })], &[]);
    let draft_07 =
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64" });
    check(draft_07, &[json!("!")], &[]);
}

#[test]
fn expressions_that_are_not_linear_are_left_to_the_server() {
    let zod_email =
        r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    let schema = field(json!({ "type": "string", "format": "email", "pattern": zod_email, "minLength": 3 }));
    check(schema.clone(), &[json!({ "a": "any text" })], &[json!({ "a": "a" }), json!({ "a": 1 })]);
    noted(
        schema,
        &[
            "its output schema has a regular expression at `/properties/a/pattern` that is not run here (look-around, \
           back-references, or past bounds): the server alone checks it",
        ],
    );
    for pattern in [r"(a)\1", "(?P<x>a)(?P=x)", r"((\w{50}){50}){50}", &"a".repeat(2_000), "("] {
        check(field(json!({ "pattern": pattern })), &[json!({ "a": "b" })], &[]);
    }
    // Linear ones are run.
    check(field(json!({ "pattern": "^a+$" })), &[json!({ "a": "aa" })], &[json!({ "a": "b" })]);
    // There are bounds on how many there are.
    let many: Vec<Value> = (0..300).map(|i| json!({ "pattern": format!("^a{i}b") })).collect();
    let found = compile_foreign(&json!({ "anyOf": many }), Role::Output).map(drop);
    assert_eq!(found, Err(SchemaError::TooManyPatterns));
}

#[test]
fn what_is_left_out_never_refuses_more() {
    let unfit = json!({ "type": "string", "pattern": "(?=a)" });
    let a = |value: Value| json!({ "a": value });
    check(field(json!({ "not": unfit })), &[a(json!("x")), a(json!(1))], &[]);
    check(
        field(json!({ "oneOf": [unfit, { "const": "x" }] })),
        &[a(json!("x")), a(json!("y"))],
        &[a(json!(1))],
    );
    check(
        field(json!({ "if": unfit, "then": false, "else": { "type": "number" } })),
        &[a(json!("x")), a(json!(1))],
        &[],
    );
    check(field(json!({ "contains": unfit, "maxContains": 1 })), &[a(json!(["x", "y"]))], &[a(json!([1]))]);
    check(
        field(
            json!({ "patternProperties": { "(?=x)": {}, "^y$": { "type": "string" } }, "additionalProperties": false }),
        ),
        &[a(json!({ "x": 1, "y": "" }))],
        &[a(json!({ "y": 1 }))],
    );
    // By reference it is the same.
    let schema = json!({
        "properties": { "a": { "not": { "$ref": "#/$defs/u" } }, "b": { "oneOf": [{ "$ref": "#/$defs/u" }, {}] } },
        "$defs": { "u": unfit },
    });
    check(schema, &[json!({ "a": "x", "b": "x" })], &[]);
    let open = json!({
        "allOf": [{ "patternProperties": { "(?=x)": {} } }], "unevaluatedProperties": false,
    });
    check(open, &[json!({ "x": 1 })], &[]);
}

#[test]
fn every_dialect_is_understood() {
    let with = |dialect: &str, mut schema: Value| {
        schema["$schema"] = json!(dialect);
        schema
    };
    let draft_04 = "http://json-schema.org/draft-04/schema#";
    check(
        with(
            draft_04,
            json!({ "type": "number", "minimum": 1, "exclusiveMinimum": true, "id": "http://x.example/a" }),
        ),
        &[json!(2)],
        &[json!(1)],
    );
    check(with(draft_04, json!({ "maximum": 1, "exclusiveMaximum": false })), &[json!(1)], &[json!(2)]);
    let tuple = json!({ "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false });
    for dialect in [
        draft_04,
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        let tuple = with(dialect, tuple.clone());
        check(tuple.clone(), &[json!(["a", 1]), json!(["a"])], &[json!([1, 1]), json!(["a", 1, 2])]);
        assert_eq!(notes(&tuple, None), Vec::<String>::new());
    }
    check(tuple, &[json!(["a", 1])], &[json!(["a", "b"]), json!(["a", 1, 2])]);
    check(
        with(
            "http://json-schema.org/draft-07/schema#",
            json!({ "dependencies": {
        "a": ["b"], "c": { "required": ["d"] },
    } }),
        ),
        &[json!({ "a": 1, "b": 1 })],
        &[json!({ "a": 1 }), json!({ "c": 1 })],
    );
    // In draft-07 nothing counts beside a reference; later it does.
    let beside =
        json!({ "$ref": "#/definitions/s", "maxLength": 1, "definitions": { "s": { "type": "string" } } });
    check(with("http://json-schema.org/draft-07/schema#", beside.clone()), &[json!("ab")], &[json!(1)]);
    check(beside, &[json!("a")], &[json!("ab"), json!(1)]);
    let unknown = with("https://example.com/my-dialect", json!({ "type": "string" }));
    check(unknown.clone(), &[json!("")], &[json!(1)]);
    noted(
        unknown,
        &["its output schema names a dialect that is not known here: it is read as JSON Schema 2020-12"],
    );
}

#[test]
fn references_by_name_are_followed() {
    let tree = |schema: Value| {
        check(
            schema,
            &[json!({ "next": { "next": {} } }), json!({})],
            &[json!({ "next": { "next": 1 } }), json!(1)],
        );
    };
    tree(
        json!({ "$dynamicAnchor": "node", "type": "object", "properties": { "next": { "$dynamicRef": "#node" } } }),
    );
    tree(
        json!({ "$recursiveAnchor": true, "type": "object", "properties": { "next": { "$recursiveRef": "#" } } }),
    );
    tree(json!({ "$id": "Node", "type": "object", "properties": { "next": { "$ref": "Node" } } }));
    tree(
        json!({ "$id": "https://x.example/a/node", "type": "object", "properties": { "next": { "$ref": "node" } } }),
    );
    tree(json!({ "$ref": "#/components/schemas/N", "components": { "schemas": {
        "N": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/N" } } },
    } } }));
    tree(json!({ "$ref": "#n", "$defs": { "a/b": {
        "$anchor": "n", "type": "object", "properties": { "next": { "$ref": "#/$defs/a~1b" } },
    } } }));
    // Within an id, places are counted from there.
    tree(json!({ "$ref": "T", "$defs": { "T": {
        "$id": "T", "$ref": "#/$defs/n",
        "$defs": { "n": { "type": "object", "properties": { "next": { "$ref": "#" } } } },
    } } }));
    // As zod writes what it has written before.
    let first = json!({ "type": "object", "properties": {
        "a": { "type": "array", "items": [{ "type": "string", "minLength": 1 }] },
        "b": { "$ref": "#/properties/a/items/0" },
    } });
    check(first, &[json!({ "a": ["x"], "b": "x" })], &[json!({ "b": "" }), json!({ "a": [""] })]);
    let found = compile_foreign(&field(json!({ "$ref": "https://example.com/s" })), Role::Output).map(drop);
    assert_eq!(found, Err(SchemaError::RemoteRef { path: "/properties/a/$ref".into() }));
    check(field(json!({ "$ref": "2/anyOf/0" })), &[json!({ "a": 1 })], &[]);
    noted(
        field(json!({ "$ref": "#/$defs/gone" })),
        &["its output schema has a reference to nothing at `/properties/a/$ref`: anything goes there"],
    );
}

#[test]
fn slips_are_left_out() {
    for (slip, holds) in [
        (json!({ "type": "any" }), json!(1)),
        (json!({ "type": "string", "required": true }), json!("")),
        (json!({ "type": "object", "properties": null, "required": null, "enum": null }), json!({})),
        (json!({ "type": "object", "properties": { "x": null } }), json!({ "x": 1 })),
        (json!({ "type": "string", "enum": [] }), json!("a")),
        (json!({ "anyOf": [] }), json!(1)),
        (json!({ "minLength": "3", "maximum": null, "multipleOf": 0 }), json!("a")),
        (json!({ "type": ["string", "string"], "required": ["a", "a"] }), json!("a")),
        (
            json!({ "description": 5, "title": null, "examples": "x", "deprecated": "no", "$comment": 1 }),
            json!(1),
        ),
        (json!({ "items": [], "additionalProperties": null, "not": null }), json!([])),
        (json!({ "type": "string", "nullable": true }), json!(null)),
        (json!({ "enum": ["a"], "nullable": true }), json!(null)),
        (json!({ "$vocabulary": { "x": true }, "format": 5, "dependentRequired": [] }), json!(1)),
    ] {
        check(field(slip), &[json!({ "a": holds }), json!({})], &[json!([])]);
    }
    noted(
        field(json!({ "type": "any" })),
        &[
            "its output schema has what no dialect of JSON Schema takes at `/properties/a/type`: it is not checked here",
        ],
    );
    let closed = json!({ "type": "object", "properties": { "x": null }, "additionalProperties": false });
    check(closed, &[json!({ "x": 1 })], &[json!({ "y": 1 })]);
}

#[test]
fn inputs_are_objects() {
    let input = |schema: Value| compile_foreign(&schema, Role::Input);
    for schema in [
        json!({}),
        json!({ "type": ["object", "null"], "properties": { "a": {} } }),
        json!({ "$ref": "#/definitions/I", "definitions": { "I": { "type": "object" } } }),
        json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "$id": "x" }),
    ] {
        let validator = input(schema.clone()).unwrap_or_else(|error| panic!("{error} {schema}"));
        assert_eq!(validator.validate(&json!({ "a": 1 })), Ok(()), "{schema}");
        assert!(validator.validate(&json!([])).is_err(), "{schema}");
    }
    assert_eq!(input(json!({ "type": "array" })).map(drop), Err(SchemaError::InputNotObject));
}

#[test]
fn names_are_the_servers_own() {
    let schema =
        json!({ "type": "object", "properties": { "connectionId": {}, "password": { "type": "string" } } });
    let validator = compile_foreign(&schema, Role::Input).unwrap();
    assert!(validator.validate(&json!({ "password": 1 })).is_err());
    assert_eq!(
        notes(&schema, None),
        [
            "its input schema names `connectionId`, a connection of the server's own and none of this gate",
            "its input schema names `password`, which looks like a secret: what is there is recorded like everything else",
        ]
    );
}

#[test]
fn bounds_hold_for_others_too() {
    let mut deep = json!({});
    for _ in 0..40 {
        deep = json!({ "items": deep });
    }
    assert_eq!(compile_foreign(&deep, Role::Output).map(drop), Err(SchemaError::TooDeep));
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("d30".to_owned(), json!({ "type": "string" }));
    let bomb = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert_eq!(compile_foreign(&bomb, Role::Output).map(drop), Err(SchemaError::TooExpanded));
    let endless = compile_foreign(&json!({ "$ref": "#" }), Role::Output).map(drop);
    assert!(matches!(endless, Err(SchemaError::EndlessRef { .. })), "{endless:?}");
    let many = notes(
        &Value::from_iter([(
            "properties",
            Value::from_iter((0..100).map(|i| (format!("p{i}"), json!({ "type": "x" })))),
        )]),
        None,
    );
    assert_eq!((many.len(), many[8].as_str()), (9, "its input schema has more of the kind"));
}

#[test]
fn a_field_with_a_default_may_be_left_out_of_an_input() {
    let schema = json!({ "type": "object", "required": ["scale", "name"], "properties": {
        "scale": { "type": "string", "enum": ["css", "device"], "default": "css" }, "name": { "type": "string" } } });
    let input = compile_foreign(&schema, Role::Input).unwrap();
    assert!(input.validate(&json!({ "name": "x" })).is_ok());
    assert!(input.validate(&json!({ "scale": "css" })).is_err(), "what has none is still needed");
    assert!(input.validate(&json!({ "name": "x", "scale": "none" })).is_err());
    let output = compile_foreign(&schema, Role::Output).unwrap();
    assert!(output.validate(&json!({ "name": "x" })).is_err(), "a result has all it promises");
}

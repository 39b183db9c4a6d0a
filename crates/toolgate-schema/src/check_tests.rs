//! Which schemas are refused, and which are not.

use serde_json::{Map, Value, json};

use crate::check::check_names;
use crate::names::ForbiddenName;
use crate::{MAX_BYTES, Role, SchemaError, compile};

#[track_caller]
fn check(schema: &Value, role: Role, expected: Result<(), SchemaError>) {
    let found = compile(schema, role).map(|_| ());
    assert_eq!(found, expected, "{}", schema.to_string().chars().take(400).collect::<String>());
}

#[track_caller]
fn accepted(schema: Value) {
    check(&schema, Role::Output, Ok(()));
}

#[track_caller]
fn refused(schema: Value, error: SchemaError) {
    check(&schema, Role::Output, Err(error));
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn nested(levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, _| Value::Object(Map::from_iter([("not".to_owned(), inner)])))
}

#[test]
fn ordinary_schemas_are_accepted() {
    accepted(json!({}));
    accepted(json!(true));
    accepted(
        json!({"type": "array", "items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"type": "string"}}}),
    );
    accepted(
        json!({"$id": "https://example.com/a", "$schema": "https://json-schema.org/draft/2020-12/schema"}),
    );
    accepted(json!({"$ref": "#/$defs/a%20b~1c", "$defs": {"a b/c": {"type": "string"}}}));
    accepted(object(json!({"$ref": {"type": "string"}, "$id": {"type": "string"}, "$anchor": {}})));
    accepted(object(
        json!({"data": {"const": {"$id": "x", "$ref": "https://example.com", "password": "y"}}}),
    ));
    accepted(json!({"patternProperties": {"^[a-z_]+$": {}, "^x-": {}, ".*": {}}}));
    check(&json!({"type": "object"}), Role::Input, Ok(()));
    check(
        &json!({
            "type": "object",
            "properties": {"amount": {"type": "number", "minimum": 0}, "page_token": {"type": "string"}},
            "required": ["amount"],
            "additionalProperties": false,
        }),
        Role::Input,
        Ok(()),
    );
}

#[test]
fn draft_07_is_accepted_when_it_says_so() {
    for dialect in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"] {
        accepted(json!({
            "$schema": dialect,
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/positive"}},
            "definitions": {"positive": {"type": "number", "exclusiveMinimum": 0}},
        }));
    }
}

#[test]
fn other_dialects_are_refused() {
    for dialect in [
        json!("http://json-schema.org/draft-04/schema#"),
        json!("https://json-schema.org/draft/2019-09/schema"),
        json!("https://example.com/my-own"),
        json!(7),
    ] {
        refused(json!({"$schema": dialect}), SchemaError::UnknownDialect);
    }
}

#[test]
fn what_is_not_a_schema_is_refused() {
    for value in [json!(null), json!([]), json!("string"), json!(1)] {
        refused(value, SchemaError::NotASchema);
    }
}

#[test]
fn size_is_bounded() {
    let text = "x".repeat(MAX_BYTES);
    refused(json!({ "description": text }), SchemaError::TooLarge);
    accepted(json!({ "description": text[100..] }));
    refused(json!({"enum": vec![1; 20_001]}), SchemaError::TooManyNodes);
    accepted(json!({"enum": (0..19_000).collect::<Vec<_>>()}));
}

#[test]
fn depth_is_bounded_without_recursion() {
    accepted(nested(31, json!({})));
    refused(nested(32, json!({})), SchemaError::TooDeep);
    refused(nested(8_000, json!({})), SchemaError::TooDeep);
    let mut deep = json!(1);
    for _ in 0..8_000 {
        deep = Value::Array(vec![deep]);
    }
    // Not with `json!`, which copies what it is given by recursion.
    refused(Value::Object(Map::from_iter([("const".to_owned(), deep)])), SchemaError::TooDeep);
}

#[test]
fn the_meta_schema_is_kept() {
    let invalid =
        |path: &str, message: &str| SchemaError::Invalid { path: path.into(), message: message.into() };
    refused(
        object(json!({"a": {"type": "strnig"}})),
        invalid("/properties/a/type", "is not among what this keyword takes"),
    );
    refused(json!({"minLength": -1}), invalid("/minLength", "is too small"));
    refused(json!({"required": "a"}), invalid("/required", "is of the wrong type for this keyword"));
    refused(json!({"required": ["a", "a"]}), invalid("/required", "has the same item twice"));
    refused(
        json!({"properties": {"a": 5}}),
        invalid("/properties/a", "is of the wrong type for this keyword"),
    );
    refused(json!({"allOf": []}), invalid("/allOf", "has too few items"));
    refused(json!({"$ref": 5}), invalid("/$ref", "is of the wrong type for this keyword"));
}

#[test]
fn references_stay_within_the_schema() {
    for reference in ["https://example.com/s", "other.json", "file:///etc/passwd", "", "?#/a", "//host/x"] {
        refused(
            object(json!({"a": {"$ref": reference}})),
            SchemaError::RemoteRef { path: "/properties/a".into() },
        );
    }
    for reference in
        ["#/$defs/none", "#name", "#/", "#/type", "#/properties", "#/default", "#/x-own/a", "#/%zz"]
    {
        let mut schema = object(json!({"a": {"$ref": reference}}));
        schema["default"] = json!({});
        schema["x-own"] = json!({"a": {}});
        refused(schema, SchemaError::DanglingRef { path: "/properties/a".into() });
    }
}

#[test]
fn keywords_that_rename_parts_are_refused() {
    for keyword in [
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveAnchor",
        "$recursiveRef",
        "$vocabulary",
        "$id",
        "$schema",
    ] {
        refused(json!({"items": {keyword: "#a"}}), SchemaError::Keyword { path: "/items".into(), keyword });
    }
    accepted(json!({"$anchor": "a"}));
    refused(
        json!({"$anchor": "a", "items": {"$ref": "#a"}}),
        SchemaError::DanglingRef { path: "/items".into() },
    );
}

#[test]
fn schemas_that_describe_themselves_are_accepted() {
    accepted(object(json!({"child": {"$ref": "#"}})));
    accepted(json!({"$ref": "#/$defs/node", "$defs": {"node": object(json!({
        "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"},
    }))}}));
    accepted(json!({"$defs": {
        "a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}},
    }, "$ref": "#/$defs/a"}));
}

#[test]
fn references_that_never_end_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"$defs": {"unused": {"$ref": "#/$defs/unused"}}}),
    ] {
        let found = compile(&schema, Role::Output).map(|_| ());
        assert!(matches!(found, Err(SchemaError::EndlessRef { .. })), "{schema} {found:?}");
    }
}

#[test]
fn long_chains_are_refused() {
    let chain = |links: usize| {
        let mut definitions = Map::new();
        for link in 0..links {
            definitions.insert(format!("d{link}"), json!({"$ref": format!("#/$defs/d{}", link + 1)}));
        }
        definitions.insert(format!("d{links}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    accepted(chain(60));
    refused(chain(70), SchemaError::LongChain { path: String::new() });
    let found = compile(&chain(5_000), Role::Output).map(|_| ());
    assert_eq!(found, Err(SchemaError::LongChain { path: String::new() }));
}

/// Each level refers to the next twice, so it doubles per level.
fn bomb(levels: usize, double: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        definitions.insert(format!("d{level}"), double(json!({"$ref": format!("#/$defs/d{}", level + 1)})));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn schemas_that_double_per_level_are_refused_quickly() {
    let start = std::time::Instant::now();
    for double in [
        |inner: Value| json!({"allOf": [inner, inner]}),
        |inner: Value| json!({"anyOf": [inner, {"not": inner}]}),
        |inner: Value| json!({"properties": {"a": inner, "b": inner}}),
        |inner: Value| json!({"items": inner, "contains": inner}),
        |inner: Value| json!({"if": inner, "else": inner}),
    ] {
        refused(bomb(30, double), SchemaError::TooExpanded);
        accepted(bomb(5, double));
    }
    // The way back to the start does not hide what doubles on the way.
    let mut cyclic = bomb(30, |inner| json!({"properties": {"a": inner, "b": inner}}));
    cyclic["$defs"]["d30"] = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}});
    refused(cyclic, SchemaError::TooExpanded);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn regular_expressions_are_of_the_linear_kind() {
    let bad = |path: &str| SchemaError::Pattern { path: path.into() };
    for pattern in
        ["(?=a)b", "(?<!a)b", r"(a)\1", "[", "(", "a{100000}", r"((\w{50}){50}){50}", &"a".repeat(1_025)]
    {
        refused(object(json!({"a": {"pattern": pattern}})), bad("/properties/a/pattern"));
        refused(json!({"patternProperties": {pattern: {}}}), bad("/patternProperties"));
    }
    for pattern in ["^[a-z]+$", r"^\d{4}-\d{2}$", r"(a+)+$", r"^\p{L}+$", r"[\w.-]+@[\w.-]+", "^\\S*$", ""] {
        accepted(json!({ "pattern": pattern }));
    }
    let many: Vec<Value> = (0..300).map(|i| json!({"pattern": format!("^a{i}b")})).collect();
    refused(json!({ "anyOf": many }), SchemaError::TooManyPatterns);
    let long: Vec<Value> = (0..40).map(|i| json!({"pattern": format!("{i}{}", "a".repeat(1_000))})).collect();
    refused(json!({ "anyOf": long }), SchemaError::TooManyPatterns);
    refused(json!({"pattern": r"\d".repeat(200)}), bad("/pattern"));
    let escaped: Vec<Value> =
        (0..20).map(|i| json!({"pattern": format!("{i}{}", r"\d".repeat(100))})).collect();
    refused(json!({ "anyOf": escaped }), SchemaError::TooManyPatterns);
}

#[test]
fn an_input_shows_its_fields_at_the_top() {
    for schema in [json!({}), json!({"type": "array"}), json!({"type": ["object", "null"]}), json!(true)] {
        check(&schema, Role::Input, Err(SchemaError::InputNotObject));
    }
    for keyword in ["enum", "const", "$ref"] {
        let schema = json!({"type": "object", keyword: [{"type": "object"}]});
        check(&schema, Role::Input, Err(SchemaError::InputCombined { keyword }));
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let schema = json!({"type": "object", keyword: [{"required": ["a"]}], "properties": {"a": {}}});
        check(&schema, Role::Input, Ok(()));
    }
    // Known as an output already, and still refused as an input.
    let schema = json!({"type": "array", "title": "known as an output"});
    let _kept = compile(&schema, Role::Output).unwrap();
    check(&schema, Role::Input, Err(SchemaError::InputNotObject));
}

#[test]
fn forbidden_names_are_found_wherever_they_hide() {
    for (path, schema) in [
        ("/properties", object(json!({"connectionId": {}}))),
        ("/required", json!({"required": ["connection_id"]})),
        ("/dependentRequired", json!({"dependentRequired": {"a": ["connection-id"]}})),
        ("/dependentRequired", json!({"dependentRequired": {"connectionId": []}})),
        ("/dependentSchemas", json!({"dependentSchemas": {"connectionId": {}}})),
        ("/dependencies", json!({"dependencies": {"CONNECTION_ID": ["a"]}})),
        ("/propertyNames", json!({"propertyNames": {"enum": ["a", "connectionId"]}})),
        ("/propertyNames", json!({"propertyNames": {"const": "connectionId"}})),
        ("/$defs/a/properties", json!({"$defs": {"a": object(json!({"connectionId": {}}))}})),
        (
            "/properties/a/items/anyOf/1/properties",
            object(json!({
                "a": {"items": {"anyOf": [{}, object(json!({"connectionId": {}}))]}},
            })),
        ),
    ] {
        let found = check_names(&schema);
        let kind = ForbiddenName::Connection;
        assert!(
            matches!(&found, Err(SchemaError::ForbiddenProperty { path: at, kind: k, .. }) if at == path && *k == kind),
            "{schema} {found:?}"
        );
    }
    for pattern in ["^connectionId$", "^connection_?[iI]d$", "^(?:a|connectionId)$"] {
        let found = check_names(&json!({"patternProperties": {pattern: {}}}));
        assert!(matches!(found, Err(SchemaError::ForbiddenProperty { .. })), "{pattern} {found:?}");
    }
    assert_eq!(
        check_names(&object(json!({"api_key": {"type": "string"}}))),
        Err(SchemaError::ForbiddenProperty {
            path: "/properties".into(),
            name: "api_key".into(),
            kind: ForbiddenName::Secret,
        })
    );
    // Bounds on the arguments of others' tools have to name them.
    accepted(object(json!({"connectionId": {}})));
}

#[test]
fn messages_are_safe_and_come_with_hints() {
    for schema in [
        json!(1),
        json!({"$schema": "x"}),
        json!({"$vocabulary": {"x": true}}),
        json!({"$ref": "x"}),
        json!({"$ref": "#x"}),
        json!({"$ref": "#"}),
        json!({"pattern": "("}),
        json!({"type": "x"}),
        object(json!({"my secret": {}, "db password\n\u{1b}": {}})),
        nested(100, json!({})),
    ] {
        let found = compile(&schema, Role::Output).and_then(|_| check_names(&schema));
        let Err(error) = found else { panic!("{schema}") };
        let message = error.to_string();
        let first = message.trim_start_matches(['`', '/']).chars().next().unwrap();
        assert!(!first.is_uppercase() && !message.ends_with('.') && message.len() < 600, "{message}");
        assert!(message.chars().all(|c| !c.is_control()), "{message:?}");
        assert!(!error.hint().is_empty() && !error.hint().ends_with('.'));
    }
}

//! What is said about values that are not valid.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::compile::Compiled;
use crate::explain::{MOST_VIOLATIONS, explain};
use crate::{Role, compile, compile_foreign, for_clients, notes};

#[track_caller]
fn check(schema: Value, value: Value, expected: &[(&str, &str)]) {
    let found = compile(&schema, Role::Output).unwrap().validate(&value);
    let found = found.map_or_else(|found| found, |()| Vec::new());
    let found: Vec<_> = found.iter().map(|found| (found.path.as_str(), found.message.as_str())).collect();
    assert_eq!(found, expected, "{schema} {value}");
}

#[track_caller]
fn check_one(schema: Value, value: Value, message: &str) {
    check(schema, value, &[("", message)]);
}

#[test]
fn types_are_named() {
    for (wanted, message) in [
        (json!("number"), "must be a number"),
        (json!("integer"), "must be an integer"),
        (json!("string"), "must be a string"),
        (json!("object"), "must be an object"),
        (json!("array"), "must be an array"),
        (json!("null"), "must be null"),
        (json!(["string", "null"]), "must be a string or null"),
    ] {
        check_one(json!({ "type": wanted }), json!(true), message);
    }
    check_one(json!({"type": "boolean"}), json!("true"), "must be true or false");
    check_one(json!({"type": "integer"}), json!(1.5), "must be an integer");
    check(json!({"type": "integer"}), json!(1.0), &[]);
}

#[test]
fn limits_are_told() {
    check_one(json!({"minimum": 0}), json!(-1), "must be at least 0");
    check_one(json!({"maximum": 1.5}), json!(2), "must be at most 1.5");
    check_one(json!({"exclusiveMinimum": 0}), json!(0), "must be greater than 0");
    check_one(json!({"exclusiveMaximum": 10}), json!(10.0), "must be less than 10");
    check_one(json!({"multipleOf": 5}), json!(7), "must be a multiple of 5");
    check_one(json!({"minimum": u64::MAX}), json!(u64::MAX - 1), "must be at least 18446744073709551615");
    check_one(json!({"minLength": 2}), json!("é"), "must have at least 2 characters");
    check_one(json!({"maxLength": 2}), json!("abc"), "must have at most 2 characters");
    check_one(json!({"minItems": 1}), json!([]), "must have at least 1 item");
    check_one(json!({"maxItems": 1}), json!([1, 2]), "must have at most 1 item");
    check_one(json!({"minProperties": 1}), json!({}), "must have at least 1 field");
    check_one(json!({"uniqueItems": true}), json!([1, 1.0]), "must not have the same item twice");
}

#[test]
fn text_rules_are_told() {
    check_one(json!({"pattern": "^a+$"}), json!("b"), "must match the pattern `^a+$`");
    check_one(json!({"format": "date-time"}), json!("yesterday"), "must be a valid `date-time`");
    check_one(json!({"format": "email"}), json!("x"), "must be a valid `email`");
    check(json!({"format": "date-time"}), json!("2025-01-31T12:00:00Z"), &[]);
    check(json!({"format": "a-format-of-our-own"}), json!("x"), &[]);
}

#[test]
fn options_are_listed_up_to_ten() {
    check_one(json!({"enum": ["eur", "usd"]}), json!("x"), "must be one of \"eur\", \"usd\"");
    check_one(json!({"enum": ["eur"]}), json!("x"), "must be \"eur\"");
    check_one(json!({"const": null}), json!("x"), "must be null");
    check_one(
        json!({"enum": [[1], {"a": 1}, 2]}),
        json!("x"),
        "must be one of a certain array, a certain object, 2",
    );
    let many: Vec<_> = (0..30).collect();
    check_one(
        json!({ "enum": many }),
        json!("x"),
        "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, or one of 20 others",
    );
    let cut = format!("must be \"{}…\"", "y".repeat(40));
    check_one(json!({"const": "y".repeat(1_000)}), json!("x"), &cut);
    check(json!({"enum": [1, {"a": [1.0]}]}), json!({"a": [1]}), &[]);
}

#[test]
fn fields_are_named_with_their_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "rate": {"type": "number"},
            "rows": {"items": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        },
        "required": ["rate"],
        "additionalProperties": false,
    });
    check(schema.clone(), json!({}), &[("", "needs the field `rate`")]);
    check(schema.clone(), json!({"rate": "high"}), &[("/rate", "must be a number")]);
    check(
        schema.clone(),
        json!({"rate": 1, "rows": [{"n": 1}, {"n": "x"}, {}]}),
        &[("/rows/1/n", "must be an integer"), ("/rows/2", "needs the field `n`")],
    );
    check(
        schema.clone(),
        json!({"rate": 1, "foo": 1, "naïve\n": 2}),
        &[
            ("", "has a field the schema does not name: `foo`"),
            ("", "has a field the schema does not name: `(unprintable name)`"),
        ],
    );
    check(
        json!({"additionalProperties": {"type": "string"}}),
        json!({"two words": 1, "ok": 2}),
        &[("/(unprintable name)", "must be a string"), ("/ok", "must be a string")],
    );
    check(json!({"properties": {"a": false}}), json!({"a": 1}), &[("/a", "is not allowed")]);
    check(
        json!({"patternProperties": {"^x-": {"type": "string"}}}),
        json!({"x-a": 1}),
        &[("/x-a", "must be a string")],
    );
    check_one(
        json!({"propertyNames": {"maxLength": 2}}),
        json!({"abc": 1}),
        "has a field whose name is not allowed: `abc`",
    );
    check_one(json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), "needs the field `b` beside `a`");
    check_one(
        json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
        json!({"a": 1, "b": 2}),
        "has a field the schema does not name: `b`",
    );
}

#[test]
fn items_are_told_by_number() {
    check(
        json!({"prefixItems": [{"type": "string"}], "items": {"type": "number"}}),
        json!([1, 2, "x"]),
        &[("/0", "must be a string"), ("/2", "must be a number")],
    );
    check_one(json!({"prefixItems": [{}], "items": false}), json!([1, 2]), "must have at most 1 item");
    check_one(
        json!({"contains": {"type": "string"}, "minContains": 2}),
        json!(["a", 1]),
        "must have at least 2 items of the form in `contains`",
    );
    check(
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}),
        json!([1, 2]),
        &[("/0", "must be a string"), ("/1", "must be null")],
    );
}

#[test]
fn alternatives_are_told_as_one_or_explained_when_one_is_meant() {
    let none = "matches none of the allowed forms";
    check_one(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!(1), none);
    check_one(json!({"oneOf": [{"minimum": 5}, {"minimum": 7}]}), json!(1), none);
    check_one(
        json!({"oneOf": [{"minimum": 5}, {"minimum": 7}]}),
        json!(9),
        "matches more than one of the allowed forms",
    );
    check_one(json!({"not": {"type": "string"}}), json!("x"), "must not match what the schema excludes");
    check_one(
        json!({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}),
        json!("xx"),
        "must have at most 1 character",
    );
    let tagged = json!({"oneOf": [
        {"$ref": "#/$defs/circle"},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
    ], "$defs": {
        "circle": {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
    }});
    check(tagged.clone(), json!({"kind": "circle", "radius": "x"}), &[("/radius", "must be a number")]);
    check(tagged.clone(), json!({"kind": "square"}), &[("", "needs the field `side`")]);
    check(tagged, json!({"kind": "cube"}), &[("", none)]);
    check_one(
        json!({"if": {"type": "number"}, "then": {"minimum": 5}, "else": {"type": "string"}}),
        json!(null),
        "must be a string",
    );
}

#[test]
fn values_that_contain_themselves_are_followed() {
    let schema = json!({"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["id"]});
    check(schema.clone(), json!({"id": 1, "child": {"id": 2, "child": {"id": 3}}}), &[]);
    check(
        schema,
        json!({"id": 1, "child": {"id": 2, "child": {"child": 5}}}),
        &[("/child/child/child", "must be an object"), ("/child/child", "needs the field `id`")],
    );
}

#[test]
fn draft_07_looks_only_at_the_reference() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/text", "maxLength": 1}},
        "definitions": {"text": {"type": "string"}},
        "dependencies": {"a": ["b"], "b": {"required": ["c"]}},
    });
    check(schema.clone(), json!({"a": "long", "b": 1, "c": 1}), &[]);
    check(
        schema.clone(),
        json!({"a": 1}),
        &[("/a", "must be a string"), ("", "needs the field `b` beside `a`")],
    );
    check(schema, json!({"b": 1}), &[("", "needs the field `c`")]);
}

#[test]
fn at_most_eight_things_are_said() {
    let values: Vec<_> = (0..1_000).collect();
    let found =
        compile(&json!({"items": {"type": "string"}}), Role::Output).unwrap().validate(&json!(values));
    assert_eq!(found.unwrap_err().len(), MOST_VIOLATIONS);
}

/// Any JSON, not too large.
fn any_json() -> impl Strategy<Value = Value> {
    let name =
        prop_oneof!["[abc]", "[a-c]{1,3}", any::<String>(), Just("$ref".to_owned()), Just("type".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3..4i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[abc]{0,4}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Schemas that mean something more often than not.
fn any_schema() -> impl Strategy<Value = Value> {
    let small = || (0..4u64).prop_map(Value::from);
    let number = || prop_oneof![(-3..4i64).prop_map(Value::from), (-3.0..4.0).prop_map(Value::from)];
    let kind =
        || prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let pattern = || prop::sample::select(vec!["^a", "b+$", "[ab]{2}", ".", "^[^c]*$"]);
    let format = || prop::sample::select(vec!["date", "email", "uuid", "ipv4", "uri", "regex", "unknown"]);
    let assertion = prop_oneof![
        kind().prop_map(|kind| json!({ "type": kind })),
        (kind(), kind())
            .prop_filter("the same twice", |(a, b)| a != b)
            .prop_map(|(a, b)| json!({"type": [a, b]})),
        prop::collection::vec(any_json(), 1..3).prop_map(|options| json!({ "enum": options })),
        any_json().prop_map(|value| json!({ "const": value })),
        number().prop_map(|limit| json!({ "minimum": limit })),
        number().prop_map(|limit| json!({ "exclusiveMaximum": limit })),
        (1..4u64).prop_map(|factor| json!({ "multipleOf": factor })),
        small().prop_map(|limit| json!({ "minLength": limit })),
        small().prop_map(|limit| json!({ "maxLength": limit })),
        small().prop_map(|limit| json!({ "minItems": limit })),
        small().prop_map(|limit| json!({ "maxProperties": limit })),
        pattern().prop_map(|pattern| json!({ "pattern": pattern })),
        format().prop_map(|format| json!({ "format": format })),
        Just(json!({"uniqueItems": true})),
        "[abc]".prop_map(|name| json!({"required": [name]})),
        ("[abc]", "[abc]").prop_map(|(a, b)| json!({"dependentRequired": {a: [b]}})),
        any::<bool>().prop_map(Value::from),
        // Left as it stands within `properties`, where it describes values that contain themselves.
        Just(json!({"properties": {"a": {"$ref": "#"}}})),
        Just(json!({"items": {"$ref": "#"}})),
    ];
    assertion.prop_recursive(4, 32, 4, move |inner| {
        let two = || (inner.clone(), inner.clone());
        let one = prop::sample::select(vec![
            "not",
            "items",
            "contains",
            "additionalProperties",
            "propertyNames",
            "unevaluatedProperties",
            "unevaluatedItems",
            "if",
        ]);
        let list = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        prop_oneof![
            (one, inner.clone()).prop_map(|(keyword, schema)| json!({ keyword: schema })),
            (list, two()).prop_map(|(keyword, (a, b))| json!({ keyword: [a, b] })),
            ("[abc]", "[abc]", two()).prop_map(|(x, y, (a, b))| json!({"properties": {x: a, y: b}})),
            (pattern(), inner.clone())
                .prop_map(|(pattern, schema)| json!({"patternProperties": {pattern: schema}})),
            ("[abc]", inner.clone()).prop_map(|(name, schema)| json!({"dependentSchemas": {name: schema}})),
            (two(), inner.clone()).prop_map(|((a, b), c)| json!({"if": a, "then": b, "else": c})),
            // Several keywords in one schema.
            prop::collection::vec(inner.clone(), 2..4).prop_map(|schemas| {
                let keywords = schemas.into_iter().filter_map(|schema| match schema {
                    Value::Object(keywords) => Some(keywords),
                    _ => None,
                });
                Value::Object(keywords.flatten().collect())
            }),
        ]
    })
}

/// Puts a text into a value, in place of the first plain values met.
fn plant(value: &mut Value, secret: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, secret)),
        Value::Object(fields) => fields.values_mut().for_each(|field| plant(field, secret)),
        plain => *plain = Value::from(secret),
    }
}

fn is_plain(message: &str) -> bool {
    message.chars().count() < 2_000 && message.chars().all(|c| !c.is_control())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_as_a_schema_is_answered(schema in any_json(), value in any_json()) {
        if let Ok(validator) = compile(&schema, Role::Output) {
            let _ = validator.validate(&value);
        }
    }

    #[test]
    fn a_schema_taken_as_anothers_lets_nothing_less_through(schema in any_schema(), value in any_json()) {
        let Ok(own) = compile(&schema, Role::Output) else { return Ok(()) };
        let foreign = compile_foreign(&schema, Role::Output);
        prop_assert!(foreign.is_ok(), "{} {:?}", schema, foreign.err());
        if own.validate(&value).is_ok() {
            prop_assert_eq!(foreign.unwrap().validate(&value), Ok(()), "{} {}", schema, value);
        }
    }

    #[test]
    fn any_json_from_a_server_is_answered(schema in any_json(), value in any_json()) {
        let _ = (notes(&schema, Some(&schema)), for_clients(&schema, Role::Input), for_clients(&schema, Role::Output));
        if let Ok(validator) = compile_foreign(&schema, Role::Output) {
            let _ = validator.validate(&value);
        }
    }

    #[test]
    fn reasons_come_to_the_same_as_the_verdict(schema in any_schema(), value in any_json()) {
        let Ok(compiled) = Compiled::of(&schema) else { return Ok(()) };
        let found = toolgate_core::port::validator::Validator::validate(&compiled, &value);
        let reasons = explain(&compiled, &value);
        let none = reasons[0].message == "does not match the schema";
        prop_assert_eq!(none, found.is_ok(), "{} {} {:?}", schema, value, reasons);
        if let Err(found) = found {
            prop_assert!((1..=MOST_VIOLATIONS).contains(&found.len()));
            prop_assert!(found.iter().all(|found| found.path.len() <= 256 && is_plain(&found.message)));
        }
    }

    #[test]
    fn nothing_of_a_value_is_repeated(schema in any_schema(), mut value in any_json()) {
        const SECRET: &str = "sk-live-4242";
        plant(&mut value, SECRET);
        if let Ok(validator) = compile(&schema, Role::Output)
            && let Err(found) = validator.validate(&value)
        {
            for violation in found {
                prop_assert!(!violation.message.contains(SECRET) && !violation.path.contains(SECRET), "{violation:?}");
            }
        }
    }
}

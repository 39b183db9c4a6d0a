//! Hostile schemas and values: they are answered, soon, and on little stack.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolgate_core::port::validator::{Validator, Violation};

use crate::{Role, compile};

fn compiled(schema: &Value) -> Arc<dyn Validator> {
    compile(schema, Role::Output).unwrap()
}

/// Runs on a stack half as large as a worker thread's.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

#[track_caller]
fn quickly<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    done
}

fn nested(levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, _| Value::Object(Map::from_iter([("a".to_owned(), inner)])))
}

#[test]
fn equal_schemas_share_a_validator() {
    let one = compiled(&json!({"type": "object", "title": "shared", "minProperties": 1}));
    let other = compiled(&json!({"minProperties": 1, "type": "object", "title": "shared"}));
    assert!(std::ptr::addr_eq(Arc::as_ptr(&one), Arc::as_ptr(&other)));
    let third = compiled(&json!({"minProperties": 2, "type": "object", "title": "shared"}));
    assert!(!std::ptr::addr_eq(Arc::as_ptr(&one), Arc::as_ptr(&third)));
}

#[test]
fn patterns_take_linear_time() {
    let text = format!("{}!", "a".repeat(100_000));
    for pattern in ["(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}$", "([a-z]+)*$"] {
        let validator = compiled(&json!({ "pattern": pattern }));
        let _ = quickly(|| validator.validate(&json!(text)));
    }
}

#[test]
fn values_deeper_than_the_stack_are_answered() {
    for schema in [
        json!({}),
        json!({"properties": {"a": {"$ref": "#"}}}),
        json!({"additionalProperties": {"$ref": "#"}}),
    ] {
        let found = compiled(&schema).validate(&nested(8_000, json!(1)));
        let deep = Violation { path: String::new(), message: "is nested too deep to be checked".to_owned() };
        assert_eq!(found, Err(vec![deep]));
    }
    assert_eq!(
        compiled(&json!({"properties": {"a": {"$ref": "#"}}})).validate(&nested(127, json!(1))),
        Ok(())
    );
}

/// A definition that leans on `links` others at the same place before it goes one level down.
fn winding(links: usize, wrap: fn(Value) -> Value, leaf: Value) -> Value {
    let mut definitions = Map::new();
    for link in 0..links {
        definitions.insert(format!("d{link}"), wrap(json!({"$ref": format!("#/$defs/d{}", link + 1)})));
    }
    let last = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "if": {"type": "number"}, "then": leaf});
    definitions.insert(format!("d{links}"), last);
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn winding_schemas_fit_a_small_stack() {
    type Wrap = fn(Value) -> Value;
    let wraps: [(usize, Wrap); 5] = [
        (60, |inner| inner),
        (28, |inner| json!({"allOf": [inner]})),
        (28, |inner| json!({"anyOf": [inner, false]})),
        (28, |inner| json!({"oneOf": [false, inner]})),
        (4, |inner| {
            let deep = json!({"allOf": [{"anyOf": [{"oneOf": [inner]}]}]});
            json!({"allOf": [deep], "unevaluatedProperties": {"type": ["object", "number"]}})
        }),
    ];
    for (links, wrap) in wraps {
        let schema = winding(links, wrap, json!({"minimum": 5}));
        on_a_small_stack(move || {
            let validator = compiled(&schema);
            let levels = (1..127).rev().find(|levels| {
                let found = validator.validate(&nested(*levels, json!(7)));
                found.is_ok()
            });
            let levels = levels.unwrap();
            assert!(levels >= 10, "{levels}");
            let found = validator.validate(&nested(levels, json!(3))).unwrap_err();
            assert!(found[0].path.starts_with("/a/a/a") && found.len() <= 8, "{found:?}");
        });
    }
}

#[test]
fn deep_schemas_fit_a_small_stack() {
    // As deep as a schema may go, with references to others as deep at the end of each.
    for keyword in [
        "items",
        "additionalProperties",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ] {
        let deep = |innermost| {
            (0..27).fold(innermost, |inner, _| json!({ keyword: inner, "type": ["array", "object"] }))
        };
        let mut definitions = Map::new();
        for i in 0..40 {
            definitions.insert(format!("d{i}"), deep(json!({"$ref": format!("#/$defs/d{}", i + 1)})));
        }
        definitions.insert("d40".to_owned(), json!({"type": "string"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        on_a_small_stack(move || {
            let validator = compiled(&schema);
            let list = (0..126).fold(json!([]), |inner, _| json!([inner]));
            let _ = validator.validate(&list);
            let _ = validator.validate(&nested(126, json!(1)));
        });
    }
}

#[test]
fn schemas_that_describe_a_part_twice_stay_quick() {
    // Each level asks about the next twice: 2^60 ways down, were they all walked.
    for schema in [
        json!({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}], "minProperties": 1}),
        json!({"anyOf": [
            {"properties": {"a": {"$ref": "#"}}, "required": ["x"]},
            {"properties": {"a": {"$ref": "#"}}, "required": ["y"]},
            {"type": "number"},
        ]}),
        json!({"oneOf": [
            {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
            {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
            {"type": "number"},
        ]}),
        json!({"properties": {"a": {"$ref": "#"}}, "unevaluatedProperties": false, "if": {"properties": {"a": {"$ref": "#"}}}, "required": ["a"]}),
    ] {
        let validator = compiled(&schema);
        for innermost in [json!({}), json!(1), json!({"b": 1})] {
            let found = quickly(|| validator.validate(&nested(60, innermost)));
            assert!(found.map_or_else(|found| found.len(), |()| 1) <= 8);
        }
    }
}

#[test]
fn large_values_under_wide_schemas_are_refused_rather_than_slow() {
    let wide: Vec<Value> = (0..9_000).map(|i| json!({"minimum": i})).collect();
    let validator = compiled(&json!({"items": {"anyOf": wide}}));
    let found = quickly(|| validator.validate(&json!(vec![-1; 90_000]))).unwrap_err();
    assert_eq!(found[0].message, "has too many values to be checked against this schema");
    let found = quickly(|| validator.validate(&json!(vec![-1; 5_000]))).unwrap_err();
    assert_eq!(found[0].message, "matches none of the allowed forms");
}

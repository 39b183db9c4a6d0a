//! When schemas are checked, compiled and let go.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::JsonText;
use toolgate_core::port::validator::Validator;

use crate::on_demand::{OnDemand, known, registered};
use crate::{Role, SchemaError, compile};

fn schema(schema: &Value) -> Result<Arc<OnDemand>, SchemaError> {
    registered(schema, Role::Output, || JsonText::from_value(schema))
}

#[test]
fn a_schema_is_compiled_when_the_first_value_comes() {
    let schema = schema(&json!({"title": "first value", "type": "integer"})).unwrap();
    assert!(!schema.is_compiled());
    assert!(schema.validate(&json!("no number")).is_err());
    assert!(schema.is_compiled());
    assert_eq!(schema.validate(&json!(1)), Ok(()));
}

#[test]
fn a_broken_schema_is_refused_before_the_first_value() {
    for broken in [
        json!({"type": "intejer"}),
        json!({"pattern": "("}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"properties": {"a": {"minLength": -1}}}),
    ] {
        assert!(schema(&broken).is_err(), "{broken}");
    }
}

#[test]
fn what_is_not_used_is_let_go_and_comes_back() {
    // Other tests use and forget schemas of their own; nobody else holds these.
    let idle = schema(&json!({"title": "idle", "type": "integer"})).unwrap();
    let busy = schema(&json!({"title": "busy", "type": "integer"})).unwrap();
    idle.validate(&json!(1)).unwrap();
    crate::forget_unused();
    busy.validate(&json!(1)).unwrap();
    crate::forget_unused();
    assert!(!idle.is_compiled() && busy.is_compiled());
    assert!(idle.validate(&json!("no number")).is_err());
    assert!(idle.is_compiled());
}

#[test]
fn many_first_values_at_once_compile_it_once() {
    let schema = schema(&json!({"title": "at once", "type": "integer"})).unwrap();
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(schema.validate(&json!(1)), Ok(()));
            });
        }
    });
    assert!(schema.is_compiled());
}

#[test]
fn schemas_nobody_holds_are_forgotten() {
    let kept = compile(&json!({"title": "kept"}), Role::Output).unwrap();
    for i in 0..1_000 {
        compile(&json!({"title": format!("soon forgotten {i}")}), Role::Output).unwrap();
    }
    assert!(known() < 500);
    let again = compile(&json!({"title": "kept"}), Role::Output).unwrap();
    assert!(std::ptr::addr_eq(Arc::as_ptr(&kept), Arc::as_ptr(&again)));
}

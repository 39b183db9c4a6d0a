//! A call's arguments as they come in: any bytes are refused or checked, and nothing said about them is long.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use toolgate_core::json::{Bounds, canonical_digest};
use toolgate_core::port::validator::Validator;
use toolgate_schema::{Role, compile};

static VALIDATOR: LazyLock<Arc<dyn Validator>> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "multipleOf": 0.01},
            "currency": {"enum": ["eur", "usd", "chf"]},
            "when": {"type": "string", "format": "date-time"},
            "email": {"type": "string", "format": "email", "maxLength": 100},
            "note": {"type": ["string", "null"], "minLength": 1, "pattern": "^(\\w+\\s?)+$"},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 8},
            "pair": {"prefixItems": [{"type": "integer"}, {"$ref": "#/$defs/filter"}], "items": false},
            "filter": {"$ref": "#/$defs/filter"},
            "options": {
                "patternProperties": {"^x-": {"type": "boolean"}},
                "propertyNames": {"maxLength": 20},
                "additionalProperties": {"type": "integer"},
                "dependentRequired": {"x-a": ["x-b"]},
            },
        },
        "required": ["amount", "currency"],
        "if": {"properties": {"currency": {"const": "chf"}}},
        "then": {"required": ["note"]},
        "unevaluatedProperties": false,
        "$defs": {
            "filter": {
                "oneOf": [
                    {"properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}, "required": ["all"]},
                    {"properties": {"any": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}, "required": ["any"]},
                    {"properties": {"field": {"type": "string"}, "is": {}}, "required": ["field"]},
                    {"not": {"type": ["object", "array"]}},
                ],
            },
        },
    });
    compile(&schema, Role::Input).expect("the schema of this target is accepted")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let digest = canonical_digest(&value);
    let again: Value = serde_json::from_str(&value.to_string()).expect("what was written can be read");
    assert_eq!(digest, canonical_digest(&again), "a value that was written and read is the same value");
    let _ = Bounds::INPUT.check(&value);
    if let Err(found) = VALIDATOR.validate(&value) {
        assert!((1..=8).contains(&found.len()));
        for violation in found {
            assert!(violation.path.len() <= 256 && violation.message.len() <= 512, "{violation:?}");
            assert!(!violation.message.is_empty());
        }
    }
});

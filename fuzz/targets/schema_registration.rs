//! A contract from a stranger: any bytes are refused or become a tool, and an accepted schema can judge any value.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use toolgate_core::ToolOutput;
use toolgate_core::port::executor::{Executor, ToolFailure};
use toolgate_core::runner::ClearedCall;
use toolgate_schema::{Role, compile, parse_contract, register};

struct Nothing;

#[async_trait::async_trait]
impl Executor for Nothing {
    async fn execute(&self, _: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        Ok(Value::Null.into())
    }
}

static VALUES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let deep = (0..20).fold(json!(1), |inner, _| json!({"a": {"b": [inner]}, "b": 1}));
    vec![
        json!(null),
        json!(true),
        json!(-1.5),
        json!(u64::MAX),
        json!("text"),
        json!(["a", 1, null, [], {}]),
        json!({"a": 1, "b": "x", "c": [1, 2], "rate": null, "": {}}),
        deep,
    ]
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_contract(text) {
        Ok(contract) => {
            judge(&contract.input_schema.to_value());
            judge(&contract.output_schema.to_value());
            if let Err(error) = register(contract, Vec::new(), Arc::new(Nothing)) {
                told(&error.to_string(), error.hint());
            }
        }
        Err(error) => {
            told(&error.to_string(), error.hint());
            // Most texts are no contract: take them for a schema, so that schemas are tried as often.
            if let Ok(schema) = serde_json::from_str(text) {
                judge(&schema);
            }
        }
    }
});

fn judge(schema: &Value) {
    match compile(schema, Role::Output) {
        Ok(validator) => {
            for value in VALUES.iter() {
                let found = validator.validate(value).err().unwrap_or_default();
                assert!(found.len() <= 8);
                assert!(
                    found.iter().all(|found| found.path.len() <= 256 && found.message.len() <= 16 * 1024)
                );
            }
        }
        Err(error) => told(&error.to_string(), error.hint()),
    }
}

fn told(message: &str, hint: &str) {
    assert!(!message.is_empty() && message.len() < 2_000 && !hint.is_empty(), "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

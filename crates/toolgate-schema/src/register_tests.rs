//! From contract text to a bound tool.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::ToolOutput;
use toolgate_core::contract::{Effect, ToolContract};
use toolgate_core::port::executor::{Executor, ToolFailure};
use toolgate_core::runner::ClearedCall;

use crate::{MAX_CONTRACT_BYTES, RegistrationError, parse_contract, register};

struct Nothing;

#[async_trait::async_trait]
impl Executor for Nothing {
    async fn execute(&self, _: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        Ok(Value::Null.into())
    }
}

fn contract() -> Value {
    json!({
        "id": "core__convert",
        "title": "Convert",
        "description": "Converts an amount.",
        "category": "finance",
        "icon": "coins",
        "input_schema": {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]},
        "output_schema": {"type": "object", "properties": {"total": {"type": "number"}}},
        "effect": "read",
        "redaction": {"allow": ["total"]},
        "execution": {"kind": "native", "plugin": "core"},
    })
}

#[track_caller]
fn check(change: impl FnOnce(&mut Value), code: &str, message: &str) {
    let mut contract = contract();
    change(&mut contract);
    let error = parse_contract(&contract.to_string())
        .and_then(|contract| register(contract, Vec::new(), Arc::new(Nothing)))
        .map(|_| ())
        .unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (code, message));
    assert!(!error.hint().is_empty());
}

#[test]
fn a_contract_becomes_a_tool() {
    let contract = parse_contract(&contract().to_string()).unwrap();
    assert_eq!(contract.effect, Effect::Read);
    let tool = register(contract, Vec::new(), Arc::new(Nothing)).unwrap();
    assert_eq!(tool.contract.id.as_str(), "core__convert");
}

#[test]
fn missing_fields_are_named() {
    for field in ["effect", "redaction", "input_schema", "output_schema", "id", "title", "execution"] {
        check(
            |contract| {
                contract.as_object_mut().unwrap().shift_remove(field);
            },
            "registration.missing_field",
            &format!("the contract has no `{field}`, which is required"),
        );
    }
}

#[test]
fn refused_schemas_are_told_apart() {
    check(
        |contract| contract["input_schema"] = json!({"type": "array"}),
        "registration.schema",
        "input_schema: an input schema must have `\"type\": \"object\"` at the top",
    );
    check(
        |contract| {
            contract["output_schema"] = json!({"properties": {"total": {"$ref": "https://example.com"}}})
        },
        "registration.schema",
        "output_schema: `/properties/total` has a `$ref` that leaves the schema",
    );
}

#[test]
fn a_schema_that_cannot_be_compiled_is_refused_though_no_call_came() {
    for broken in [json!({"pattern": "("}), json!({"type": "nummer"}), json!({"$ref": "#/$defs/nowhere"})] {
        let mut contract = contract();
        contract["input_schema"]["properties"]["amount"] = broken.clone();
        let parsed = parse_contract(&contract.to_string()).unwrap();
        let error = register(parsed, Vec::new(), Arc::new(Nothing)).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "registration.schema", "{broken}");
    }
}

#[test]
fn blanks_in_a_contract_do_not_change_its_address() {
    let plain = parse_contract(&contract().to_string()).unwrap();
    let spread = serde_json::to_string_pretty(&contract()).unwrap();
    assert_eq!(parse_contract(&spread).unwrap().version(), plain.version());
    let straight: ToolContract = serde_json::from_str(&spread).unwrap();
    assert_eq!(straight.version(), plain.version());
}

#[test]
fn tools_with_the_same_schema_hold_one_text() {
    let tool = |id: &str| {
        let mut contract = contract();
        contract["id"] = id.into();
        register(parse_contract(&contract.to_string()).unwrap(), Vec::new(), Arc::new(Nothing)).unwrap()
    };
    let (one, other) = (tool("core__one"), tool("core__other"));
    let texts = [&one, &other].map(|tool| tool.contract.input_schema.as_str().as_ptr());
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn other_faults_are_told() {
    check(
        |contract| contract["redaction"] = json!({"allow": []}),
        "registration.contract",
        "redaction: `allow` is empty: name the output fields that may be shown, or `*`",
    );
    check(
        |contract| contract["effect"] = json!("reed"),
        "registration.malformed",
        "the contract is malformed: unknown variant `reed`, expected one of `read`, `mutate`, `destructive`",
    );
}

#[test]
fn what_is_quoted_from_a_contract_is_cut_short() {
    let long = "x\u{1b}".repeat(10_000);
    for (field, value) in [("effect", json!(long)), ("redaction", json!({"allow": [long]}))] {
        let mut contract = contract();
        contract[field] = value;
        let parsed = parse_contract(&contract.to_string());
        let registered = parsed.and_then(|contract| register(contract, Vec::new(), Arc::new(Nothing)));
        let message = registered.map(|_| ()).unwrap_err().to_string();
        assert!(message.len() < 300 && message.ends_with('…') && !message.contains('\u{1b}'), "{message}");
    }
}

#[test]
fn text_that_is_no_contract_is_refused() {
    let parse = |text: &str| parse_contract(text).map(|_| ()).unwrap_err();
    assert_eq!(parse("{"), RegistrationError::NotJson { line: 1, column: 1 });
    assert_eq!(parse("[]"), RegistrationError::Malformed("it must be an object".to_owned()));
    assert_eq!(parse(&" ".repeat(MAX_CONTRACT_BYTES + 1)), RegistrationError::TooLarge);
    assert_eq!(parse(&"[".repeat(100_000)).code(), "registration.malformed");
}

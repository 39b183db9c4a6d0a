//! Tools that ask the client's model or the person behind it, once.

use serde_json::{Map, Value, json};

use super::{Asked, Body, Fixture, asks, fixture, form, sampling, says};

pub(super) fn fixtures() -> Vec<Fixture> {
    let text = |name: &str| {
        let mut properties = json!({});
        properties[name] = json!({ "type": "string", "description": "What to ask." });
        properties
    };
    vec![
        fixture("test_sampling", "Asks the client's model.", text("prompt"), Body::Says(sample)),
        fixture("test_elicitation", "Asks the person for two fields.", text("message"), Body::Says(elicit)),
        fixture(
            "test_elicitation_sep1034_defaults",
            "Asks with a default for each kind of field.",
            json!({}),
            Body::Says(defaults),
        ),
        fixture(
            "test_elicitation_sep1330_enums",
            "Asks with each kind of choice.",
            json!({}),
            Body::Says(enums),
        ),
    ]
}

fn sample(asked: &Asked) -> Value {
    match asked.answer("sample") {
        None => asks(json!({ "sample": sampling(asked.text("prompt")) })),
        Some(answer) => says(format!("LLM response: {}", sampled(answer))),
    }
}

/// The text a client's model answered with.
pub(super) fn sampled(answer: &Map<String, Value>) -> &str {
    answer.get("content").and_then(|content| content["text"].as_str()).unwrap_or("(no text)")
}

fn elicit(asked: &Asked) -> Value {
    let fields = json!({
        "username": { "type": "string", "description": "The user's name." },
        "email": { "type": "string", "description": "The user's address." },
    });
    match asked.answer("person") {
        None => asks(json!({ "person": form(asked.text("message"), fields, &["username", "email"]) })),
        Some(answer) => says(format!("User response: {}", told(answer))),
    }
}

fn defaults(asked: &Asked) -> Value {
    let fields = json!({
        "name": { "type": "string", "description": "A name.", "default": "John Doe" },
        "age": { "type": "integer", "description": "An age.", "default": 30 },
        "score": { "type": "number", "description": "A score.", "default": 95.5 },
        "status": { "type": "string", "description": "A status.", "default": "active",
            "enum": ["active", "inactive", "pending"] },
        "verified": { "type": "boolean", "description": "Whether it was verified.", "default": true },
    });
    completes(asked, "Please look through these fields", fields)
}

fn enums(asked: &Asked) -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = |noun: &str| {
        ["First", "Second", "Third"]
            .iter()
            .zip(1..)
            .map(|(title, n)| json!({ "const": format!("value{n}"), "title": format!("{title} {noun}") }))
            .collect::<Vec<_>>()
    };
    let fields = json!({
        "untitledSingle": { "type": "string", "description": "One of three.", "enum": plain },
        "titledSingle": { "type": "string", "description": "One of three.", "oneOf": titled("Option") },
        "legacyEnum": { "type": "string", "description": "One of three.", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"] },
        "untitledMulti": { "type": "array", "description": "Some of three.",
            "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "description": "Some of three.",
            "items": { "anyOf": titled("Choice") } },
    });
    completes(asked, "Please choose", fields)
}

fn completes(asked: &Asked, message: &str, fields: Value) -> Value {
    match asked.answer("person") {
        None => asks(json!({ "person": form(message, fields, &[]) })),
        Some(answer) => says(format!("Elicitation completed: {}", told(answer))),
    }
}

fn told(answer: &Map<String, Value>) -> String {
    let action = answer.get("action").and_then(Value::as_str).unwrap_or("cancel");
    format!("action={action}, content={}", answer.get("content").unwrap_or(&Value::Null))
}

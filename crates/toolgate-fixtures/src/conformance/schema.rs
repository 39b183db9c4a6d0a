//! Tools whose schema, or whose needs, are what is looked at.

use serde_json::{Value, json};

use super::{Asked, Body, Fixture, fixture, says};

pub(super) fn fixtures() -> Vec<Fixture> {
    let header = json!({ "value": { "type": "string", "x-mcp-header": "Value", "description": "Sent as a header too." } });
    let mut with_header = fixture(
        "test_custom_header",
        "Takes a value that is sent as a header too.",
        header,
        Body::Says(echo),
    );
    with_header.input_schema["required"] = json!(["value"]);
    vec![
        // Without what the protocol tells: this schema has to arrive as it is, to the letter.
        Fixture {
            name: "json_schema_2020_12_tool",
            description: "Has a schema with keywords of JSON Schema 2020-12.",
            input_schema: json_schema_2020_12(),
            body: Body::Says(|_| says("JSON Schema 2020-12 tool called")),
        },
        with_header,
        fixture(
            "test_missing_capability",
            "Needs a client that can sample.",
            json!({}),
            Body::Says(needs_sampling),
        ),
    ]
}

fn echo(asked: &Asked) -> Value {
    says(format!("Value: {}", asked.text("value")))
}

fn needs_sampling(asked: &Asked) -> Value {
    if asked.declares("sampling") {
        return says("Required capability declared");
    }
    json!({ "rpc_error": {
        "code": -32021,
        "message": "this tool needs a client that can sample",
        "data": { "requiredCapabilities": { "sampling": {} } },
    } })
}

fn json_schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

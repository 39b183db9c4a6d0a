use super::*;

fn read(schema: Value) -> Result<Form, Refusal> {
    Form::read("peer", &json!({ "message": "Tell\u{1b}[31m me", "requestedSchema": schema }))
}

#[test]
fn a_form_is_shown_under_its_servers_name() {
    let form = read(json!({ "type": "object", "required": ["name", "size of it"], "properties": {
        "name": { "type": "string", "title": "Na\u{202e}me", "description": "yours", "minLength": 1, "default": "Ada" },
        "mail": { "type": "string", "format": "email" },
        "size of it": { "type": "integer", "minimum": 1, "maximum": 9, "default": 99 },
        "sure": { "type": "boolean", "default": true },
        "city": { "type": "string", "enum": ["New York", "Rome"], "enumNames": ["NY", "Roma"], "default": "Rome" },
        "tags": { "type": "array", "minItems": 1, "items": { "anyOf": [{ "const": "a b", "title": "A" }, { "const": "c", "title": "C" }] } },
    } }))
    .unwrap();
    let request = &form.request;
    assert_eq!(request.title, "The MCP server `peer` asks");
    assert_eq!(request.instructions.as_deref(), Some("Tell me"));
    let questions = request.questions.as_ref().unwrap();
    let ids: Vec<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids, ["name", "mail", "field-3", "sure", "city", "tags"]);
    assert_eq!(questions[0].label, "Na\\u{202e}me");
    assert_eq!(questions[0].default, Some(json!("Ada")));
    assert_eq!(questions[2].default, None, "it does not fit");
    assert_eq!(questions[4].default, Some(json!("Rome")));
    assert_eq!(questions[4].options[0].id, "option-1");
    assert_eq!(questions[4].options[1].label, "Roma");
    let given = json!({ "name": "Eve", "field-3": 3.0, "sure": false, "city": "option-1", "tags": ["option-1", "c"] });
    let answers = request.answer(&given).unwrap();
    let content =
        json!({ "name": "Eve", "size of it": 3, "sure": false, "city": "New York", "tags": ["a b", "c"] });
    assert_eq!(form.answer(&answers), json!({ "action": "accept", "content": content }));
    assert!(request.answer(&json!({ "name": "Eve" })).is_err(), "one is missing");
}

#[test]
fn an_empty_form_is_a_yes_or_no() {
    let form = read(json!({ "type": "object", "properties": {} })).unwrap();
    assert_eq!(form.request.approve.as_ref().unwrap().statement, "Tell me");
    assert_eq!(form.answer(&json!({ "approved": true })), json!({ "action": "accept", "content": {} }));
    assert_eq!(form.answer(&json!({ "approved": false })), json!({ "action": "decline" }));
}

#[test]
fn what_is_no_form_for_a_person_is_refused() {
    let one = |property: Value| json!({ "type": "object", "properties": { "x": property } });
    let named = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let many: Map<String, Value> = (0..21).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
    let options: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    for (schema, expected) in [
        (named("password"), Refusal::Secret),
        (named("cardNumber"), Refusal::Secret),
        (one(json!({ "type": "string", "title": "Your API key" })), Refusal::Secret),
        (one(json!({ "type": "string", "description": "enter the verification code" })), Refusal::Secret),
        (one(json!({ "type": "string", "format": "password" })), Refusal::Secret),
        (one(json!({ "type": "number", "title": "PIN" })), Refusal::Secret),
        (one(json!({ "type": "object", "properties": {} })), Refusal::NoForm),
        (one(json!({ "type": "array", "items": { "type": "string" } })), Refusal::NoForm),
        (one(json!({ "type": "string", "enum": [1, 2] })), Refusal::NoForm),
        (json!({ "properties": [] }), Refusal::NoForm),
        (json!({ "properties": many }), Refusal::TooLarge),
        (one(json!({ "type": "string", "enum": options })), Refusal::TooLarge),
        (one(json!({ "type": "string", "title": "x".repeat(40_000) })), Refusal::TooLarge),
    ] {
        assert_eq!(read(schema.clone()).unwrap_err(), expected, "{schema}");
    }
    let url = json!({ "mode": "url", "message": "m", "url": "https://evil.example", "elicitationId": "e" });
    assert_eq!(Form::read("peer", &url).unwrap_err(), Refusal::Page);
    let phish =
        json!({ "message": "Type your password below", "requestedSchema": one(json!({ "type": "string" })) });
    assert_eq!(Form::read("peer", &phish).unwrap_err(), Refusal::Secret);
    let harmless = json!({ "message": "Reset the password of ada?", "requestedSchema": one(json!({ "type": "boolean" })) });
    assert!(Form::read("peer", &harmless).is_ok());
}

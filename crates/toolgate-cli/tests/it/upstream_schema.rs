//! Schemas as the libraries write them that MCP servers are made with: accepted, called, and listed so that every client
//! can read the list.

use serde_json::{Value, json};

use crate::gate::KEY;
use crate::mcp::OverStdio;
use crate::upstream::Peers;

fn offers() -> Value {
    let tool = |name: &str, input: Value, output: Option<Value>| {
        let mut tool =
            json!({ "name": name, "description": "Echoes.", "does": "echo", "inputSchema": input });
        if let Some(output) = output {
            tool["outputSchema"] = output;
        }
        tool
    };
    let anything = json!({ "type": "object" });
    json!([
        // Go writes `true` for `any`.
        tool(
            "a_go",
            json!({ "type": "object", "properties": { "any": true, "list": { "items": true } } }),
            None
        ),
        tool(
            "b_leaves",
            json!({ "type": "object", "properties": { "a": { "$ref": "https://example.com/s" } } }),
            None
        ),
        tool(
            "c_zod_4",
            json!({ "type": "object", "properties": {
            "email": { "type": "string", "format": "email", "pattern": r"^(?!\.)(?!.*\.\.)([a-z]*)@[a-z]+$" },
        } }),
            None
        ),
        tool(
            "d_zod_3",
            json!({
                "$ref": "#/definitions/In", "$schema": "http://json-schema.org/draft-07/schema#",
                "definitions": { "In": { "type": "object", "required": ["pair"], "properties": {
                    "pair": { "type": "array", "items": [{ "type": "string" }, { "type": "number" }] },
                    "same": { "$ref": "#/definitions/In/properties/pair" },
                } } },
            }),
            None
        ),
        tool(
            "e_pydantic",
            anything.clone(),
            Some(json!({
                "type": "object", "title": "Out", "required": ["when"],
                "properties": { "when": { "type": "string", "format": "date-time" } },
            }))
        ),
        tool(
            "f_openapi",
            json!({
                "$schema": "http://json-schema.org/draft-04/schema#", "id": "urn:x",
                "properties": { "n": { "type": "number", "minimum": 0, "exclusiveMinimum": true, "nullable": true } },
                "required": null,
            }),
            Some(json!({ "type": "object", "properties": {
            "a": { "$ref": "#/components/schemas/A", "nullable": true }, "b": { "pattern": "(?i)b" },
        }, "components": { "schemas": { "A": { "type": "string" } } } }))
        ),
        tool(
            "g_dynamic",
            json!({ "$schema": "https://example.com/dialect", "type": ["object", "null"],
            "$dynamicAnchor": "node", "properties": { "next": { "$dynamicRef": "#node" } } }),
            None
        ),
        tool(
            "h_database",
            json!({ "type": "object", "properties": {
            "connectionId": { "type": "string" }, "password": { "type": "string" },
        } }),
            None
        ),
    ])
}

/// What the official client in TypeScript takes: one tool that is otherwise, and it sees none.
fn assert_readable(schema: &Value) {
    assert_eq!(schema["type"], "object", "{schema}");
    let properties = schema["properties"].as_object().unwrap();
    assert!(properties.values().all(Value::is_object), "{schema}");
    let required = schema.get("required");
    assert!(
        required.is_none_or(|required| required.as_array().unwrap().iter().all(Value::is_string)),
        "{schema}"
    );
}

#[test]
fn real_schemas_are_accepted_called_and_listed() {
    let peers = Peers::new();
    peers.offer(&offers());
    let gate = peers.gate();
    gate.ok(&["upstream", "add", "s", "--", "mcp-server-notes"]);
    let accept = ["upstream", "accept", "--all-of", "s", "--effect", "read", "--egress", "none"];
    let ran = gate.run(&accept);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("`mcp__s__b_leaves` is left out: "), "{ran:?}");
    // What has something to note is for someone to read, and then accepted by its id.
    let (_, left_out) = ran.stderr.trim_end().rsplit_once("4 of 8 are accepted; left out: ").unwrap();
    let noted: Vec<&str> = left_out.split(' ').filter(|id| *id != "mcp__s__b_leaves").collect();
    assert_eq!(noted, ["mcp__s__c_zod_4", "mcp__s__g_dynamic", "mcp__s__h_database"], "{ran:?}");
    gate.ok(&[&["upstream", "accept"], noted.as_slice(), &accept[4..]].concat());

    let note = |tool: &str, what: &str| {
        let told = gate.ok(&["upstream", "review", &format!("mcp__s__{tool}")]);
        assert!(told.contains(what), "{told}");
    };
    note(
        "c_zod_4",
        "! its input schema has a regular expression at `/properties/email/pattern` that is not run here",
    );
    note("g_dynamic", "! its input schema names a dialect that is not known here");
    note("h_database", "! its input schema names `password`, which looks like a secret");
    note("b_leaves", "has a `$ref` that leaves the schema");

    let call = |tool: &str, input: &str| {
        let ran = gate.run(&["tool", "invoke", &format!("mcp__s__{tool}"), "--input", input]);
        (ran.code, ran.stderr)
    };
    for (tool, input) in [
        ("a_go", r#"{"any":[1],"list":[null]}"#),
        ("c_zod_4", r#"{"email":"not one"}"#),
        ("d_zod_3", r#"{"pair":["a",1],"same":["b",2]}"#),
        ("e_pydantic", r#"{"when":"2026-01-01T00:00:00"}"#),
        ("f_openapi", r#"{"n":null}"#),
        ("g_dynamic", r#"{"next":{"next":{}}}"#),
        ("h_database", r#"{"connectionId":"c"}"#),
    ] {
        assert_eq!(call(tool, input).0, 0, "{tool} {:?}", call(tool, input));
    }
    for (tool, input, why) in [
        ("d_zod_3", r#"{"pair":["a","b"]}"#, "`/pair/1` must be a number"),
        ("f_openapi", r#"{"n":0}"#, "`/n` must be greater than 0"),
        ("g_dynamic", r#"{"next":{"next":1}}"#, "`/next/next` must be an object"),
    ] {
        let (code, told) = call(tool, input);
        assert!(code == 1 && told.contains(why), "{tool} {told}");
    }

    let mut client = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]);
    client.open(json!({}));
    let listed = client.ask(1, "tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    for tool in tools {
        assert_readable(&tool["inputSchema"]);
        tool.get("outputSchema").into_iter().for_each(assert_readable);
    }
    let shown = |name: &str| tools.iter().find(|tool| tool["name"] == format!("mcp__s__{name}")).unwrap();
    assert_eq!(shown("c_zod_4")["inputSchema"], offers()[2]["inputSchema"], "as it came");
    assert_eq!(
        shown("d_zod_3")["inputSchema"]["properties"]["same"]["$ref"],
        "#/definitions/In/properties/pair"
    );
    assert_eq!(
        shown("f_openapi")["outputSchema"]["properties"],
        json!({ "a": { "anyOf": [{ "$ref": "#/components/schemas/A" }, { "type": "null" }] }, "b": {} })
    );
}

#[test]
fn a_tool_is_turned_down_without_a_question() {
    let peers = Peers::new();
    let gate = peers.gate();
    gate.ok(&["upstream", "add", "notes", "--", "mcp-server-notes"]);
    gate.ok(&["upstream", "refuse", "mcp__notes__add_note", "-y"]);
    assert!(gate.ok(&["upstream", "tools", "notes", "--state", "refused"]).contains("mcp__notes__add_note"));
}

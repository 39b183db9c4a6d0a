//! What a server answers, at every door: as it came.

use serde_json::{Value, json};

use crate::gate::{Gate, KEY};
use crate::governance::Walk;
use crate::mcp::OverStdio;
use crate::upstream::Peers;

const PIXEL: &str = "iVBORw0KGgo=";

fn tool(name: &str, output: Option<Value>, result: &Value) -> Value {
    let mut tool = json!({
        "name": name, "description": "Answers.", "does": "answer", "result": result,
        "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
    });
    if let Some(schema) = output {
        tool["outputSchema"] = schema;
    }
    tool
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PIXEL, "mimeType": "image/png", "annotations": { "audience": ["user"], "priority": 0.5 } })
}

fn sum() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "integer" }, "s": { "type": "string" } }, "required": ["n"] })
}

/// What each tool answers, and whether it names an output.
fn answers() -> Vec<(&'static str, Option<Value>, Value)> {
    let long = "a line of a file\r\n".repeat(200);
    vec![
        (
            "chart",
            Some(sum()),
            json!({ "content": [text("Here is the chart"), image()], "structuredContent": { "n": 1 } }),
        ),
        (
            "file",
            Some(sum()),
            json!({ "content": [text(&long)], "structuredContent": { "n": 1, "s": long } }),
        ),
        ("copy", Some(sum()), json!({ "content": [text(r#"{"n":1}"#)], "structuredContent": { "n": 1 } })),
        (
            "media",
            Some(json!({ "type": "object", "properties": { "content": { "type": "array" } } })),
            json!({
                "content": [text(r#"{"content":[{"type":"image"}]}"#)],
                "structuredContent": { "content": [{ "type": "image" }] },
            }),
        ),
        ("bare", Some(sum()), json!({ "content": [], "structuredContent": { "n": 1 } })),
        ("plain", None, json!({ "content": [text("a\r\nb\u{0}\u{1b}[31mc"), image()] })),
        ("both", None, json!({ "content": [text("one")], "structuredContent": { "a": [1] } })),
        ("empty", None, json!({ "content": [] })),
        (
            "blocks",
            None,
            json!({ "content": [
                { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
                { "type": "resource_link", "uri": "https://example.com/a", "name": "a", "description": "an a", "size": 3 },
                { "type": "resource", "resource": { "uri": "https://example.com/b", "mimeType": "text/csv", "text": "a,b\r\n1,2\r\n" } },
                { "type": "text", "text": "noted", "_meta": { "com.example/cell": 7 } },
            ] }),
        ),
    ]
}

/// A gate with a server whose tools are all accepted.
fn gate(peers: &Peers, tools: &Value) -> Gate {
    peers.offer(tools);
    let gate = peers.gate();
    gate.ok(&["upstream", "add", "notes", "--", "mcp-server-notes"]);
    gate.ok(&["upstream", "accept", "--all-of", "notes", "--effect", "read", "--egress", "none"]);
    gate
}

fn call(client: &mut OverStdio, tool: &str) -> Value {
    let answer =
        client.ask(7, "tools/call", json!({ "name": format!("mcp__notes__{tool}"), "arguments": {} }));
    answer["result"].clone()
}

fn client(gate: &Gate) -> OverStdio {
    let mut client = OverStdio::start(&["--url", &gate.url], &[("TOOLGATE_KEY", KEY)]);
    client.open(json!({}));
    client
}

#[test]
fn a_servers_answer_reaches_the_client_as_it_came() {
    let peers = Peers::new();
    let tools = answers().into_iter().map(|(name, output, result)| tool(name, output, &result)).collect();
    let gate = gate(&peers, &Value::Array(tools));
    let mut client = client(&gate);
    let listed = client.ask(1, "tools/list", json!({}))["result"]["tools"].clone();
    for (name, output, result) in answers() {
        let id = format!("mcp__notes__{name}");
        let entry = listed.as_array().unwrap().iter().find(|tool| tool["name"] == *id).unwrap();
        assert_eq!(
            entry.get("outputSchema"),
            output.as_ref(),
            "{name}: a schema is neither made up nor lost"
        );
        let told = call(&mut client, name);
        assert_eq!(told["content"], result["content"], "{name}");
        assert_eq!(told.get("structuredContent"), result.get("structuredContent"), "{name}");
        assert_eq!(told.get("isError"), None, "{name}");
        // REST has the same: the structure as the value and the content beside it, or both in the value.
        let rest: Value = serde_json::from_str(&gate.ok(&["tool", "invoke", &id, "--json"])).unwrap();
        let kept: Value = serde_json::from_str(&gate.ok(&[
            "invocation",
            "show",
            rest["call_id"].as_str().unwrap(),
            "--json",
        ]))
        .unwrap();
        assert_eq!((&kept["output"], &kept["content"]), (&rest["value"], &rest["content"]), "{name}");
        match output {
            None => {
                assert_eq!(rest["value"]["content"], result["content"], "{name}");
                assert_eq!(rest["value"].get("structured"), result.get("structuredContent"), "{name}");
            }
            Some(_) => {
                assert_eq!(rest["value"], result["structuredContent"], "{name}");
                if name != "copy" {
                    assert_eq!(rest["content"], result["content"], "{name}");
                }
            }
        }
    }
    // What is said twice is kept once.
    let record = gate.ok(&["audit", "export"]);
    let file =
        record.lines().find(|line| line.contains("toolgate/content") && line.contains("a line of")).unwrap();
    assert_eq!(file.matches("a line of a file").count(), 200);
}

#[test]
fn notes_on_a_result_as_a_whole_reach_the_client() {
    let notes = json!({ "com.example/trace": "7", "toolgate/call_id": "forged" });
    let told = |content: &str, more: Value| {
        let mut result = json!({ "content": [text(content)], "_meta": notes });
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        result
    };
    let peers = Peers::new();
    let gate = gate(
        &peers,
        &json!([
            tool("noted", None, &told("one", json!({}))),
            tool("summed", Some(sum()), &told("{\"n\":1}", json!({ "structuredContent": { "n": 1 } }))),
            tool("fails", None, &told("no", json!({ "isError": true }))),
        ]),
    );
    let mut client = client(&gate);
    for name in ["noted", "summed", "fails"] {
        let answer = call(&mut client, name);
        assert_eq!(answer["_meta"]["com.example/trace"], "7", "{name}: {answer}");
        assert!(
            answer["_meta"]["toolgate/call_id"].as_str().unwrap().starts_with("inv_"),
            "{name}: {answer}"
        );
    }
    assert_eq!(call(&mut client, "noted")["content"], json!([text("one")]));
    assert_eq!(call(&mut client, "summed")["structuredContent"], json!({ "n": 1 }));
    // Who chose fields chose these, and nothing that is no field.
    let decided = ["--effect", "read", "--egress", "none", "--show", "n"];
    gate.ok(&[&["upstream", "accept", "mcp__notes__summed"], decided.as_slice()].concat());
    assert_eq!(call(&mut client, "summed")["_meta"].get("com.example/trace"), None);
}

#[test]
fn a_failure_is_told_in_full() {
    let trace = format!("Traceback:\n  File \"x.py\"\n{}", "    at line\n".repeat(500));
    let result = json!({
        "isError": true, "structuredContent": { "errno": 2 },
        "content": [text(&trace), text("and more"), image()],
    });
    let short = json!({ "isError": true, "content": [text("no such note")] });
    let peers = Peers::new();
    let gate = gate(&peers, &json!([tool("fails", None, &result), tool("refuses", None, &short)]));
    let told = call(&mut client(&gate), "fails");
    assert_eq!(
        (&told["content"], &told["structuredContent"], &told["isError"]),
        (&result["content"], &result["structuredContent"], &json!(true))
    );
    let error = &told["_meta"]["toolgate/error"];
    assert_eq!(error["code"], "execution");
    assert_eq!(error.get("details"), None, "what is said already is not said again: {error}");
    let ran = gate.run(&["tool", "invoke", "mcp__notes__fails", "--json"]);
    let rest: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(rest["error"]["details"]["content"], result["content"]);
    assert_eq!(rest["error"]["details"]["structured"], json!({ "errno": 2 }));
    assert!(ran.stderr.contains("\n  File \"x.py\"\n    at line\n"), "{}", ran.stderr);
    let listed: Value = serde_json::from_str(&gate.ok(&["invocation", "list", "--json"])).unwrap();
    assert!(!listed.to_string().contains("Traceback:\\n"), "lists have the sentence alone");
}

#[test]
fn chosen_fields_are_all_that_is_shown() {
    let result = json!({
        "content": [text("the secret is 42"), image()], "structuredContent": { "n": 1, "s": "the secret is 42" },
    });
    let failed = json!({ "isError": true, "content": [text("no\n42")], "structuredContent": { "s": "42" } });
    let peers = Peers::new();
    peers.offer(&json!([tool("hides", Some(sum()), &result), tool("fails", Some(sum()), &failed)]));
    let gate = peers.gate();
    gate.ok(&["upstream", "add", "notes", "--", "mcp-server-notes"]);
    let decided = ["--effect", "read", "--egress", "none", "--show", "n"];
    gate.ok(&[&["upstream", "accept", "--all-of", "notes"], decided.as_slice()].concat());
    let mut client = client(&gate);
    let told = call(&mut client, "hides");
    assert_eq!(told["content"], json!([text(r#"{"n":1}"#)]));
    assert_eq!(told["structuredContent"], json!({ "n": 1 }));
    assert_eq!(call(&mut client, "fails").get("structuredContent"), None);
    assert!(!gate.ok(&["audit", "export"]).contains("the secret is"));
}

#[test]
fn a_terminal_is_told_in_words() {
    let peers = Peers::new();
    let tools = answers().into_iter().map(|(name, output, result)| tool(name, output, &result)).collect();
    let gate = gate(&peers, &Value::Array(tools));
    let mut walk = Walk::on(&gate);
    for name in ["chart", "copy", "plain", "both", "empty", "blocks"] {
        walk.ok(&["tool", "invoke", &format!("mcp__notes__{name}")]);
    }
    walk.check("content_in_words");
}

#[test]
fn numbers_are_kept_or_refused_and_never_rounded() {
    let peers = Peers::new();
    // As texts, since what reads JSON here would round the second.
    let wide = "12345678901234567890123";
    let result = |n: &str| json!(format!(r#"{{"content":[],"structuredContent":{{"n":{n}}}}}"#));
    let tools = [("largest", result("18446744073709551615")), ("wide", result(wide))];
    let gate = gate(&peers, &tools.iter().map(|(name, result)| tool(name, None, result)).collect());
    assert!(gate.ok(&["tool", "invoke", "mcp__notes__largest"]).contains("18446744073709551615"));
    let lost = gate.run(&["tool", "invoke", "mcp__notes__wide"]);
    assert!(
        lost.stderr.contains("error[output_invalid]: what `notes` returned holds a whole number"),
        "{}",
        lost.stderr
    );
    let refused =
        gate.run(&["tool", "invoke", "mcp__notes__largest", "--input", &format!("{{\"n\":{wide}}}")]);
    assert!(
        refused.stderr.contains("--input holds a whole number that 64 bits can't hold"),
        "{}",
        refused.stderr
    );
    let told = call(&mut client(&gate), "wide");
    assert_eq!(told["_meta"]["toolgate/error"]["code"], "output_invalid");
}

#[test]
fn pictures_have_room_that_words_have_not() {
    let picture = |bytes: usize| {
        let data = "QUJD".repeat(bytes / 4);
        json!({ "content": [text("a picture"), { "type": "image", "data": data, "mimeType": "image/png" }] })
    };
    let words = json!({ "content": [text(&"x".repeat(2_000_000))] });
    let peers = Peers::new();
    let tools = [("large", picture(3_000_000)), ("words", words), ("huge", picture(8_380_000))];
    let gate = gate(&peers, &tools.iter().map(|(name, result)| tool(name, None, result)).collect());
    let call = |tool: &str| gate.run(&["tool", "invoke", &format!("mcp__notes__{tool}"), "--json"]);
    assert_eq!(call("large").code, 0);
    assert!(call("words").stdout.contains("larger than 1048576 bytes"), "{:?}", call("words").stdout);
    assert!(call("huge").code == 0, "as large as an answer may be");
    // Whoever names a bound means all of it.
    let decided = ["--effect", "read", "--egress", "none", "--max-result-bytes", "1500000"];
    gate.ok(&[&["upstream", "accept", "mcp__notes__large"], decided.as_slice()].concat());
    assert!(call("large").stdout.contains("larger than 1500000 bytes"));
}

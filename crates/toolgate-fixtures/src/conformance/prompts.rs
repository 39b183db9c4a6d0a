//! The suite's prompts, and what completes their arguments.

use serde_json::{Map, Value, json};

use super::{PICTURE, answered, asks, filled, form};

/// The prompts, as `prompts/list` shows them.
pub(super) fn prompts() -> Vec<Value> {
    let argument =
        |name: &str, description: &str| json!({ "name": name, "description": description, "required": true });
    vec![
        json!({ "name": "test_simple_prompt", "description": "A prompt without arguments" }),
        json!({ "name": "test_prompt_with_arguments", "description": "A prompt with two arguments", "arguments": [
            argument("arg1", "The first argument"), argument("arg2", "The second argument") ] }),
        json!({ "name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource", "arguments": [
            argument("resourceUri", "Which resource") ] }),
        json!({ "name": "test_prompt_with_image", "description": "A prompt with a picture" }),
        json!({ "name": "test_input_required_result_prompt", "description": "A prompt that asks first" }),
    ]
}

/// One prompt, as `prompts/get` answers it: `messages` and a `description`, or `input_required`. None where there is no
/// such prompt. `protocol` is what tools get as `mcp`.
pub(super) fn get_prompt(name: &str, arguments: &Map<String, Value>, protocol: &Value) -> Option<Value> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({ "uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing." });
            vec![
                user(json!({ "type": "resource", "resource": resource })),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            user(json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let Some(answer) = answered(protocol, "user_context") else {
                let context = json!({ "context": { "type": "string" } });
                let question = form("What context should the prompt use?", context, &["context"]);
                return Some(asks(json!({ "user_context": question })));
            };
            let context = filled(answer, "context").and_then(Value::as_str).unwrap_or("none");
            vec![text(&format!("Prompt with context: {context}"))]
        }
        _ => return None,
    };
    Some(json!({ "messages": messages }))
}

/// What an argument that begins like this may be.
pub(super) fn complete(reference: &Value, argument: &str, value: &str) -> Vec<String> {
    let known: &[&str] = match (reference["name"].as_str(), reference["uri"].as_str(), argument) {
        (Some("test_prompt_with_arguments"), _, "arg1") => &["paris", "park", "party", "test", "testing"],
        (Some("test_prompt_with_arguments"), _, "arg2") => &["hello", "world"],
        (_, Some("test://template/{id}/data"), "id") => &["123", "456"],
        _ => &[],
    };
    known.iter().filter(|known| known.starts_with(value)).map(|&known| known.to_owned()).collect()
}

fn user(content: Value) -> Value {
    json!({ "role": "user", "content": content })
}

fn text(text: &str) -> Value {
    user(json!({ "type": "text", "text": text }))
}

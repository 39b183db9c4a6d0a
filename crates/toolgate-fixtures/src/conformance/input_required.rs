//! Tools that answer with a question and are called again with its answer.

use serde_json::{Value, json};

use super::ask::sampled;
use super::{Asked, Body, Fixture, asks, asks_with, filled, fixture, form, roots, sampling, says};

pub(super) fn fixtures() -> Vec<Fixture> {
    let plain = |name, description, says| fixture(name, description, json!({}), Body::Says(says));
    vec![
        plain("test_input_required_result_elicitation", "Asks for a name.", elicitation),
        plain("test_input_required_result_sampling", "Asks the client's model.", capital),
        plain("test_input_required_result_list_roots", "Asks for the client's roots.", list_roots),
        plain("test_input_required_result_request_state", "Asks, with a state to bring back.", confirm),
        plain("test_input_required_result_tampered_state", "Asks, with a state to bring back.", confirm),
        plain("test_input_required_result_multiple_inputs", "Asks three things at once.", several),
        plain("test_input_required_result_multi_round", "Asks twice.", rounds),
        plain(
            "test_input_required_result_capabilities",
            "Asks only what the client can answer.",
            capabilities,
        ),
        plain("test_streaming_elicitation", "Asks for a value.", streaming),
    ]
}

fn name_form() -> Value {
    form("What is your name?", json!({ "name": { "type": "string" } }), &["name"])
}

fn elicitation(asked: &Asked) -> Value {
    match asked.answer("user_name") {
        None => asks(json!({ "user_name": name_form() })),
        Some(answer) => {
            let name = filled(answer, "name").and_then(Value::as_str).unwrap_or("friend");
            says(format!("Hello, {name}!"))
        }
    }
}

fn capital(asked: &Asked) -> Value {
    match asked.answer("capital_question") {
        None => asks(json!({ "capital_question": sampling("What is the capital of France?") })),
        Some(answer) => says(sampled(answer)),
    }
}

fn list_roots(asked: &Asked) -> Value {
    match asked.answer("client_roots") {
        None => asks(json!({ "client_roots": roots() })),
        Some(answer) => {
            let listed = answer.get("roots").and_then(Value::as_array).into_iter().flatten();
            let uris: Vec<_> = listed.filter_map(|root| root["uri"].as_str()).collect();
            says(format!("Client roots: {}", uris.join(", ")))
        }
    }
}

/// A state that was altered never gets here: it does not open.
fn confirm(asked: &Asked) -> Value {
    match (asked.answer("confirm"), asked.state()) {
        (Some(_), Some(state)) if state["stage"] == "confirm" => says("Confirmed: state-ok"),
        _ => {
            let question = form("Please confirm", json!({ "ok": { "type": "boolean" } }), &["ok"]);
            asks_with(json!({ "confirm": question }), json!({ "stage": "confirm" }))
        }
    }
}

fn several(asked: &Asked) -> Value {
    const KEYS: [&str; 3] = ["user_name", "greeting", "client_roots"];
    if asked.state().is_some() && KEYS.iter().all(|key| asked.answer(key).is_some()) {
        return says("All inputs received");
    }
    asks_with(
        json!({
            "user_name": name_form(),
            "greeting": sampling("Generate a greeting"),
            "client_roots": roots(),
        }),
        json!({ "stage": "gather" }),
    )
}

fn rounds(asked: &Asked) -> Value {
    let round = asked.state().and_then(|state| state["round"].as_u64()).unwrap_or(0);
    match round {
        2 if asked.answer("step2").is_some() => says("Multi-round flow complete"),
        1 if asked.answer("step1").is_some() => {
            let color = json!({ "color": { "type": "string" } });
            let question = form("Step 2: What is your favorite color?", color, &["color"]);
            asks_with(json!({ "step2": question }), json!({ "round": 2 }))
        }
        _ => {
            let name = json!({ "name": { "type": "string" } });
            let question = form("Step 1: What is your name?", name, &["name"]);
            asks_with(json!({ "step1": question }), json!({ "round": 1 }))
        }
    }
}

fn capabilities(asked: &Asked) -> Value {
    let possible = [
        ("elicitation", "user_name", name_form()),
        ("sampling", "greeting", sampling("Generate a greeting")),
        ("roots", "client_roots", roots()),
    ];
    let mut requests = json!({});
    for (capability, key, request) in possible {
        if asked.declares(capability) {
            requests[key] = request;
        }
    }
    let asked_for = requests.as_object().is_some_and(|requests| !requests.is_empty());
    let answered = asked.arguments["mcp"]["input_responses"].is_object();
    if asked_for && !answered { asks(requests) } else { says("Nothing more to ask this client") }
}

fn streaming(asked: &Asked) -> Value {
    match asked.answer("value") {
        None => asks(
            json!({ "value": form("Provide a value", json!({ "value": { "type": "string" } }), &["value"]) }),
        ),
        Some(_) => says("A value was provided"),
    }
}

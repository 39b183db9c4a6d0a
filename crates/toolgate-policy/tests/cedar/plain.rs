//! The reference: Cedar's own authorizer over all policies, with entities and context made by other means than the
//! judge makes them.

use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request};
use serde_json::{Value, json};
use toolgate_core::id::PrincipalId;

use crate::grammar::{Given, TOOLS};

/// Whether Cedar allows it and no policy errs.
pub(crate) fn allows(
    policies: &PolicySet,
    given: &Given,
    action: &str,
    resource: &str,
    input: Option<&Value>,
) -> bool {
    let principal = uid(&given.who.id);
    let mut entities = vec![json!({
        "uid": principal,
        "attrs": { "name": name(&given.who.id), "rules": given.who.rules.to_vec() },
        "parents": given.who.roles.iter().map(|role| entity("Role", role)).collect::<Vec<_>>(),
    })];
    let resource = match resource {
        "tool" => {
            let (id, effect, egress, toolsets) = *TOOLS.iter().find(|(id, ..)| *id == given.tool).unwrap();
            entities.push(json!({
                "uid": entity("Tool", id),
                "attrs": {
                    "namespace": id.split("__").next(), "category": "work", "effect": effect, "egress": egress,
                    "idempotent": false, "internal": false
                },
                "parents": toolsets.iter().map(|set| entity("Toolset", set)).collect::<Vec<_>>(),
            }));
            entity("Tool", id)
        }
        "connection" => {
            entities.push(json!({ "uid": entity("Connection", "con_1"), "attrs": { "provider": "github" }, "parents": [] }));
            entity("Connection", "con_1")
        }
        _ => entity("Area", given.area),
    };
    if let Some(subject) = &given.subject
        && *subject != given.who.id
    {
        entities.push(json!({ "uid": uid(subject), "attrs": { "name": name(subject) }, "parents": [] }));
    }
    let request = Request::new(
        EntityUid::from_json(principal).unwrap(),
        EntityUid::from_json(entity("Action", action)).unwrap(),
        EntityUid::from_json(resource).unwrap(),
        Context::from_json_value(context(given, action, input), None).unwrap(),
        None,
    );
    let entities = Entities::from_json_value(json!(entities), None).unwrap();
    let response = Authorizer::new().is_authorized(&request.unwrap(), policies, &entities);
    response.decision() == Decision::Allow && response.diagnostics().errors().next().is_none()
}

fn context(given: &Given, action: &str, input: Option<&Value>) -> Value {
    let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    let moment = format!("2025-06-{:02}T{:02}:00:00Z", given.day, given.hour);
    let mut context = json!({
        "now": { "__extn": { "fn": "datetime", "arg": moment } },
        "hour": given.hour,
        "weekday": weekdays[usize::try_from(given.day - 1).unwrap() % 7],
        "labels": given.labels,
        "source": given.source.as_str(),
    });
    if let Some(subject) = &given.subject {
        context["subject"] = json!({ "__entity": uid(subject) });
    }
    if action == "approve" {
        context["own"] = given.own.into();
        context["for_me"] = given.for_me.into();
    }
    if let Some(input) = input {
        context["input"] = input.clone();
        if let Some(price) = input.get("price") {
            let price = format!("{:.2}", price.as_f64().unwrap());
            context["input"]["price"] = json!({ "__extn": { "fn": "decimal", "arg": price } });
        }
    }
    context
}

fn uid(id: &PrincipalId) -> Value {
    let kind = match id.as_str().split(':').next().unwrap() {
        "user" => "User",
        "agent" => "Agent",
        _ => "Service",
    };
    entity(kind, id.as_str())
}

fn entity(kind: &str, id: &str) -> Value {
    json!({ "type": format!("Toolgate::{kind}"), "id": id })
}

fn name(id: &PrincipalId) -> &str {
    id.as_str().split_once(':').unwrap().1
}

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn slug(text: &str) -> Slug {
    text.parse().unwrap()
}

fn offer(description: &str) -> Offer {
    Offer {
        name: "add".to_owned(),
        title: None,
        description: description.to_owned(),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: Map::new(),
    }
}

fn accepted(of: &Offer) -> Accepted {
    Accepted {
        offer: of.clone(),
        decision: Acceptance {
            digest: of.digest(),
            effect: Effect::Read,
            egress: Egress::None,
            idempotent: false,
            redaction: Redaction { allow: vec!["*".to_owned()] },
            permissions: Vec::new(),
            approval: ApprovalMode::Auto,
            limits: Limits::default(),
        },
    }
}

fn tool(offer: Option<Offer>, accepted: Option<Accepted>) -> UpstreamTool {
    let id = tool_id(&slug("calc"), "add").unwrap();
    UpstreamTool { upstream: slug("calc"), id, offer, warnings: Vec::new(), accepted, refused: None }
}

#[test]
fn nothing_is_on_before_someone_accepts_it() {
    assert_eq!(tool(Some(offer("adds")), None).state(), ToolState::New);
    assert!(tool(Some(offer("adds")), None).contract().is_none());
    let on = tool(Some(offer("adds")), Some(accepted(&offer("adds"))));
    assert_eq!(on.state(), ToolState::Accepted);
    assert_eq!(on.contract().unwrap().effect, Effect::Read);
}

#[test]
fn what_changes_is_held_and_what_is_gone_is_off() {
    let changed = tool(Some(offer("adds, and sends it away")), Some(accepted(&offer("adds"))));
    assert_eq!(changed.state(), ToolState::Changed);
    assert!(changed.contract().is_none());
    assert_eq!(tool(None, Some(accepted(&offer("adds")))).state(), ToolState::Gone);
    let mut refused = changed;
    refused.refused = refused.offer.as_ref().map(Offer::digest);
    assert_eq!(refused.state(), ToolState::Refused);
}

#[test]
fn the_order_of_fields_says_nothing() {
    let with = |schema: &str| Offer { input_schema: serde_json::from_str(schema).unwrap(), ..offer("adds") };
    let first = with(r#"{"type":"object","properties":{"a":{"type":"string","title":"A"},"b":{}}}"#);
    let again = with(r#"{"properties":{"b":{},"a":{"title":"A","type":"string"}},"type":"object"}"#);
    assert_eq!(first.digest(), again.digest());
    assert_eq!(tool(Some(again), Some(accepted(&first))).state(), ToolState::Accepted);
    let other = with(r#"{"type":"object","properties":{"a":{"type":"string","title":"B"},"b":{}}}"#);
    assert_ne!(first.digest(), other.digest());
    // What was accepted before digests were made so is accepted still.
    let mut older = accepted(&first);
    older.decision.digest = "0".repeat(64);
    assert_eq!(tool(Some(first.clone()), Some(older.clone())).state(), ToolState::Accepted);
    older.decision.digest = String::new();
    assert_eq!(tool(Some(first), Some(older)).state(), ToolState::Changed, "it is on hold");
}

#[test]
fn plain_names_stay_readable() {
    assert_eq!(tool_id(&slug("github"), "create_issue").unwrap().as_str(), "mcp__github__create_issue");
    assert_eq!(tool_id(&slug("a-b"), "x-y").unwrap().as_str(), "mcp__a-b__x-y");
}

#[test]
fn a_server_name_that_could_pass_for_another_has_no_ids() {
    for name in ["a__b", "a_", "a.b", &"x".repeat(25)] {
        assert!(tool_id(&slug(name), "t").is_none(), "{name}");
    }
}

#[test]
fn names_that_look_alike_do_not_meet() {
    let names = ["a.b", "a_b", "a/b", "A_B", "a b", "а_b", "", "_a", "__a", "x_a", "a__b"];
    let ids: HashSet<_> = names.iter().map(|name| tool_id(&slug("s"), name).unwrap()).collect();
    assert_eq!(ids.len(), names.len());
    let long = "n".repeat(100);
    let first = tool_id(&slug("s"), &long).unwrap();
    assert!(first.as_str().len() <= 64);
    // Someone who offers the shortened name outright gets another id.
    let copy = first.as_str().strip_prefix("mcp__s__").unwrap();
    assert_ne!(tool_id(&slug("s"), copy).unwrap(), first);
}

#[test]
fn programs_are_the_operators_to_allow() {
    let runs = |rule: &CommandRule, tenant: &str, command: &str| {
        let transport =
            Transport::Stdio { command: command.to_owned(), args: Vec::new(), env: BTreeMap::new() };
        rule.permits(&tenant.parse().unwrap(), &transport)
    };
    let open = CommandRule::default();
    assert!(runs(&open, "default", "anything"));
    assert!(!runs(&open, "acme", "anything"));
    let listed = CommandRule { allowed: Some(vec!["mcp-server-time".to_owned(), "/opt/mcp/*".to_owned()]) };
    for tenant in ["default", "acme"] {
        assert!(runs(&listed, tenant, "mcp-server-time") && runs(&listed, tenant, "/opt/mcp/notes"));
        assert!(!runs(&listed, tenant, "sh") && !runs(&listed, tenant, "/opt/mcp/../../bin/sh"));
    }
    let web = Transport::Http { url: "https://h/".to_owned(), headers: BTreeMap::new() };
    assert!(listed.permits(&"acme".parse().unwrap(), &web));
}

proptest! {
    #[test]
    fn every_name_has_one_id_within_bounds(name in any::<String>()) {
        let id = tool_id(&slug("server"), &name).unwrap();
        prop_assert!(id.as_str().len() <= 64);
        prop_assert_eq!(tool_id(&slug("server"), &name).unwrap(), id);
    }

    #[test]
    fn different_names_have_different_ids(a in "[a-z_.\\-]{0,70}", b in "[a-z_.\\-]{0,70}") {
        prop_assume!(a != b);
        prop_assert_ne!(tool_id(&slug("s"), &a), tool_id(&slug("s"), &b));
    }
}

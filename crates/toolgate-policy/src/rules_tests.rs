use proptest::prelude::*;
use serde_json::json;
use toolgate_core::AccessRules;
use toolgate_core::id::TenantId;

use super::*;

fn actor(principal: &str) -> Actor {
    Actor {
        tenant: TenantId::default_tenant(),
        principal: principal.parse().unwrap(),
        subject: None,
        rules: AccessRules::default(),
        key: None,
    }
}

fn tool(id: &str, effect: &str) -> ToolContract {
    serde_json::from_value(json!({
        "id": id, "title": "t", "description": "d", "category": "c", "icon": "i",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
        "effect": effect, "redaction": {"allow": ["*"]}, "execution": {"kind": "native", "plugin": "core"}
    }))
    .unwrap()
}

fn rule(decision: RuleDecision, tools: &[&str], principals: &[&str]) -> Rule {
    Rule {
        name: format!("{decision:?} {tools:?} {principals:?}"),
        decision,
        tools: tools.iter().map(|&s| s.to_owned()).collect(),
        effects: Vec::new(),
        egress: Vec::new(),
        principals: principals.iter().map(|&s| s.to_owned()).collect(),
    }
}

#[test]
fn nothing_matches_means_deny() {
    let decision = RulePolicy::new(Vec::new()).unwrap().decide(&actor("user:a"), &tool("core__x", "read"));
    assert_eq!((decision.verdict, decision.rule.as_str()), (Verdict::Deny, "deny by default"));
    assert!(decision.hint.is_some());
}

#[test]
fn the_strictest_rule_wins_in_any_order() {
    let mut rules = vec![
        rule(RuleDecision::Allow, &["core__*"], &[]),
        rule(RuleDecision::Deny, &["core__x"], &["agent:*"]),
        rule(RuleDecision::Ask, &["core__x"], &[]),
    ];
    for _ in 0..rules.len() {
        rules.rotate_left(1);
        let policy = RulePolicy::new(rules.clone()).unwrap();
        assert_eq!(policy.decide(&actor("agent:a"), &tool("core__x", "read")).verdict, Verdict::Deny);
        assert_eq!(policy.decide(&actor("user:a"), &tool("core__x", "read")).verdict, Verdict::Ask);
        assert_eq!(policy.decide(&actor("user:a"), &tool("core__y", "read")).verdict, Verdict::Allow);
    }
}

#[test]
fn the_default_lets_reads_run_and_asks_for_the_rest() {
    let policy = RulePolicy::default();
    let verdict = |effect| policy.decide(&actor("agent:a"), &tool("core__x", effect)).verdict;
    assert_eq!(verdict("read"), Verdict::Allow);
    assert_eq!(verdict("mutate"), Verdict::Ask);
    assert_eq!(verdict("destructive"), Verdict::Ask);
}

#[test]
fn bad_rules_are_refused() {
    let unnamed = Rule { name: " ".into(), ..rule(RuleDecision::Allow, &[], &[]) };
    assert_eq!(RulePolicy::new(vec![unnamed]).unwrap_err(), BadRule::Unnamed(1));
    let twice = rule(RuleDecision::Allow, &[], &[]);
    assert!(matches!(RulePolicy::new(vec![twice.clone(), twice]), Err(BadRule::Twice(_))));
    let pattern = rule(RuleDecision::Allow, &["a*b"], &[]);
    assert!(matches!(RulePolicy::new(vec![pattern]), Err(BadRule::Pattern { .. })));
}

fn any_rule() -> impl Strategy<Value = (u8, Vec<&'static str>, Vec<&'static str>)> {
    let tools = proptest::sample::subsequence(vec!["core__*", "core__x", "other__*", "*"], 0..3);
    let principals = proptest::sample::subsequence(vec!["user:*", "agent:*", "user:a", "*"], 0..3);
    (0u8..3, tools, principals)
}

proptest! {
    /// Adding a deny or an ask never lets more through.
    #[test]
    fn stricter_rules_never_allow_more(rules in proptest::collection::vec(any_rule(), 0..8), extra in any_rule()) {
        let build = |specs: &[(u8, Vec<&str>, Vec<&str>)]| {
            let rules = specs.iter().enumerate().map(|(i, (decision, tools, principals))| {
                let decision = [RuleDecision::Allow, RuleDecision::Ask, RuleDecision::Deny][usize::from(*decision)];
                Rule { name: format!("r{i}"), ..rule(decision, tools, principals) }
            });
            RulePolicy::new(rules.collect()).unwrap()
        };
        let rank = |verdict| match verdict { Verdict::Allow => 0, Verdict::Ask => 1, Verdict::Deny => 2 };
        let before = build(&rules);
        let deny = (2u8, extra.1.clone(), extra.2.clone());
        let after = build(&[rules.clone(), vec![deny]].concat());
        for principal in ["user:a", "user:b", "agent:a"] {
            for id in ["core__x", "core__y", "other__z"] {
                let (actor, tool) = (actor(principal), tool(id, "read"));
                prop_assert!(rank(after.decide(&actor, &tool).verdict) >= rank(before.decide(&actor, &tool).verdict));
            }
        }
    }
}

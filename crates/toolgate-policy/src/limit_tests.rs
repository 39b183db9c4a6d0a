use super::*;
use serde_json::json;
use toolgate_core::limit::Span;
use toolgate_core::{AccessRules, Credential};

fn tool(id: &str, limits: serde_json::Value) -> ToolContract {
    serde_json::from_value(json!({
        "id": id, "title": "t", "description": "d", "category": "c", "icon": "i",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "limits": limits,
        "effect": "read", "redaction": {"allow": ["*"]}, "execution": {"kind": "native", "plugin": "core"}
    }))
    .unwrap()
}

fn actor(principal: &str) -> Actor {
    Actor {
        tenant: TenantId::default_tenant(),
        principal: principal.parse().unwrap(),
        subject: None,
        rules: AccessRules::default(),
        roles: [].into(),
        scopes: Arc::default(),
        credential: Credential::Internal,
    }
}

/// Everything on this node, as a server with an embedded store does it.
fn admit(
    meters: &Meters,
    tenant: &TenantId,
    concerns: &[Concern],
    now: Timestamp,
) -> Result<Admission, CallError> {
    if let Err(answer) = within_budgets(meters, concerns, now) {
        return answer;
    }
    let permit = take_places(meters, tenant, concerns)?;
    let mut used = Vec::new();
    for concern in concerns {
        let Some(rate) = concern.rate else { continue };
        if let Err(wait) = meters.take(tenant, &concern.rule, &concern.key, rate) {
            used.push((concern, wait));
        }
    }
    match strictest(used.iter().map(|(concern, _)| *concern)) {
        Some(concern) => rate_used(concern, used[0].1),
        None => Ok(Admission::Granted(permit)),
    }
}

fn limit(value: serde_json::Value) -> Limit {
    serde_json::from_value(value).unwrap()
}

/// Admits calls of one tool under one limit.
struct Case {
    meters: Meters,
    limit: Limit,
    now: Timestamp,
}

impl Case {
    fn of(value: serde_json::Value) -> Self {
        Self {
            meters: Meters::default(),
            limit: limit(value),
            now: Timestamp::from_micros(1_700_000_000_000_000),
        }
    }

    fn call(&self, principal: &str, id: &str) -> Result<Admission, CallError> {
        let (actor, tool) = (actor(principal), tool(id, json!({})));
        let concerns = concerns(&actor, &tool, [("x", &self.limit)], []);
        admit(&self.meters, &actor.tenant, &concerns, self.now)
    }

    fn granted(&self, principal: &str, id: &str) -> bool {
        matches!(self.call(principal, id), Ok(Admission::Granted(_)))
    }
}

#[test]
fn one_principals_rate_does_not_touch_anothers() {
    let case = Case::of(json!({"per": "principal", "rate_per_minute": 2}));
    assert!(case.granted("user:a", "core__x") && case.granted("user:a", "core__y"));
    let refused = case.call("user:a", "core__x").unwrap_err();
    assert_eq!(refused.code, ErrorCode::RateLimited);
    let details = refused.details.unwrap();
    assert_eq!(details["rule"], "limit: x");
    assert!(details["retry_after_seconds"].as_f64().unwrap() > 1.0);
    assert!(case.granted("user:b", "core__x"));
}

#[test]
fn each_measure_has_its_own_key() {
    for (per, same_tool, same_principal, neither) in [
        ("tenant", false, false, false),
        ("principal", true, false, true),
        ("tool", false, true, true),
        ("principal_and_tool", true, true, true),
    ] {
        let case = Case::of(json!({"per": per, "rate_per_minute": 1}));
        assert!(case.granted("user:a", "core__x"));
        assert!(!case.granted("user:a", "core__x"), "{per}");
        assert_eq!(case.granted("user:b", "core__x"), same_tool, "{per}: same tool");
        assert_eq!(case.granted("user:a", "core__y"), same_principal, "{per}: same principal");
        assert_eq!(case.granted("user:c", "core__z"), neither, "{per}: neither");
    }
}

#[test]
fn only_the_calls_it_names_count() {
    let case = Case::of(
        json!({"per": "tenant", "principals": ["agent:*"], "tools": ["core__*"], "rate_per_minute": 1}),
    );
    assert!(case.granted("agent:a", "core__x"));
    assert!(!case.granted("agent:b", "core__y"));
    assert!(case.granted("user:a", "core__x") && case.granted("agent:a", "other__x"));
}

#[test]
fn places_come_back_when_calls_end() {
    let case = Case::of(json!({"per": "tool", "concurrency": 1}));
    let held = case.call("user:a", "core__x").unwrap();
    assert_eq!(case.call("user:b", "core__x").unwrap_err().code, ErrorCode::BudgetExceeded);
    assert!(case.granted("user:b", "core__y"));
    drop(held);
    assert!(case.granted("user:b", "core__x"));
}

#[test]
fn a_refused_call_keeps_no_place() {
    let meters = Meters::default();
    let (caller, tool) = (actor("user:a"), tool("core__x", json!({"concurrency": 5})));
    let hurried = limit(json!({"per": "principal", "rate_per_minute": 1}));
    let concerns = concerns(&caller, &tool, [("x", &hurried)], []);
    let now = Timestamp::from_micros(0);
    for _ in 0..20 {
        drop(admit(&meters, &caller.tenant, &concerns, now));
    }
    let refused = admit(&meters, &caller.tenant, &concerns, now).unwrap_err();
    assert_eq!(refused.code, ErrorCode::RateLimited, "and not for want of places");
}

#[test]
fn a_budget_stops_or_asks_and_ends_with_its_span() {
    for (overrun, asks) in [("stop", false), ("ask", true)] {
        let mut case = Case::of(
            json!({"per": "principal", "cost": {"micros": 100, "every": "hour"}, "on_overrun": overrun}),
        );
        let (caller, id) = (actor("agent:a"), "core__x".parse().unwrap());
        let spending =
            Spending { tenant: caller.tenant.clone(), principal: Some(caller.principal.clone()), tool: None };
        let since = case.meters.unknown(&spending, Span::Hour, case.now).unwrap();
        case.meters.learn(spending.clone(), Span::Hour, since, 60, case.now);
        assert!(case.granted("agent:a", "core__x"));
        case.meters.charge(&caller.tenant, &caller.principal, &id, 40);
        match case.call("agent:a", "core__x") {
            Ok(Admission::Ask { rule, .. }) => assert!(asks && &*rule == "limit: x"),
            Err(error) => assert!(!asks && error.code == ErrorCode::BudgetExceeded),
            Ok(Admission::Granted(_)) => panic!("the budget is used up"),
        }
        // The record lags behind what was heard here; what was heard stands.
        case.meters.learn(spending, Span::Hour, since, 60, case.now);
        assert!(!case.granted("agent:a", "core__x"));
        assert!(case.granted("agent:b", "core__x"));
        case.now = case.now.plus(Duration::from_secs(3_600));
        assert!(case.granted("agent:a", "core__x"), "a new hour");
    }
}

#[test]
fn the_tools_own_limits_hold_beside_looser_ones() {
    let meters = Meters::default();
    let (caller, tool) = (actor("agent:a"), tool("core__x", json!({"rate_per_minute": 1})));
    let loose = Profile { rate_per_minute: Some(1_000), ..Profile::default() };
    let concerns = concerns(&caller, &tool, [], [("loose", &loose)]);
    let now = Timestamp::from_micros(0);
    assert!(admit(&meters, &caller.tenant, &concerns, now).is_ok());
    let refused = admit(&meters, &caller.tenant, &concerns, now).unwrap_err();
    assert_eq!(refused.details.unwrap()["rule"], "tool: core__x", "a profile can't loosen");
}

#[test]
fn limits_that_cannot_be_kept_are_refused() {
    for bad in [
        json!({"per": "tenant"}),
        json!({"per": "tenant", "rate_per_minute": 0}),
        json!({"per": "tool", "cost": {"micros": -1, "every": "day"}}),
        json!({"per": "tenant", "tools": ["core__*"], "cost": {"micros": 1, "every": "day"}}),
        json!({"per": "principal", "tools": ["core__*"], "cost": {"micros": 1, "every": "day"}}),
        json!({"per": "tool", "principals": ["agent:*"], "cost": {"micros": 1, "every": "day"}}),
    ] {
        assert!(limit(bad.clone()).check().is_err(), "{bad}");
    }
    for good in [
        json!({"per": "tenant", "concurrency": 1}),
        json!({"per": "principal", "principals": ["agent:*"], "cost": {"micros": 1, "every": "day"}}),
    ] {
        assert!(limit(good.clone()).check().is_ok(), "{good}");
    }
}

#[test]
fn what_stops_is_not_waived_by_what_asks() {
    let meters = Meters::default();
    let (caller, tool) = (actor("agent:a"), tool("core__x", json!({})));
    let soft = limit(json!({"per": "principal", "rate_per_minute": 1, "on_overrun": "ask"}));
    let hard = limit(json!({"per": "principal", "rate_per_minute": 2}));
    let concerns = concerns(&caller, &tool, [("a-soft", &soft), ("b-hard", &hard)], []);
    let now = Timestamp::from_micros(0);
    assert!(matches!(admit(&meters, &caller.tenant, &concerns, now), Ok(Admission::Granted(_))));
    assert!(matches!(admit(&meters, &caller.tenant, &concerns, now), Ok(Admission::Ask { .. })));
    let refused = admit(&meters, &caller.tenant, &concerns, now).unwrap_err();
    assert_eq!(refused.details.unwrap()["rule"], "limit: b-hard");
}

#[test]
fn what_is_done_for_a_person_counts_for_them_too() {
    let person = limit(json!({"per": "principal", "principals": ["user:ada"], "rate_per_minute": 1}));
    let mut agent = actor("agent:a");
    let tool = tool("core__x", json!({}));
    assert!(concerns(&agent, &tool, [("x", &person)], []).is_empty());
    agent.subject = Some(toolgate_core::Subject {
        principal: "user:ada".parse().unwrap(),
        rules: AccessRules::default(),
        roles: [].into(),
    });
    assert_eq!(concerns(&agent, &tool, [("x", &person)], [])[0].key, "user:ada ");
    let all = limit(json!({"per": "tenant", "rate_per_minute": 1}));
    assert_eq!(concerns(&agent, &tool, [("x", &all)], []).len(), 1, "once where both have one measure");
}

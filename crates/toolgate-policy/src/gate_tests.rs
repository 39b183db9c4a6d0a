use super::*;
use async_trait::async_trait;
use serde_json::json;
use std::sync::Mutex;
use toolgate_core::actor::Subject;
use toolgate_core::id::{SessionId, TenantId};
use toolgate_core::port::executor::{Executor, ToolFailure};
use toolgate_core::port::validator::Violation;
use toolgate_core::{AccessRules, BoundTool, ClearedCall, Credential, ToolOutput};

struct Nothing;

#[async_trait]
impl Executor for Nothing {
    async fn execute(&self, _: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        Ok(json!({}).into())
    }
}

struct Anything;

impl Validator for Anything {
    fn validate(&self, _: &Value) -> Result<(), Vec<Violation>> {
        Ok(())
    }
}

/// Lets through what has `n` below 10.
struct BelowTen;

impl Validator for BelowTen {
    fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if value["n"].as_i64().is_some_and(|n| n < 10) {
            return Ok(());
        }
        Err(vec![Violation { path: "/n".into(), message: "must be below 10".into() }])
    }
}

fn catalog() -> Catalog {
    let tools = ["a__x", "a__y"].map(|id| {
        let contract = serde_json::from_value(json!({
            "id": id, "title": "t", "description": "d", "category": "c", "icon": "i",
            "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "output_schema": {"type": "object"}, "effect": "read", "redaction": {"allow": ["*"]},
            "execution": {"kind": "native", "plugin": "a"}
        }))
        .unwrap();
        let (input, output) = (Arc::new(Anything), Arc::new(Anything));
        Arc::new(BoundTool::bind(contract, input, output, Vec::new(), Arc::new(Nothing)).unwrap())
    });
    Catalog::of(tools, "2026-01-01").unwrap()
}

const OPEN: &str = r#"@id("open") permit (principal, action, resource);"#;

struct Case {
    catalog: Catalog,
    gate: TenantGate,
    alarms: Arc<Mutex<Vec<String>>>,
}

impl Case {
    fn of(policies: &str, rules: TenantRules) -> Self {
        let catalog = catalog();
        let alarms: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&alarms);
        let alarm: Alarm = Arc::new(move |rule, _| heard.lock().unwrap().push(rule.to_owned()));
        let gate = TenantGate::new(&catalog, Arc::new(Policies::load(policies).unwrap()), rules, alarm);
        Self { catalog, gate, alarms }
    }

    fn with_ask<T>(&self, actor: &Actor, tool: &str, use_it: impl FnOnce(&Ask<'_>) -> T) -> T {
        let tool = self.catalog.get(&tool.parse().unwrap()).unwrap();
        let session = Some(SessionId::from_uuid(uuid::Uuid::from_u128(7)));
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        use_it(&Ask { actor, tool, session, labels: &[], source: Source::Api, now })
    }

    fn decide(&self, actor: &Actor, tool: &str) -> Decision {
        self.with_ask(actor, tool, |ask| self.gate.decide(ask))
    }

    fn verdict(&self, actor: &Actor, tool: &str) -> (Verdict, String) {
        let decision = self.decide(actor, tool);
        (decision.verdict, decision.rule.to_string())
    }
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

fn assignment(value: Value) -> Assignment {
    serde_json::from_value(value).unwrap()
}

fn profile(value: Value, arguments: Option<Arc<dyn Validator>>) -> BoundProfile {
    BoundProfile { profile: serde_json::from_value(value).unwrap(), arguments }
}

#[test]
fn an_agent_has_what_is_assigned_and_nothing_else() {
    let case = Case::of(
        OPEN,
        TenantRules {
            assignments: vec![assignment(json!({"agent": "agent:bot", "target": {"tool": "a__x"}}))],
            ..TenantRules::default()
        },
    );
    assert_eq!(case.verdict(&actor("agent:bot"), "a__x").0, Verdict::Allow);
    assert_eq!(case.verdict(&actor("agent:bot"), "a__y"), (Verdict::Hide, "assignment: none".into()));
    assert_eq!(case.verdict(&actor("agent:other"), "a__x").0, Verdict::Hide);
    assert_eq!(case.verdict(&actor("user:ada"), "a__y").0, Verdict::Allow, "people need no assignment");
    let hint = case.decide(&actor("agent:bot"), "a__y").hint.unwrap();
    assert!(hint.contains("tool assign --tool a__y --agent bot"), "{hint}");
}

#[test]
fn profiles_tighten_and_a_missing_one_denies() {
    let rules = TenantRules {
        profiles: [
            ("asks".parse().unwrap(), profile(json!({"approval": "always_ask"}), None)),
            ("small".parse().unwrap(), profile(json!({}), Some(Arc::new(BelowTen)))),
        ]
        .into(),
        assignments: vec![
            assignment(json!({"agent": "agent:a", "target": {"tool": "a__x"}, "profile": "asks"})),
            assignment(json!({"agent": "agent:b", "target": {"tool": "a__x"}, "profile": "small"})),
            assignment(json!({"agent": "agent:c", "target": {"tool": "a__x"}, "profile": "gone"})),
        ],
        ..TenantRules::default()
    };
    let case = Case::of(OPEN, rules);
    assert_eq!(case.verdict(&actor("agent:a"), "a__x"), (Verdict::Ask, "profile: asks".into()));
    assert_eq!(case.verdict(&actor("agent:c"), "a__x"), (Verdict::Deny, "profile: gone".into()));
    let caller = actor("agent:b");
    for (n, verdict) in [(5, Verdict::Allow), (50, Verdict::Deny)] {
        case.with_ask(&caller, "a__x", |ask| {
            let decided = case.gate.decide(ask);
            assert_eq!(case.gate.decide_input(ask, &json!({"n": n}), &decided).verdict, verdict, "{n}");
        });
    }
}

#[test]
fn a_profile_that_wants_to_loosen_can_not_be_written() {
    for loose in [
        json!({"approval": "auto"}),
        json!({"approval": "never"}),
        json!({"unattended": true}),
        json!({"permissions": ["*"]}),
    ] {
        assert!(serde_json::from_value::<Profile>(loose.clone()).is_err(), "{loose}");
    }
}

#[test]
fn switches_stop_whatever_policy_says() {
    let session = SessionId::from_uuid(uuid::Uuid::from_u128(7)).to_string();
    for (kind, target, x_stopped, y_stopped) in [
        (KillKind::Tool, "a__x", true, false),
        (KillKind::Principal, "user:ada", true, true),
        (KillKind::Principal, "user:bob", false, false),
        (KillKind::Tenant, "default", true, true),
        (KillKind::Session, session.as_str(), true, true),
    ] {
        let kill = Kill { kind, target: target.to_owned(), reason: "it went wrong".to_owned() };
        let case = Case::of(OPEN, TenantRules { kills: vec![kill], ..TenantRules::default() });
        for (tool, stopped) in [("a__x", x_stopped), ("a__y", y_stopped)] {
            let decision = case.decide(&actor("user:ada"), tool);
            assert_eq!(decision.verdict == Verdict::Deny, stopped, "{kind:?} {target} {tool}");
            if stopped {
                assert!(decision.reason.contains("it went wrong") && decision.hint.is_some());
            }
        }
        let manages = case.gate.decide_manage(&actor("user:ada"), Area::Kills, Timestamp::from_micros(0));
        assert_eq!(manages.verdict, Verdict::Allow, "a switch stops calls, not those who can lift it");
    }
}

#[test]
fn connections_need_policy_and_no_switch() {
    let id = ConnectionId::generate();
    let check_for = |caller: &Actor, policies: &str, kills: Vec<Kill>| {
        let case = Case::of(policies, TenantRules { kills, ..TenantRules::default() });
        case.with_ask(caller, "a__x", |ask| case.gate.decide_connection(ask, "github", id).verdict)
    };
    let check = |policies: &str, kills: Vec<Kill>| check_for(&actor("user:ada"), policies, kills);
    assert_eq!(check(OPEN, vec![]), Verdict::Allow);
    assert_eq!(check("", vec![]), Verdict::Deny);
    let forbid = r#"@id("no github") forbid (principal, action == Toolgate::Action::"use_connection", resource)
                    when { resource.provider == "github" };"#;
    assert_eq!(check(&format!("{OPEN}\n{forbid}"), vec![]), Verdict::Deny);
    let kill = Kill { kind: KillKind::Connection, target: id.to_string(), reason: "leaked".into() };
    assert_eq!(check(OPEN, vec![kill]), Verdict::Deny);
    // Neither an agent nor the person behind it lends the other what it may not use itself, and the door counts.
    let mut bot = actor("agent:bot");
    let subject = "user:ada".parse().unwrap();
    bot.subject = Some(Subject { principal: subject, rules: AccessRules::default(), roles: [].into() });
    assert_eq!(check_for(&bot, OPEN, vec![]), Verdict::Allow);
    for clause in [
        r#"principal == Toolgate::Agent::"agent:bot", action, resource) when { resource is Toolgate::Connection }"#,
        r#"principal == Toolgate::User::"user:ada", action, resource) when { resource is Toolgate::Connection }"#,
        r#"principal, action == Toolgate::Action::"use_connection", resource) when { context.source == "api" }"#,
    ] {
        let forbid = format!("{OPEN} @id(\"no\") forbid ({clause};");
        assert_eq!(check_for(&bot, &forbid, vec![]), Verdict::Deny, "{clause}");
    }
}

#[test]
fn delegation_is_as_strict_as_the_stricter_of_the_two() {
    let rules = || TenantRules {
        assignments: vec![assignment(json!({"agent": "agent:bot", "target": {"tool": "a__x"}}))],
        ..TenantRules::default()
    };
    let mut caller = actor("agent:bot");
    caller.subject = Some(Subject {
        principal: "user:ada".parse().unwrap(),
        rules: AccessRules::default(),
        roles: [].into(),
    });
    let forbid = |who: &str| {
        format!(
            r#"{OPEN} @id("no") forbid (principal == Toolgate::{who}, action == Toolgate::Action::"call", resource);"#
        )
    };
    assert_eq!(Case::of(OPEN, rules()).verdict(&caller, "a__x").0, Verdict::Allow);
    for who in [r#"Agent::"agent:bot""#, r#"User::"user:ada""#] {
        assert_eq!(
            Case::of(&forbid(who), rules()).verdict(&caller, "a__x"),
            (Verdict::Deny, "no".into()),
            "{who}"
        );
    }
    let manage = r#"@id("bots manage") permit (principal is Toolgate::Agent, action == Toolgate::Action::"manage", resource);"#;
    let case = Case::of(manage, rules());
    let manages =
        |caller: &Actor| case.gate.decide_manage(caller, Area::Keys, Timestamp::from_micros(0)).verdict;
    assert_eq!((manages(&actor("agent:bot")), manages(&caller)), (Verdict::Allow, Verdict::Deny));
    let asks = format!(
        r#"{OPEN} @id("ask ada") forbid (principal == Toolgate::User::"user:ada",
           action == Toolgate::Action::"call_unattended", resource);"#
    );
    assert_eq!(Case::of(&asks, rules()).verdict(&caller, "a__x"), (Verdict::Ask, "ask ada".into()));
}

#[test]
fn a_policy_that_errs_denies_and_raises_the_alarm() {
    let errs = format!(
        r#"{OPEN} @id("errs") forbid (principal, action == Toolgate::Action::"call", resource)
           when {{ context.hour * 9223372036854775807 * 100 > 0 }};"#
    );
    let case = Case::of(&errs, TenantRules::default());
    let decision = case.decide(&actor("user:ada"), "a__x");
    assert_eq!((decision.verdict, &*decision.rule), (Verdict::Deny, "errs"));
    assert!(decision.reason.contains("could not be evaluated"), "{}", decision.reason);
    assert_eq!(case.alarms.lock().unwrap().as_slice(), ["errs"]);
}

#[test]
fn what_may_not_be_seen_is_hidden_and_what_may_not_be_called_is_named() {
    let look = r#"@id("look") permit (principal, action == Toolgate::Action::"see", resource);"#;
    let case = Case::of(look, TenantRules::default());
    assert_eq!(case.verdict(&actor("user:ada"), "a__x"), (Verdict::Deny, "deny by default".into()));
    let case = Case::of("", TenantRules::default());
    assert_eq!(case.verdict(&actor("user:ada"), "a__x").0, Verdict::Hide);
}

//! What saving a text finds: typed arguments, and mistakes with a way to mend them.

use toolgate_policy::cedar::{Policies, PolicyProblem};

use crate::given::refund_schema;

fn save(scope: &str, condition: &str) -> Result<Vec<PolicyProblem>, Vec<PolicyProblem>> {
    let text = format!("@id(\"p\") permit (principal, {scope}) when {{ {condition} }};");
    let lookup = |tool: &str| (tool == "crm__refund").then(refund_schema);
    Policies::check(&text, &lookup).map(|checked| checked.warnings).map_err(|problems| problems.0)
}

const CALL: &str = "action == Toolgate::Action::\"call\"";
const REFUND: &str = "resource == Toolgate::Tool::\"crm__refund\"";

fn refund(action: &str, condition: &str) -> Result<Vec<PolicyProblem>, Vec<PolicyProblem>> {
    save(&format!("{action}, {REFUND}"), condition)
}

#[test]
fn arguments_have_the_types_of_the_tool() {
    for good in [
        "context.input.amount < 5 && context.hour > 8",
        "context.input has price && context.input.price.lessThan(decimal(\"1.5\"))",
        "context.input has reason && context.input.reason like \"late*\"",
        "context.input has tags && context.input.tags.contains(\"vip\")",
        "context.input has urgent && context.input.urgent",
    ] {
        for action in ["call", "call_unattended", "approve"] {
            let action = format!("action == Toolgate::Action::\"{action}\"");
            assert_eq!(refund(&action, good), Ok(vec![]), "{good}");
        }
    }
    for bad in [
        "context.input.amount < \"5\"",
        "context.input.price.lessThan(decimal(\"1.5\"))",
        "context.input.free == 1",
        "context.input.missing == 1",
        "context.input has tags && context.input.tags.contains(1)",
    ] {
        let problems = refund(CALL, bad).unwrap_err();
        assert_eq!(problems[0].policy.as_deref(), Some("p"), "{bad}");
    }
    let hint = refund(CALL, "context.input.missing == 1").unwrap_err()[0].hint.clone().unwrap();
    assert!(hint.contains("`amount`, `price`, `reason`, `tags`, `urgent`"), "{hint}");
}

#[test]
fn arguments_are_there_only_for_one_tool_and_its_calls() {
    let hint = |problems: Vec<PolicyProblem>| problems[0].hint.clone().unwrap();
    for scope in [
        format!("{CALL}, resource"),
        format!("{CALL}, resource is Toolgate::Tool"),
        format!("{CALL}, resource in Toolgate::Toolset::\"desk\""),
    ] {
        for condition in ["context.input.amount < 5", "context has input && context.input.amount < 5"] {
            let problems = save(&scope, condition).unwrap_err();
            assert!(hint(problems).contains("name one tool with `resource == Toolgate::Tool::\"…\"`"));
        }
    }
    assert!(refund("action == Toolgate::Action::\"see\"", "context.input.amount < 5").is_err());
    assert!(refund("action", "context.input.amount < 5").is_err());
}

#[test]
fn a_tool_nobody_knows_is_a_warning() {
    let scope = format!("{CALL}, resource == Toolgate::Tool::\"crm__gone\"");
    let warnings = save(&scope, "context.hour > 5").unwrap();
    assert_eq!(warnings[0].message, "no tool is named `crm__gone`");
    assert!(save(&scope, "context.input.amount > 5").is_err());
}

#[test]
fn what_cannot_be_known_is_refused() {
    for unknowable in [
        "context == context",
        "context.subject in Toolgate::Role::\"boss\"",
        "context has subject && context.subject.rules.contains(\"*\")",
        "Toolgate::User::\"user:ada\".rules.contains(\"*\")",
        "Toolgate::Tool::\"crm__refund\".effect == \"read\"",
        "context.own",
        "context.subject == principal",
    ] {
        assert!(refund(CALL, unknowable).is_err(), "{unknowable}");
    }
    for knowable in [
        "context has subject && context.subject == Toolgate::User::\"user:ada\"",
        "context has subject && context.subject.name == \"ada\"",
        "principal.name like \"a*\" && principal.rules.containsAny([\"*\", \"crm.refunds.write\"])",
        "context.now > datetime(\"2025-01-01\") && context.weekday == \"monday\" && context.source != \"mcp\"",
        "resource.namespace == \"crm\" && resource.idempotent && !resource.internal && resource.category == \"x\"",
    ] {
        assert_eq!(refund(CALL, knowable), Ok(vec![]), "{knowable}");
    }
    assert!(refund("action == Toolgate::Action::\"approve\"", "context.own || context.for_me").is_ok());
}

#[test]
fn problems_name_policy_line_and_column() {
    let text = "@id(\"fine\") permit (principal, action, resource);\n\n@id(\"wrong\")\nforbid (principal, action, resource)\nwhen { context.hourly > 5 };";
    let problems = Policies::check(text, &|_| None).unwrap_err().0;
    assert_eq!(problems[0].policy.as_deref(), Some("wrong"));
    assert_eq!((problems[0].line, problems[0].column), (5, 8));
    let shown = problems[0].to_string();
    assert!(shown.starts_with("line 5:8: policy `wrong`: attribute `hourly` in context for "), "{shown}");
}

//! Texts made to hurt: none may crash, hang, or be taken for something it is not.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::id::ToolName;
use toolgate_policy::cedar::{Answer, Deciding, Judge, Policies, PolicyProblem};

use crate::given::{plainly, refund_schema, tools, who};

fn problems(text: &str) -> Vec<PolicyProblem> {
    let checked = Policies::check(text, &|_| Some(refund_schema())).map(|checked| checked.warnings);
    let problems = checked.unwrap_err().0;
    assert!((1..=50).contains(&problems.len()));
    for problem in &problems {
        assert!(problem.message.chars().count() <= 500 && problem.line >= 1 && problem.column >= 1);
    }
    problems
}

fn check_refused(text: &str, message: &str) {
    let problems = problems(text);
    assert!(problems.iter().any(|problem| problem.message.contains(message)), "{:?}", problems[0]);
}

fn policy(condition: &str) -> String {
    format!("@id(\"p\") permit (principal, action, resource is Toolgate::Tool) when {{ {condition} }};")
}

/// Asks about a call on a thread with the stack a server's worker has.
fn ask(text: &str) -> Answer {
    let judge = Judge::new(Arc::new(Policies::load(text).unwrap()), tools());
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let ask = move || {
        let tool: ToolName = "crm__refund".parse().unwrap();
        judge.tool_with_input(&who("user:a", &[], &[]), &tool, &plainly(), &json!({"amount": 1})).call.clone()
    };
    thread.spawn(ask).unwrap().join().unwrap()
}

#[test]
fn nesting_is_refused_before_it_hurts() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{a:", "}")] {
        let nested = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        check_refused(&policy(&nested), "brackets nest deeper");
    }
    check_refused(&"(".repeat(500_000), "brackets nest deeper");
    let condition = "if true then ".repeat(2_000) + "true" + &" else true".repeat(2_000);
    check_refused(&policy(&condition), "");
    check_refused(&policy(&("if true then true else ".repeat(1_500) + "true")), "nest too deep");
    check_refused(&policy("true").replace(';', &(" when { true }".repeat(1_500) + ";")), "nest too deep");
    check_refused(&policy(&("!".repeat(9_000) + "true")), "");
    check_refused(&policy(&("-".repeat(9_000) + "1 < 0")), "");
}

#[test]
fn long_chains_are_refused() {
    for link in ["true && ", "true || ", "1 + ", "1 * ", "principal == ", "principal in "] {
        check_refused(&policy(&(link.repeat(3_000) + "true")), "");
    }
    check_refused(&policy(&("true && ".repeat(3_000) + "true")), "nest too deep");
    check_refused(&policy(&format!("principal{}", ".name".repeat(3_000))), "nest too deep");
    check_refused(&policy(&format!("principal has a{}", ".a".repeat(3_000))), "nest too deep");
    check_refused(&policy(&("true && ".repeat(200_000) + "true")[..500_000]), "too long");
}

#[test]
fn the_deepest_text_that_is_taken_can_be_evaluated() {
    let chain = vec!["resource.effect == \"mutate\""; 97].join(" && ");
    let ifs = "if context.input.amount > 5 then false else ".repeat(93) + "true";
    let nots = (0..60).fold("true".to_owned(), |inner, _| format!("!({inner})"));
    for condition in [chain, ifs, nots] {
        let pinned = policy(&condition).replace("is Toolgate::Tool", "== Toolgate::Tool::\"crm__refund\"");
        let answer = ask(&pinned);
        assert_eq!(answer.by, Deciding::Permit, "{:?}", answer.fault);
    }
}

#[test]
fn huge_texts_are_refused_at_once() {
    check_refused(&"/".repeat((512 << 10) + 1), "512 KiB");
    check_refused(&"permit (principal, action, resource);".repeat(5_001), "more than 5000 policies");
    let many: String =
        (0..1_000).map(|i| format!("@id(\"p{i}\") permit (principal, action, resource);\n")).collect();
    assert_eq!(Policies::load(&many).unwrap().len(), 1_000);
}

#[test]
fn many_problems_are_cut_to_fifty() {
    let many: String = (0..1_000).map(|_| "permit (principal, action, resource);\n").collect();
    let problems = problems(&many);
    assert_eq!((problems.len(), problems[49].line), (50, 50));
    assert!(problems[0].hint.as_deref().unwrap().contains("@id"));
    let wrong: String = (0..3)
        .map(|i| {
            format!(
                "@id(\"p{i}\") permit (principal, action, resource) when {{ context.{} }};\n",
                "x".repeat(600)
            )
        })
        .collect();
    check_refused(&wrong, "attribute");
    check_refused(&wrong.replace("context.", "context in "), "");
    check_refused(&many.replace("permit", "@id(\"same\") permit"), "the same id");
    check_refused(&many.replace("permit", "permat"), "");
}

#[test]
fn templates_are_refused() {
    check_refused("@id(\"t\") permit (principal == ?principal, action, resource);", "slots");
    check_refused("@id(\"t\") permit (principal, action, resource in ?resource);", "slots");
}

#[test]
fn ids_are_plain_and_unique() {
    let with_id = |id: &str| format!("@id(\"{id}\") permit (principal, action, resource);");
    let twice = with_id("a") + "\n" + &with_id("a");
    check_refused(&twice, "line 1 has a policy with the same id");
    assert_eq!(problems(&twice)[0].line, 2);
    for bad in
        ["", " ", " a", "a ", "a\\u{0}b", "a\\u{202e}b", "a\\u{200b}b", "a\\nb", "ä", "a/b", &"x".repeat(81)]
    {
        check_refused(&with_id(bad), "id cannot be used");
    }
    check_refused("@id permit (principal, action, resource);", "id cannot be used");
    for hidden in ['\0', '\u{202e}', '\u{200b}', '\u{feff}'] {
        check_refused(&with_id(&format!("a{hidden}")), "invisible");
        check_refused(&format!("// {hidden}\n{}", with_id("a")), "invisible");
    }
    assert!(Policies::load(&with_id(&"x".repeat(80))).is_ok());
    assert!(Policies::load(&with_id("2025-06: a_b.c")).is_ok());
}

#[test]
fn entity_ids_may_hold_any_text() {
    let text =
        r#"@id("odd") permit (principal in Toolgate::Role::"\u{0}\u{202e}\"; drop", action, resource);"#;
    let policies = Policies::check(text, &|_| None).unwrap().policies;
    let judge = Judge::new(Arc::new(policies), tools());
    let tool: ToolName = "core__time".parse().unwrap();
    let odd = who("user:a", &["\0\u{202e}\"; drop"], &[]);
    assert!(judge.tool(&odd, &tool, &plainly()).call.allowed);
    assert!(!judge.tool(&who("user:a", &["\"; drop"], &[]), &tool, &plainly()).call.allowed);
}

#[test]
fn nonsense_is_told_where_it_stands() {
    let found = problems("// one\n@id(\"a\") permit (principal, action, resource) when { 1 + };");
    assert_eq!((found[0].line, found[0].column), (2, 58));
    check_refused("permit", "");
    check_refused("@id(\"a", "");
    check_refused(&policy("1 < \"a\""), "");
    check_refused("@id(\"a\") permit (principal is Person, action, resource);", "Person");
    check_refused("@id(\"a\") permit (principal, action == Toolgate::Action::\"fly\", resource);", "fly");
    check_refused(&policy("Other::Thing::\"x\" == resource"), "Thing");
    assert!(Policies::check("", &|_| None).unwrap().policies.is_empty());
}

#[test]
fn a_policy_that_errs_denies_and_says_so() {
    let allow = "@id(\"allow\") permit (principal, action, resource);";
    for effect in ["permit", "forbid"] {
        let text = format!(
            "{allow} @id(\"errs\") {effect} (principal, action, resource) when {{ context.hour + 9223372036854775807 > 0 }};"
        );
        assert!(Policies::check(&text, &|_| None).is_ok(), "strict checking does not see it");
        let answer = ask(&text);
        assert_eq!((answer.allowed, answer.by, &*answer.rule), (false, Deciding::Fault, "errs"));
        assert!(answer.fault.unwrap().contains("overflow"));
        assert_eq!(answer.reasons.iter().map(|id| &**id).collect::<Vec<_>>(), ["allow"]);
    }
}

//! What the judge says, and of which policy.

use serde_json::{Value, json};
use toolgate_core::Source;
use toolgate_policy::cedar::{Answer, Circumstances, Deciding};

use crate::given::{judge, june, plainly, who};

const ALLOW: &str = "@id(\"allow\") permit (principal, action, resource);\n";
const LIMIT: &str = r#"
@id("small refunds") permit (
    principal, action in [Toolgate::Action::"call", Toolgate::Action::"call_unattended"],
    resource == Toolgate::Tool::"crm__refund"
) when { context.input.amount <= 100 };
@id("no large refunds") forbid (
    principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"crm__refund"
) when { context.input.amount > 1000 };
"#;

fn refund(text: &str, circumstances: &Circumstances<'_>, input: Option<Value>) -> Answer {
    let judge = judge(text);
    let (ada, tool) = (who("user:ada", &[], &[]), "crm__refund".parse().unwrap());
    match input {
        None => judge.tool(&ada, &tool, circumstances).call.clone(),
        Some(input) => judge.tool_with_input(&ada, &tool, circumstances, &input).call.clone(),
    }
}

#[test]
fn without_arguments_what_they_may_allow_is_allowed() {
    let answer = refund(LIMIT, &plainly(), None);
    assert_eq!((answer.by, &*answer.rule), (Deciding::Permit, "small refunds"));
    let check = |amount: Value, by, rule: &str| {
        let answer = refund(LIMIT, &plainly(), Some(json!({ "amount": amount })));
        assert_eq!((answer.by, &*answer.rule), (by, rule), "{amount}");
    };
    check(json!(100), Deciding::Permit, "small refunds");
    check(json!(100.0), Deciding::Permit, "small refunds");
    check(json!(101), Deciding::NoPermit, "deny by default");
    check(json!(1001), Deciding::Forbid, "no large refunds");
    check(json!(u64::MAX), Deciding::Forbid, "no large refunds");
    check(json!(1e300), Deciding::Forbid, "no large refunds");
    check(json!(-1e300), Deciding::Permit, "small refunds");
}

#[test]
fn arguments_of_the_wrong_type_deny() {
    for input in [json!({}), json!({"amount": "1"}), json!(null)] {
        let answer = refund(LIMIT, &plainly(), Some(input));
        assert_eq!((answer.allowed, answer.by, &*answer.rule), (false, Deciding::Fault, "small refunds"));
    }
    // Where no policy reads arguments, nobody looks at them.
    assert!(refund(ALLOW, &plainly(), Some(json!(null))).allowed);
}

#[test]
fn a_forbid_that_holds_for_all_arguments_counts_without_them() {
    let text = format!(
        "{ALLOW}@id(\"never\") forbid (principal, action == Toolgate::Action::\"call\", resource == Toolgate::Tool::\"crm__refund\")
         when {{ resource.effect == \"mutate\" || context.input.amount > 5 }};"
    );
    assert_eq!(refund(&text, &plainly(), None).by, Deciding::Forbid);
    let perhaps = text.replace("\"mutate\"", "\"read\"");
    assert_eq!(refund(&perhaps, &plainly(), None).by, Deciding::Permit);
    let unless = text.replace("when {", "unless {").replace("||", "&&").replace("\"mutate\"", "\"read\"");
    assert_eq!(refund(&unless, &plainly(), None).by, Deciding::Forbid);
}

#[test]
fn an_error_before_the_arguments_are_known_is_no_answer() {
    let policy = |effect: &str, condition: &str| {
        format!(
            "{ALLOW}@id(\"p\") {effect} (principal is Toolgate::User, action == Toolgate::Action::\"call\", resource == Toolgate::Tool::\"crm__refund\") when {{ {condition} }};"
        )
    };
    let errs = "context.hour + 9223372036854775807 > 0";
    let permit =
        policy("permit", &format!("(context.input.amount > 3 && {errs}) || true")).replace(ALLOW, "");
    let forbid =
        policy("forbid", &format!("!(context.input.amount > 3 && {errs}) && resource.effect == \"read\""));
    for text in [permit, forbid] {
        assert_eq!(refund(&text, &plainly(), Some(json!({"amount": 4}))).by, Deciding::Fault);
        assert_eq!(refund(&text, &plainly(), Some(json!({"amount": 3}))).by, Deciding::Permit);
        assert_eq!(refund(&text, &plainly(), None).by, Deciding::Permit);
    }
}

#[test]
fn circumstances_are_looked_at_each_time() {
    let judge = judge(&format!(
        r#"{ALLOW}
        @id("night") forbid (principal, action, resource) when {{ context.hour < 8 }};
        @id("sunday") forbid (principal, action, resource) when {{ context.weekday == "sunday" }};
        @id("marked") forbid (principal, action, resource) when {{ context.labels.contains("untrusted") }};
        @id("mcp") forbid (principal, action, resource) when {{ context.source == "mcp" }};
        @id("for eve") forbid (principal, action, resource)
        when {{ context has subject && (context.subject == Toolgate::User::"user:eve" || context.subject.name == "mal") }};
        @id("later") forbid (principal, action, resource) when {{ context.now >= datetime("2025-06-20T00:00:00Z") }};
        "#
    ));
    let (agent, tool) = (who("agent:a", &[], &[]), "core__time".parse().unwrap());
    let untrusted = ["untrusted".to_owned()];
    let people = ["user:eve", "user:mal", "user:ada", "service:x"].map(|id| id.parse().unwrap());
    let check = |circumstances: Circumstances<'_>, rule: &str| {
        // Twice, so that the second answer would show what was wrongly remembered of the first.
        for _ in 0..2 {
            let answer = judge.tool(&agent, &tool, &circumstances);
            assert_eq!(&*answer.see.rule, rule);
            assert_eq!(&*answer.unattended.rule, rule);
            assert_eq!(&*judge.manage(&agent, "keys", &circumstances).rule, rule);
        }
    };
    check(plainly(), "allow");
    check(Circumstances { now: june(2, 7), ..plainly() }, "night");
    check(Circumstances { now: june(1, 12), ..plainly() }, "sunday");
    check(Circumstances { labels: &untrusted, ..plainly() }, "marked");
    check(Circumstances { source: Source::Mcp, ..plainly() }, "mcp");
    for (person, rule) in people.iter().zip(["for eve", "for eve", "allow", "allow"]) {
        check(Circumstances { subject: Some(person), ..plainly() }, rule);
    }
    check(Circumstances { now: june(20, 12), ..plainly() }, "later");
    check(plainly(), "allow");
}

#[test]
fn all_matching_policies_are_reasons_in_the_order_of_the_text() {
    let text = format!(
        "@id(\"z\") permit (principal, action, resource);{ALLOW}@id(\"no\") forbid (principal is Toolgate::Agent, action, resource);"
    );
    let judge = judge(&text);
    let tool = "core__time".parse().unwrap();
    let reasons = |id: &str| {
        let answer = judge.tool(&who(id, &[], &[]), &tool, &plainly());
        (answer.call.rule.to_string(), answer.call.reasons.join(","))
    };
    assert_eq!(reasons("user:a"), ("z".to_owned(), "z,allow".to_owned()));
    assert_eq!(reasons("agent:a"), ("no".to_owned(), "z,allow,no".to_owned()));
}

#[test]
fn unknown_tools_are_denied() {
    let judge = judge(ALLOW);
    let (ada, tool) = (who("user:ada", &[], &[]), "core__gone".parse().unwrap());
    assert_eq!(judge.tool(&ada, &tool, &plainly()).see.by, Deciding::NoPermit);
    assert!(!judge.tool_with_input(&ada, &tool, &plainly(), &json!({})).call.allowed);
    assert!(!judge.approve(&ada, &tool, &plainly(), &json!({})).allowed);
}

#[test]
fn connections_are_known_by_provider_and_id() {
    let judge = judge(
        r#"@id("github") permit (principal, action == Toolgate::Action::"use_connection", resource) when { resource.provider == "github" };
        @id("not this") forbid (principal, action, resource == Toolgate::Connection::"con_2");"#,
    );
    let ada = who("user:ada", &[], &[]);
    let rule = |provider, id| judge.connection(&ada, provider, id, &plainly()).rule.to_string();
    assert_eq!(rule("github", "con_1"), "github");
    assert_eq!(rule("github", "con_2"), "not this");
    assert_eq!(rule("gitlab", "con_1"), "deny by default");
}

#[test]
fn one_judge_serves_many_threads() {
    let judge = judge(&format!(
        "{ALLOW}@id(\"night\") forbid (principal, action, resource) when {{ context.hour < 8 }};"
    ));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let judge = &judge;
            scope.spawn(move || {
                for round in 0..50 {
                    let now = june(2, (thread + round) % 24);
                    let ada = who(&format!("user:{}", round % 5), &[], &[]);
                    let tool = "core__time".parse().unwrap();
                    let answer = judge.tool(&ada, &tool, &Circumstances { now, ..plainly() });
                    assert_eq!(answer.call.allowed, (thread + round) % 24 >= 8);
                }
            });
        }
    });
}

//! Random policies, principals, tools and circumstances, from a grammar of everything a policy may say.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolgate_core::Source;
use toolgate_core::id::PrincipalId;
use toolgate_policy::cedar::{Circumstances, PrincipalFacts, ToolFacts};

use crate::given::{contract, june, who};

pub(crate) const PRINCIPALS: [&str; 4] = ["user:ada", "user:bob", "agent:ada", "service:x"];
/// The first two declare the same; policies name only the second.
pub(crate) const TOOLS: [(&str, &str, &str, &[&str]); 6] = [
    ("core__twin", "read", "none", &[]),
    ("core__named", "read", "none", &[]),
    ("crm__refund", "mutate", "write", &["desk", "money"]),
    ("crm__note", "mutate", "none", &["desk"]),
    ("files__delete", "destructive", "none", &["files"]),
    ("files__drop", "destructive", "none", &["files"]),
];

pub(crate) fn tools() -> Vec<ToolFacts> {
    let facts = TOOLS.map(|(id, effect, egress, toolsets)| {
        ToolFacts::of(&contract(id, effect, egress), toolsets.iter().map(|&set| set.to_owned()).collect())
    });
    facts.into()
}

/// Everything a question depends on.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) who: PrincipalFacts,
    pub(crate) tool: &'static str,
    pub(crate) input: Value,
    pub(crate) area: &'static str,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) labels: Vec<String>,
    pub(crate) source: Source,
    pub(crate) subject: Option<PrincipalId>,
    pub(crate) own: bool,
    pub(crate) for_me: bool,
}

impl Given {
    pub(crate) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            now: june(self.day, self.hour),
            labels: &self.labels,
            source: self.source,
            subject: self.subject.as_ref(),
            own: self.own,
            for_me: self.for_me,
        }
    }
}

fn any_who() -> impl Strategy<Value = PrincipalFacts> {
    let roles = proptest::sample::subsequence(vec!["approver", "desk", "auditor"], 0..=3);
    let rules = proptest::sample::subsequence(vec!["*", "crm.notes.write"], 0..=2);
    (select(&PRINCIPALS[..]), roles, rules).prop_map(|(id, roles, rules)| who(id, &roles, &rules))
}

fn any_input() -> impl Strategy<Value = Value> {
    let price = select(vec![None, Some(0.5), Some(1.25), Some(99.0)]);
    let reason = select(vec![None, Some("late"), Some("later"), Some("")]);
    let tags = proptest::option::of(proptest::sample::subsequence(vec!["vip", "new"], 0..=2));
    (-2i64..8, price, reason, proptest::option::of(any::<bool>()), tags).prop_map(
        |(amount, price, reason, urgent, tags)| {
            let mut input = json!({ "amount": amount });
            for (name, value) in [
                ("price", json!(price)),
                ("reason", json!(reason)),
                ("urgent", json!(urgent)),
                ("tags", json!(tags)),
            ] {
                if !value.is_null() {
                    input[name] = value;
                }
            }
            input
        },
    )
}

pub(crate) fn any_given() -> impl Strategy<Value = Given> {
    let tool = select(TOOLS.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
    let labels = proptest::sample::subsequence(vec!["untrusted", "tainted"], 0..=2);
    let source = select(vec![Source::Web, Source::Agent, Source::Api, Source::Mcp, Source::System]);
    let subject = select(vec![None, Some("user:ada"), Some("user:eve")]);
    let moment = (1i64..8, 0i64..24);
    (
        any_who(),
        (tool, any_input(), select(vec!["audit", "keys"])),
        moment,
        labels,
        source,
        subject,
        any::<[bool; 2]>(),
    )
        .prop_map(|(who, (tool, input, area), (day, hour), labels, source, subject, [own, for_me])| {
            Given {
                who,
                tool,
                input,
                area,
                day,
                hour,
                labels: labels.into_iter().map(str::to_owned).collect(),
                source,
                subject: subject.map(|id| id.parse().unwrap()),
                own,
                for_me,
            }
        })
}

/// Questions by few principals, so that what is remembered of one shows in the next. Some differ in one thing only.
pub(crate) fn any_questions(most: usize) -> impl Strategy<Value = Vec<Given>> {
    let people = proptest::collection::vec(any_who(), 1..3);
    let questions =
        proptest::collection::vec((any_given(), any::<proptest::sample::Index>(), 0u8..12), 1..most);
    (people, questions).prop_map(|(people, questions)| {
        let mut asked: Vec<Given> = Vec::new();
        for (fresh, person, change) in questions {
            let fresh = Given { who: people[person.index(people.len())].clone(), ..fresh };
            let last = asked.last().cloned().unwrap_or_else(|| fresh.clone());
            asked.push(match change {
                0 => Given { hour: fresh.hour, ..last },
                1 => Given { day: fresh.day, ..last },
                2 => Given { labels: fresh.labels, ..last },
                3 => Given { source: fresh.source, ..last },
                4 => Given { subject: fresh.subject, ..last },
                5 => Given { input: fresh.input, ..last },
                6 => Given { tool: fresh.tool, ..last },
                7 => Given { who: fresh.who, ..last },
                _ => fresh,
            });
        }
        asked
    })
}

/// A policy without its id.
pub(crate) fn any_policy() -> impl Strategy<Value = String> {
    let principal = select(vec![
        "principal",
        "principal is Toolgate::User",
        "principal is Toolgate::Agent",
        "principal == Toolgate::User::\"user:ada\"",
        "principal == Toolgate::Agent::\"agent:ada\"",
        "principal in Toolgate::Role::\"desk\"",
        "principal in Toolgate::User::\"user:bob\"",
        "principal is Toolgate::User in Toolgate::Role::\"approver\"",
        "principal is Toolgate::Agent in Toolgate::Role::\"desk\"",
    ]);
    let effect = prop_oneof![3 => Just("permit"), 1 => Just("forbid")];
    (effect, principal, prop_oneof![2 => plain_rest(), 1 => rest_with_input()])
        .prop_map(|(effect, principal, rest)| format!("{effect} ({principal}, {rest};"))
}

/// A policy about every tool that reads nothing but circumstances.
pub(crate) fn any_moody_policy() -> impl Strategy<Value = String> {
    let atom = select(vec![
        "context.hour < 9",
        "context.weekday == \"monday\"",
        "context.now < datetime(\"2025-06-04T12:00:00Z\")",
        "context.labels.contains(\"untrusted\")",
        "context.source == \"mcp\"",
        "(context has subject && context.subject == Toolgate::User::\"user:eve\")",
    ]);
    let head = select(vec![
        "permit (principal, action, resource is Toolgate::Tool)",
        "forbid (principal, action, resource is Toolgate::Tool)",
    ]);
    (head, expression(atom.prop_map(str::to_owned).boxed()))
        .prop_map(|(head, condition)| format!("{head} when {{ {condition} }};"))
}

fn plain_rest() -> BoxedStrategy<String> {
    let action = select(vec![
        "action",
        "action == Toolgate::Action::\"see\"",
        "action == Toolgate::Action::\"call\"",
        "action == Toolgate::Action::\"call_unattended\"",
        "action in [Toolgate::Action::\"see\", Toolgate::Action::\"call\"]",
        "action == Toolgate::Action::\"approve\"",
        "action in [Toolgate::Action::\"manage\", Toolgate::Action::\"use_connection\"]",
    ]);
    let resource = select(vec![
        "resource",
        "resource is Toolgate::Tool",
        "resource == Toolgate::Tool::\"core__named\"",
        "resource == Toolgate::Tool::\"crm__refund\"",
        "resource in Toolgate::Toolset::\"desk\"",
        "resource is Toolgate::Tool in Toolgate::Toolset::\"files\"",
        "resource in Toolgate::Tool::\"crm__note\"",
        "resource == Toolgate::Area::\"audit\"",
        "resource is Toolgate::Connection",
    ]);
    (action, resource, clauses(atom().boxed()))
        .prop_map(|(action, resource, clauses)| format!("{action}, {resource}) {clauses}"))
        .boxed()
}

fn rest_with_input() -> BoxedStrategy<String> {
    let action = select(vec![
        "action == Toolgate::Action::\"call\"",
        "action in [Toolgate::Action::\"call\", Toolgate::Action::\"call_unattended\"]",
        "action == Toolgate::Action::\"approve\"",
    ]);
    let tool = select(vec!["core__named", "crm__refund", "crm__note"]);
    (action, tool, clauses(prop_oneof![atom(), input_atom()].boxed()))
        .prop_map(|(action, tool, clauses)| {
            format!("{action}, resource == Toolgate::Tool::\"{tool}\") {clauses}")
        })
        .boxed()
}

fn clauses(atom: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let clause = (select(vec!["when", "unless"]), expression(atom))
        .prop_map(|(word, condition)| format!("{word} {{ {condition} }}"));
    proptest::collection::vec(clause, 0..3).prop_map(|clauses| clauses.join(" "))
}

fn expression(atom: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    atom.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
        ]
    })
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => select(vec![
            "resource has effect && resource.effect == \"read\"",
            "resource has egress && resource.egress == \"write\"",
            "resource has namespace && [\"crm\", \"core\"].contains(resource.namespace)",
            "resource has provider && resource.provider == \"github\"",
            "resource in Toolgate::Toolset::\"money\"",
            "resource == Toolgate::Tool::\"core__named\"",
            "resource in [Toolgate::Tool::\"crm__note\", Toolgate::Toolset::\"files\"]",
            "resource is Toolgate::Tool",
            "principal in Toolgate::Role::\"desk\"",
            "principal is Toolgate::User",
            "principal == Toolgate::User::\"user:ada\"",
            "principal.rules.contains(\"*\")",
            "principal.name == \"ada\"",
            "action == Toolgate::Action::\"call\"",
            "context.hour < 9",
            "context.weekday == \"monday\"",
            "context.now < datetime(\"2025-06-04T12:00:00Z\")",
            "context.labels.contains(\"untrusted\")",
            "context.source == \"mcp\"",
            "context has subject",
            "context has subject && context.subject == principal",
            "context has subject && context.subject.name == \"eve\"",
            "context has own && context.own",
            "context has for_me && context.for_me",
            "true",
        ]).prop_map(|text| format!("({text})")),
        // What errs, for some or for all.
        2 => select(vec![
            "context.hour + 9223372036854775800 > 0",
            "9223372036854775807 + 1 > 0",
            "resource.effect == \"read\"",
            "context.subject.name == \"ada\"",
            "context.own",
            "Toolgate::User::\"user:zoe\".name == \"zoe\"",
        ]).prop_map(|text| format!("({text})")),
    ]
}

fn input_atom() -> impl Strategy<Value = String> {
    select(vec![
        "context.input.amount < 3",
        "context.input.amount + context.hour > 12",
        "context.input has price && context.input.price.lessThan(decimal(\"1.25\"))",
        "context.input has reason && context.input.reason like \"late*\"",
        "context.input has urgent && context.input.urgent",
        "context.input has tags && context.input.tags.contains(\"vip\")",
        "context.input.reason == \"late\"",
        "context.input.amount * 9223372036854775807 > 0",
    ])
    .prop_map(|text| format!("({text})"))
}

/// A text of these policies, with ids in order.
pub(crate) fn text_of(policies: &[String]) -> String {
    policies.iter().enumerate().map(|(i, policy)| format!("@id(\"p{i}\") {policy}\n")).collect()
}

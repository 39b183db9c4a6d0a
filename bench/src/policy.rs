//! What a policy decision costs: remembered, asked for the first time, and by plain Cedar over all policies.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cedar_policy::{Authorizer, Context, Entities, EntityUid, PolicySet, Request};
use serde_json::json;
use toolgate_core::{Source, Timestamp, ToolContract};
use toolgate_policy::cedar::{Circumstances, Judge, Policies, PrincipalFacts, ToolFacts};

const POLICIES: [usize; 3] = [10, 100, 1_000];
const TOOLS: usize = 10_000;
const LISTED: usize = 5_000;
const ROUNDS: usize = 2_000;
const PLAIN_ROUNDS: usize = 100;
/// Questions timed as one, so that looking at the clock does not count.
const BATCH: usize = 50;

/// Policies about every tool that cannot be answered once and for all.
const MOODY: &str = r#"
@id("bench: at night") forbid (principal, action, resource is Toolgate::Tool) when { context.hour < 3 };
@id("bench: marked") forbid (principal, action, resource is Toolgate::Tool) when { context.labels.contains("untrusted") };
"#;

/// Prints what decisions cost with more policies, and what a whole listing costs.
pub(crate) fn measure() {
    println!("\n## A policy decision (see, call and call_unattended of one tool; {TOOLS} tools)\n");
    println!(
        "| policies | remembered | ratio | first question | ratio | plain Cedar, all policies | ratio |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let tools: Vec<ToolContract> = (0..TOOLS).map(tool).collect();
    let mut few = None;
    for count in POLICIES {
        let text = policies(count);
        let judge = judge(&text, &tools);
        let found = [warm(&judge, &tools), cold(&judge, &tools), plain(&text, &tools[7])];
        let base = *few.get_or_insert(found);
        print!("| {count} ");
        for (time, base) in found.into_iter().zip(base) {
            print!("| {:.2} µs | {:.2} ", micros(time), micros(time) / micros(base));
        }
        println!("|");
    }

    println!("\n## Listing {LISTED} tools for one principal\n");
    println!("| policies | first time | ratio | remembered | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    let mut texts: Vec<(String, String)> =
        POLICIES.into_iter().map(|count| (count.to_string(), policies(count))).collect();
    texts.push(("1000, and 2 that read hour and labels".to_owned(), policies(1_000) + MOODY));
    let mut few = None;
    for (name, text) in texts {
        let judge = judge(&text, &tools[..LISTED]);
        let found = listing(&judge, &tools[..LISTED]);
        let base = *few.get_or_insert(found);
        print!("| {name} ");
        for (time, base) in found.into_iter().zip(base) {
            print!("| {:.2} ms | {:.2} ", micros(time) / 1e3, micros(time) / micros(base));
        }
        println!("|");
    }
}

/// The same principal asks again, about one tool after another.
fn warm(judge: &Judge, tools: &[ToolContract]) -> Duration {
    let who = principal(0);
    let ask = |round: usize| {
        for tool in tools.iter().cycle().skip(round * 37 % TOOLS).take(BATCH) {
            std::hint::black_box(judge.tool(&who, &tool.id, &now()));
        }
    };
    (0..TOOLS / 37).for_each(ask);
    median((0..ROUNDS).map(|round| timed(|| ask(round)) / BATCH as u32))
}

/// Principals ask their first question.
fn cold(judge: &Judge, tools: &[ToolContract]) -> Duration {
    let strangers: Vec<PrincipalFacts> = (1..=ROUNDS).map(principal).collect();
    median(
        strangers
            .iter()
            .zip(tools.iter().cycle())
            .map(|(who, tool)| timed(|| std::hint::black_box(judge.tool(who, &tool.id, &now())))),
    )
}

/// Every tool once, for principals not seen before and then again.
fn listing(judge: &Judge, tools: &[ToolContract]) -> [Duration; 2] {
    let list = |who: &PrincipalFacts| {
        tools.iter().filter(|tool| judge.tool(who, &tool.id, &now()).see.allowed).count()
    };
    let strangers: Vec<PrincipalFacts> = (0..15).map(|i| principal(i * 5)).collect();
    [0, 1].map(|_| median(strangers.iter().map(|who| timed(|| std::hint::black_box(list(who))))))
}

/// Cedar's own authorizer with all policies and only the entities of the question, made beforehand.
fn plain(text: &str, tool: &ToolContract) -> Duration {
    let (Ok(set), Some(entities)) = (text.parse::<PolicySet>(), entities(tool)) else {
        return Duration::ZERO;
    };
    let requests: Vec<Request> = ["see", "call", "call_unattended"]
        .into_iter()
        .filter_map(|action| {
            let uid = |kind: &str, id: &str| EntityUid::from_json(json!({ "type": kind, "id": id })).ok();
            Request::new(
                uid("Toolgate::User", principal(0).id.as_str())?,
                uid("Toolgate::Action", action)?,
                uid("Toolgate::Tool", tool.id.as_str())?,
                Context::from_json_value(json!({ "hour": 10, "input": { "amount": 5 } }), None).ok()?,
                None,
            )
            .ok()
        })
        .collect();
    let authorizer = Authorizer::new();
    median((0..PLAIN_ROUNDS).map(|_| {
        timed(|| {
            for request in &requests {
                std::hint::black_box(authorizer.is_authorized(request, &set, &entities));
            }
        })
    }))
}

fn entities(tool: &ToolContract) -> Option<Entities> {
    let who = principal(0);
    let parents = |kind: &str, ids: &[String]| {
        ids.iter().map(|id| json!({ "type": kind, "id": id })).collect::<Vec<_>>()
    };
    let entities = json!([
        {
            "uid": { "type": "Toolgate::User", "id": who.id },
            "attrs": { "name": "0", "rules": who.rules.to_vec() },
            "parents": parents("Toolgate::Role", &who.roles)
        },
        {
            "uid": { "type": "Toolgate::Tool", "id": tool.id },
            "attrs": {
                "namespace": tool.id.namespace(), "category": tool.category, "effect": tool.effect,
                "egress": tool.egress, "idempotent": tool.idempotent, "internal": false
            },
            "parents": parents("Toolgate::Toolset", &toolsets(7))
        }
    ]);
    Entities::from_json_value(entities, None).ok()
}

/// The default policies, and more as tenants write them: for a person, a role, a tool's arguments, a toolset.
fn policies(count: usize) -> String {
    let mut text = Policies::default_set().0.to_owned();
    let more = count.saturating_sub(Policies::default_set().1.len());
    for i in 0..more {
        let (scope, condition) = match i % 4 {
            0 => (
                format!(
                    "principal == Toolgate::User::\"user:{i}\", action == Toolgate::Action::\"call\", resource"
                ),
                "resource.effect != \"destructive\"".to_owned(),
            ),
            1 => (
                format!("principal in Toolgate::Role::\"role-{i}\", action, resource is Toolgate::Tool"),
                "resource.category == \"work-3\" && resource.egress == \"none\"".to_owned(),
            ),
            2 => (
                format!(
                    "principal, action == Toolgate::Action::\"call\", resource == Toolgate::Tool::\"bench__t{i}\""
                ),
                "context.input.amount < 100".to_owned(),
            ),
            _ => (
                format!(
                    "principal, action == Toolgate::Action::\"call_unattended\", resource in Toolgate::Toolset::\"set-{i}\""
                ),
                "principal.rules.contains(\"bench.work.write\")".to_owned(),
            ),
        };
        let _ = writeln!(text, "@id(\"bench {i}\") permit ({scope}) when {{ {condition} }};");
    }
    text
}

fn judge(text: &str, tools: &[ToolContract]) -> Judge {
    let facts = tools.iter().enumerate().map(|(i, tool)| ToolFacts::of(tool, toolsets(i))).collect();
    Judge::new(Arc::new(Policies::load(text).unwrap_or_default()), facts)
}

fn tool(i: usize) -> ToolContract {
    let effect = ["read", "mutate", "destructive"][i % 3];
    let contract = json!({
        "id": format!("bench__t{i}"), "title": "t", "description": "d", "category": format!("work-{}", i % 10),
        "icon": "i", "effect": effect, "redaction": { "allow": ["*"] }, "output_schema": { "type": "object" },
        "input_schema": { "type": "object", "properties": { "amount": { "type": "integer" } } },
        "execution": { "kind": "native", "plugin": "core" }
    });
    serde_json::from_value(contract).unwrap_or_else(|error| unreachable!("a contract like others: {error}"))
}

fn toolsets(i: usize) -> Vec<String> {
    vec![format!("set-{}", i % 20), "all".to_owned()]
}

fn principal(i: usize) -> PrincipalFacts {
    let id =
        format!("user:{i}").parse().unwrap_or_else(|error| unreachable!("a principal like others: {error}"));
    let roles = ["approver".to_owned(), format!("role-{}", i % 50), "everyone".to_owned()];
    let rules = ["crm.notes.write".to_owned(), "bench.work.write".to_owned()];
    PrincipalFacts { id, roles: roles.into(), rules: rules.into() }
}

fn now() -> Circumstances<'static> {
    Circumstances {
        now: Timestamp::from_micros(1_750_000_000_000_000),
        labels: &[],
        source: Source::Api,
        subject: None,
        own: false,
        for_me: false,
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

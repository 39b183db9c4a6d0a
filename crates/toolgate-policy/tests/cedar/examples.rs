//! The worked examples of `docs/policies`: each is saved with the default policies and does what its comments promise.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::Timestamp;
use toolgate_policy::cedar::{Circumstances, Judge, Policies, PrincipalFacts, ToolFacts};

use crate::given::{contract, june, plainly, refund_schema, who};

/// How a call comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// It runs at once.
    Runs,
    /// It waits for a person.
    Asks,
    /// The tool is listed and the call denied.
    Denied,
    /// The tool is not even listed.
    Hidden,
}
use Comes::{Asks, Denied, Hidden, Runs};

struct Example(Judge);

impl Example {
    fn new(text: &str) -> Self {
        let text = format!("{}\n{text}", Policies::default_set().0);
        let checked =
            Policies::check(&text, &|_| Some(refund_schema())).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(checked.warnings, []);
        let tools = [
            ("core__time", "read", "none", ""),
            ("crm__find", "read", "read_only", "helpdesk"),
            ("crm__note", "mutate", "none", "helpdesk"),
            ("crm__drop", "destructive", "none", "helpdesk"),
            ("crm__refund", "mutate", "write", "money"),
            ("files__delete", "destructive", "none", ""),
        ]
        .map(|(id, effect, egress, set)| ToolFacts::of(&contract(id, effect, egress), vec![set.to_owned()]));
        Self(Judge::new(Arc::new(checked.policies), tools.into()))
    }

    fn call(&self, who: &PrincipalFacts, tool: &str, c: &Circumstances<'_>, input: &Value) -> Comes {
        let answer = self.0.tool_with_input(who, &tool.parse().unwrap(), c, input);
        match (answer.see.allowed, answer.call.allowed, answer.unattended.allowed) {
            (false, ..) => Hidden,
            (true, false, _) => Denied,
            (true, true, false) => Asks,
            (true, true, true) => Runs,
        }
    }

    fn approves(&self, who: &PrincipalFacts, tool: &str, c: &Circumstances<'_>, input: &Value) -> bool {
        self.0.approve(who, &tool.parse().unwrap(), c, input).allowed
    }
}

fn amount(amount: i64) -> Value {
    json!({ "amount": amount })
}

#[test]
fn read_only_agents() {
    let example = Example::new(include_str!("../../../../docs/policies/read-only-agents.cedar"));
    let check = |who: &PrincipalFacts, tool, comes| {
        assert_eq!(example.call(who, tool, &plainly(), &amount(1)), comes, "{:?} {tool}", who.id);
    };
    let helper = who("agent:helper", &[], &["*"]);
    check(&helper, "core__time", Runs);
    check(&helper, "crm__find", Runs);
    for tool in ["crm__note", "crm__refund", "files__delete"] {
        check(&helper, tool, Hidden);
        check(&who("agent:steward", &["trusted-agent"], &[]), tool, Asks);
        check(&who("user:ada", &[], &[]), tool, Asks);
    }
}

#[test]
fn refund_limit() {
    let example = Example::new(include_str!("../../../../docs/policies/refund-limit.cedar"));
    let check = |who: &PrincipalFacts, of, comes| {
        assert_eq!(example.call(who, "crm__refund", &plainly(), &amount(of)), comes, "{of}");
    };
    let support = who("user:sue", &["support"], &[]);
    check(&support, 100, Runs);
    check(&support, 101, Asks);
    check(&support, 10_000, Asks);
    check(&support, 10_001, Denied);
    let ada = who("user:ada", &[], &["*"]);
    check(&ada, 1, Asks);
    check(&ada, 10_001, Denied);
    assert!(example.approves(&ada, "crm__refund", &plainly(), &amount(10_000)));
    assert!(!example.approves(&ada, "crm__refund", &plainly(), &amount(10_001)));
    // Before the arguments are known, the refund is there and may run.
    let listed = example.0.tool(&support, &"crm__refund".parse().unwrap(), &plainly());
    assert!(listed.call.allowed && listed.unattended.allowed && listed.reads_input);
}

#[test]
fn office_hours() {
    let example = Example::new(include_str!("../../../../docs/policies/office-hours.cedar"));
    let root = who("user:root", &[], &["*"]);
    let check = |now: Timestamp, comes, approves| {
        let circumstances = Circumstances { now, ..plainly() };
        assert_eq!(example.call(&root, "files__delete", &circumstances, &amount(1)), comes, "{now:?}");
        assert_eq!(example.approves(&root, "files__delete", &circumstances, &amount(1)), approves);
        assert_eq!(example.call(&root, "crm__note", &circumstances, &amount(1)), Asks);
        assert_eq!(example.call(&root, "core__time", &circumstances, &amount(1)), Runs);
    };
    // The 1st of June 2025 is a Sunday.
    for day in 2..=6 {
        check(june(day, 8), Asks, true);
        check(june(day, 16), Asks, true);
        check(june(day, 7), Denied, false);
        check(june(day, 17), Denied, false);
    }
    check(june(1, 12), Denied, false);
    check(june(7, 12), Denied, false);
}

#[test]
fn team_toolset() {
    let example = Example::new(include_str!("../../../../docs/policies/team-toolset.cedar"));
    let support = who("user:sue", &["support"], &[]);
    let lead = who("user:lee", &["lead"], &[]);
    let others = [who("user:ada", &[], &["*"]), who("user:bob", &["approver"], &[])];
    for (tool, comes) in [("crm__find", Runs), ("crm__note", Runs), ("crm__drop", Asks)] {
        assert_eq!(example.call(&support, tool, &plainly(), &amount(1)), comes, "{tool}");
        assert_eq!(example.call(&lead, tool, &plainly(), &amount(1)), comes, "{tool}");
        assert!(example.approves(&lead, tool, &plainly(), &amount(1)));
        assert!(!example.approves(&support, tool, &plainly(), &amount(1)));
        for other in &others {
            assert_eq!(example.call(other, tool, &plainly(), &amount(1)), Hidden, "{tool}");
            assert!(!example.approves(other, tool, &plainly(), &amount(1)));
        }
    }
    assert_eq!(example.call(&others[0], "core__time", &plainly(), &amount(1)), Runs);
    assert!(example.approves(&others[1], "files__delete", &plainly(), &amount(1)));
}

#[test]
fn untrusted_sessions() {
    let example = Example::new(include_str!("../../../../docs/policies/untrusted-sessions.cedar"));
    let root = who("user:root", &[], &["*"]);
    let labels = ["private".to_owned(), "untrusted".to_owned()];
    let untrusted = Circumstances { labels: &labels, own: true, ..plainly() };
    let trusted = Circumstances { labels: &labels[..1], own: true, ..plainly() };
    for (tool, before, in_untrusted) in [
        ("core__time", Runs, Runs),
        ("crm__note", Asks, Asks),
        ("crm__find", Runs, Denied),
        ("crm__refund", Asks, Denied),
    ] {
        assert_eq!(example.call(&root, tool, &trusted, &amount(1)), before, "{tool}");
        assert_eq!(example.call(&root, tool, &untrusted, &amount(1)), in_untrusted, "{tool}");
        assert!(example.approves(&root, tool, &trusted, &amount(1)));
        assert_eq!(example.approves(&root, tool, &untrusted, &amount(1)), in_untrusted != Denied);
    }
}

/// A reader who copies an example from the page must get one that works.
#[test]
fn the_page_shows_policies_that_work_and_names_every_example() {
    let page = include_str!("../../../../docs/policies/README.md");
    let blocks: Vec<&str> =
        page.split("```cedar\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let checked = Policies::check(block, &|_| None).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(checked.warnings, []);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policies");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || page.contains(&format!("({name})")), "{name}");
    }
}

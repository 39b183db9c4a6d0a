//! Counts over what grants let run.

use toolgate_core::grant::Grant;
use toolgate_core::port::grant_use::GrantUse;

use crate::given::*;

/// What a grant let run is counted since it was given: of its tool, by its caller, in its tenant.
pub async fn uses_of_grants_are_counted(store: Shared) {
    let rule = |name: &str| Some(Grant::rule(name));
    let early = begin(&store, running(opened_with(|opened| opened.rule = rule("gnt-a")))).await;
    for number in 0..6 {
        let opened = opened_with(|opened| match number {
            0..3 => opened.rule = rule("gnt-a"),
            3 => opened.rule = rule("gnt-b"),
            4 => (opened.rule, opened.actor) = (rule("gnt-a"), principal("user:grace")),
            _ => (opened.rule, opened.tenant) = (rule("gnt-a"), other_tenant()),
        });
        begin(&store, running(opened)).await;
    }
    let given = |name: &str| GrantUse {
        rule: Grant::rule(name),
        tool: early.opened.tool.clone(),
        actor: early.opened.actor.clone(),
        after: early.id(),
    };
    let elsewhere = GrantUse { tool: "core__never".parse().unwrap(), ..given("gnt-a") };
    let asked = [given("gnt-b"), given("gnt-a"), given("gnt-c"), elsewhere];
    assert_eq!(store.grant_uses(&tenant(), &asked).await.unwrap(), [1, 3, 0, 0]);
    assert!(store.grant_uses(&tenant(), &[]).await.unwrap().is_empty());
}

//! What calls have cost.

use toolgate_core::Timestamp;
use toolgate_core::change::SessionUse;
use toolgate_core::id::{PrincipalId, ToolName, WorkerId};
use toolgate_core::invocation::{Opened, Step};

use crate::given::*;

/// A call that ended and cost so much.
async fn call(store: &Shared, opened: Opened, cost_micros: Option<i64>) {
    let done = Step::Completed { output: json("{}"), cost_micros };
    begin(store, new_call(opened, &[started(1, WorkerId::generate()), done], SessionUse::New)).await;
}

/// The sum over a tenant's calls since a moment: of one actor, of one tool, of both together or of all.
pub async fn costs_are_summed_by_actor_tool_and_time(store: Shared) {
    let grace = principal("user:grace");
    let (x, y): (ToolName, ToolName) = ("core__x".parse().unwrap(), "core__y".parse().unwrap());
    let start = now();
    let sum = async |actor: Option<&PrincipalId>, tool: Option<&ToolName>, since| {
        store.spent(&tenant(), actor, tool, since).await.unwrap()
    };
    assert_eq!(sum(None, None, start).await, 0);
    let mut cost = 1;
    let mut middle = start;
    for round in 0..2 {
        for actor in [ada(), grace.clone()] {
            for tool in [&x, &y] {
                let made = opened_with(|opened| (opened.actor, opened.tool) = (actor.clone(), tool.clone()));
                call(&store, made, Some(cost)).await;
                cost *= 10;
            }
        }
        if round == 0 {
            middle = now();
        }
    }
    let elsewhere = opened_with(|opened| opened.tenant = other_tenant());
    call(&store, elsewhere, Some(5_000_000_000)).await;
    // The subject's limits are not the actor's.
    call(&store, opened_with(|opened| opened.subject = Some(grace.clone())), None).await;

    assert_eq!(sum(None, None, start).await, 11_111_111);
    assert_eq!(sum(Some(&ada()), None, start).await, 110_011);
    assert_eq!(sum(Some(&grace), None, start).await, 11_001_100);
    assert_eq!(sum(None, Some(&x), start).await, 1_010_101);
    assert_eq!(sum(Some(&grace), Some(&y), start).await, 10_001_000);
    assert_eq!(sum(None, None, middle).await, 11_110_000);
    assert_eq!(sum(Some(&ada()), Some(&x), middle).await, 10_000);
    assert_eq!(sum(Some(&principal("user:nobody")), None, start).await, 0);
    assert_eq!(sum(None, None, now()).await, 0);
    assert_eq!(store.spent(&other_tenant(), None, None, start).await.unwrap(), 5_000_000_000);
}

/// A call made at the very moment counts, one made a microsecond before does not, whatever its id's own clock said; what
/// runs costs nothing yet, what failed or is free neither, and what is too much for a number is the largest one.
pub async fn a_sum_is_right_at_its_edges(store: Shared) {
    let made_at = |micros: i64| opened_with(|opened| opened.created_at = Timestamp::from_micros(micros));
    let since =
        async |micros: i64| store.spent(&tenant(), None, None, Timestamp::from_micros(micros)).await.unwrap();
    // All ids are made now, and most of them in the same millisecond; the calls' own times lie years apart.
    for (micros, cost) in [
        (999, 1),
        (1_000, 10),
        (1_001, 100),
        (1_999, 1_000),
        (2_000, 10_000),
        (9_000_000_000_000_000, 100_000),
    ] {
        call(&store, made_at(micros), Some(cost)).await;
    }
    assert_eq!(since(i64::MIN).await, 111_111);
    assert_eq!(since(999).await, 111_111);
    assert_eq!(since(1_000).await, 111_110);
    assert_eq!(since(1_001).await, 111_100);
    assert_eq!(since(2_000).await, 110_000);
    assert_eq!(since(9_000_000_000_000_000).await, 100_000);
    assert_eq!(since(9_000_000_000_000_001).await, 0);

    let from = now();
    let sum = async || store.spent(&tenant(), Some(&ada()), None, from).await.unwrap() - 100_000;
    let row = begin(&store, running(opened())).await;
    assert_eq!(sum().await, 0);
    advance(&store, &row, &Step::Completed { output: json("1"), cost_micros: Some(7) }).await;
    assert_eq!(sum().await, 7);
    let row = begin(&store, running(opened())).await;
    advance(&store, &row, &Step::Failed { error: failure() }).await;
    call(&store, opened(), Some(0)).await;
    assert_eq!(sum().await, 7);
    for _ in 0..3 {
        call(&store, opened(), Some(i64::MAX)).await;
    }
    assert_eq!(store.spent(&tenant(), None, None, from).await.unwrap(), i64::MAX);
}

//! Counts over calls.

use std::time::Duration;

use toolgate_core::Timestamp;
use toolgate_core::actor::Acting;
use toolgate_core::invocation::Status;
use toolgate_core::port::capability::{Clock, SystemClock};
use toolgate_core::port::usage::{UsageQuery, UsageRow};

use crate::given::*;

fn all(until: Timestamp) -> UsageQuery {
    UsageQuery { tool: None, visible_to: None, since: until.minus(DAY), until, limit: 100 }
}

const DAY: Duration = Duration::from_secs(86_400);

fn calls(rows: &[UsageRow], tool: &str, status: Status) -> u64 {
    rows.iter().filter(|row| row.tool.as_str() == tool && row.status == status).map(|row| row.calls).sum()
}

/// Calls are counted by tool and status, for those who may see them, within the time asked for and no other tenant's.
pub async fn usage_counts_what_was_called(store: Shared) {
    // Ids are made by the real clock, and ids and times go together.
    let now = SystemClock.now();
    let grace = principal("user:grace");
    let made = |tool: &str, by: &str, at: Timestamp| {
        opened_with(|opened| {
            (opened.tool, opened.actor, opened.created_at) = (tool.parse().unwrap(), principal(by), at);
        })
    };
    for number in 0..6 {
        let by = if number % 3 == 0 { "user:grace" } else { "user:ada" };
        let row = begin(&store, running(made("core__x", by, now))).await;
        if number % 2 == 0 {
            advance(&store, &row, &completed("{}")).await;
        }
    }
    begin(&store, running(made("core__y", "user:ada", now))).await;
    begin(&store, running(made("core__z", "user:ada", now.minus(DAY * 2)))).await;
    begin(&store, running(opened_with(|opened| (opened.tenant, opened.created_at) = (other_tenant(), now))))
        .await;

    let until = now.plus(Duration::from_secs(1));
    let rows = store.usage(&tenant(), &all(until)).await.unwrap();
    assert_eq!(calls(&rows, "core__x", Status::Completed), 3);
    assert_eq!(calls(&rows, "core__x", Status::Running), 3);
    assert_eq!(calls(&rows, "core__y", Status::Running), 1);
    assert_eq!(rows.iter().map(|row| row.calls).sum::<u64>(), 7, "nothing older, nothing of another tenant");
    assert!(rows.iter().all(|row| row.day == now.as_micros() / 86_400_000_000 && row.last_at == now));
    assert!(rows.windows(2).all(|pair| pair[0].calls >= pair[1].calls), "the largest first");

    let acting = Acting { principal: grace, subject: None };
    let hers = store.usage(&tenant(), &UsageQuery { visible_to: Some(acting), ..all(until) }).await.unwrap();
    assert_eq!(hers.iter().map(|row| row.calls).sum::<u64>(), 2);
    let one = UsageQuery { tool: Some("core__y".parse().unwrap()), ..all(until) };
    assert_eq!(store.usage(&tenant(), &one).await.unwrap().len(), 1);
    assert_eq!(store.usage(&tenant(), &UsageQuery { limit: 1, ..all(until) }).await.unwrap().len(), 1);
}

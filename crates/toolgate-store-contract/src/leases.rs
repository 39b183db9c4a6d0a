//! Leases and deadlines: how calls are found again after a crash or a wait.

use toolgate_core::Timestamp;
use toolgate_core::change::SessionUse;
use toolgate_core::id::{InvocationId, WorkerId};
use toolgate_core::invocation::{Invocation, Step};

use crate::given::*;

async fn due(store: &Shared, at: Timestamp, limit: u32) -> Vec<InvocationId> {
    store.due(at, limit).await.unwrap().iter().map(Invocation::id).collect()
}

/// What is overdue is found, of all tenants, most overdue first; what is settled never is.
pub async fn due_calls_are_found_most_overdue_first(store: Shared) {
    let start = now();
    let after = |seconds| seconds_after(start, seconds);
    let late = begin(&store, running(opened()).due(after(30))).await;
    let foreign = opened_with(|opened| opened.tenant = other_tenant());
    let early = begin(&store, running(foreign).due(after(10))).await;
    let asking = opened_with(|opened| opened.approval_required = true);
    let step = Step::NeedsApproval { reason: "r".into(), deadline: after(20), review: None };
    let pending = begin(&store, new_call(asking, &[step], SessionUse::New)).await;
    let undated = begin(&store, running(opened())).await;

    assert!(due(&store, start, 10).await.is_empty());
    assert_eq!(due(&store, after(10), 10).await, [early.id()]);
    assert_eq!(due(&store, after(40), 10).await, [early.id(), pending.id(), late.id()]);
    assert_eq!(due(&store, after(40), 2).await, [early.id(), pending.id()]);
    assert_eq!(store.due(after(40), 1).await.unwrap(), [kept(&early)]);

    let waiting = Step::Waiting { reason: "a webhook".into(), deadline: after(15) };
    advance(&store, &undated, &waiting).await;
    advance(&store, &early, &completed("{}")).await;
    advance(&store, &pending, &Step::Expired).await;
    assert_eq!(due(&store, after(40), 10).await, [undated.id(), late.id()]);
}

/// A worker puts off the leases of its own running calls, without a new revision, and hears which to stop.
pub async fn only_the_holder_renews_a_lease(store: Shared) {
    let start = now();
    let after = |seconds| seconds_after(start, seconds);
    let (mine, theirs) = (WorkerId::generate(), WorkerId::generate());
    let leased = async |worker| {
        let call = new_call(opened(), &[started(1, worker)], SessionUse::New).due(after(10));
        begin(&store, call).await
    };
    let running = leased(mine).await;
    let to_stop = leased(mine).await;
    let to_stop = advance(&store, &to_stop, &Step::CancelRequested { reason: None }).await;
    let foreign = leased(theirs).await;
    let done = leased(mine).await;
    let done = advance(&store, &done, &completed("{}")).await;
    let unnamed = leased(mine).await;

    let named = [running.id(), to_stop.id(), foreign.id(), done.id(), InvocationId::generate()];
    assert_eq!(store.renew(mine, &named, after(60)).await.unwrap(), [to_stop.id()]);
    assert_eq!(stored(&store, &running).await, Invocation { due_at: Some(after(60)), ..kept(&running) });
    assert_eq!(stored(&store, &to_stop).await, Invocation { due_at: Some(after(60)), ..kept(&to_stop) });
    for untouched in [&foreign, &done, &unnamed] {
        assert_eq!(stored(&store, untouched).await, kept(untouched));
    }
    // The holder goes on from the row it saw before the renewal.
    advance(&store, &running, &completed("{}")).await;
    assert!(store.renew(mine, &[], after(60)).await.unwrap().is_empty());
}

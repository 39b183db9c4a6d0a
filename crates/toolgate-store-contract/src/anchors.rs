//! Anchors: roots over the heads of all sessions touched since the anchor before.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use futures::future::join_all;
use toolgate_core::event::{Anchor, ChainHash, ChainHead};
use toolgate_core::id::SessionId;
use toolgate_core::invocation::Step;

use crate::given::*;

/// All anchors, after checking that they are one chain.
pub(crate) async fn anchors(store: &Shared) -> Vec<Anchor> {
    let mut all: Vec<Anchor> = Vec::new();
    loop {
        let part = store.anchors_after(all.last().map_or(0, |anchor| anchor.seq), 2).await.unwrap();
        if part.is_empty() {
            break;
        }
        assert!(part.len() <= 2);
        all.extend(part);
    }
    let mut prev = ChainHash::GENESIS;
    for (seq, anchor) in (1..).zip(&all) {
        assert!(anchor.is_intact(seq, prev), "anchor {seq}");
        prev = anchor.hash;
    }
    all
}

/// The last head anchored for each session.
pub(crate) fn anchored(anchors: &[Anchor]) -> HashMap<SessionId, ChainHead> {
    anchors.iter().flat_map(|anchor| anchor.heads.iter().copied()).collect()
}

/// Anchors until these heads are covered. A store may leave out what was written beside a transaction still open
/// elsewhere, so it can take more than one anchor.
pub(crate) async fn anchor_until(store: &Shared, expected: &HashMap<SessionId, ChainHead>, limit: u32) {
    let since = Instant::now();
    loop {
        let covered = store.write_anchor(now(), limit).await.unwrap();
        assert!(covered <= limit as usize);
        if covered == 0 {
            let found = anchored(&anchors(store).await);
            if expected.iter().all(|(session, head)| found.get(session) == Some(head)) {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(30), "not all sessions were anchored");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Every touched session's head is anchored, once nothing more than what was touched, and the anchors are a chain.
pub async fn anchors_cover_touched_sessions_and_chain(store: Shared) {
    assert_eq!(store.write_anchor(now(), 100).await.unwrap(), 0);
    assert!(anchors(&store).await.is_empty());
    session(&store).await;

    let mut rows = Vec::new();
    for _ in 0..5 {
        rows.push(begin(&store, running(opened())).await);
    }
    let heads: HashMap<_, _> = rows.iter().map(|row| (row.opened.session, row.head.unwrap())).collect();
    anchor_until(&store, &heads, 100).await;
    let before = anchors(&store).await;
    assert_eq!(anchored(&before), heads);

    let row = advance(&store, &rows[2], &Step::OutputAppended { chunk: json("1") }).await;
    let touched = HashMap::from([(row.opened.session, row.head.unwrap())]);
    anchor_until(&store, &touched, 100).await;
    let all = anchors(&store).await;
    assert!(all.len() > before.len());
    assert_eq!(anchored(&all[before.len()..]), touched);
    assert_eq!(store.write_anchor(now(), 100).await.unwrap(), 0);
}

/// With fewer places than touched sessions, the next anchors take up the rest.
pub async fn a_small_limit_leaves_no_session_out(store: Shared) {
    let mut heads = HashMap::new();
    for _ in 0..11 {
        let mut row = begin(&store, running(opened())).await;
        row = advance(&store, &row, &Step::OutputAppended { chunk: json("1") }).await;
        heads.insert(row.opened.session, row.head.unwrap());
    }
    // Written at once, so that a store that writes many calls in one transaction has them all in one.
    let tasks = (0..20).map(|_| {
        let store = Shared::clone(&store);
        tokio::spawn(async move { begin(&store, running(opened())).await })
    });
    for row in join_all(tasks).await {
        let row = row.unwrap();
        heads.insert(row.opened.session, row.head.unwrap());
    }
    anchor_until(&store, &heads, 3).await;
    let all = anchors(&store).await;
    assert!(all.len() >= 11);
    assert!(all.iter().all(|anchor| (1..=3).contains(&anchor.heads.len())));
    assert_eq!(anchored(&all), heads);
}

/// Anchoring from many places at once, while calls go on, keeps one chain and leaves nothing out.
pub async fn racing_anchors_keep_one_chain(store: Shared) {
    let writers = (0..4).map(|_| {
        let store = Shared::clone(&store);
        tokio::spawn(async move {
            let mut heads = Vec::new();
            for _ in 0..10 {
                let row = begin(&store, running(opened())).await;
                let row = advance(&store, &row, &completed("{}")).await;
                heads.push((row.opened.session, row.head.unwrap()));
            }
            heads
        })
    });
    let anchorers = (0..4).map(|_| {
        let store = Shared::clone(&store);
        tokio::spawn(async move {
            for _ in 0..5 {
                store.write_anchor(now(), 1_000).await.unwrap();
            }
        })
    });
    let (heads, done) =
        tokio::join!(join_all(writers.collect::<Vec<_>>()), join_all(anchorers.collect::<Vec<_>>()));
    done.into_iter().for_each(|task| task.unwrap());
    let heads: HashMap<_, _> = heads.into_iter().flat_map(Result::unwrap).collect();
    anchor_until(&store, &heads, 1_000).await;
    let sessions: HashSet<SessionId> = anchored(&anchors(&store).await).into_keys().collect();
    assert_eq!(sessions, heads.into_keys().collect());
}

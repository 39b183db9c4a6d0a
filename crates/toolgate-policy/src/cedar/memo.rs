//! What was found out about principals and can be told again.
//!
//! Everything in here follows from the policies, the tools and the principal's facts alone, and a judge is made anew
//! when policies or tools change; so nothing in here can be out of date. An answer that read the circumstances is kept
//! with what it read, and told again only while that is the same: a listing asks about many tools at one moment.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use cedar_policy::Entity;

use super::answer::{Outcome, ToolAnswer};
use super::entity::{self, Unaskable};
use super::facts::{Circumstances, PrincipalFacts};
use super::moment::Moment;
use super::reads::Reads;
use super::scope::{Index, Member, PolicyIndex, ScopeId};

const SHARDS: usize = 16;
/// The most principals remembered.
const MOST_PRINCIPALS: usize = 10_000;
/// The most places for answers, over all principals: some 60 MB when all are filled.
const MOST_PLACES: usize = 1 << 17;

/// Principals remembered.
#[derive(Debug)]
pub(super) struct Memo {
    hasher: RandomState,
    /// By the hash of the facts; the facts themselves are compared when one is found.
    shards: [RwLock<HashMap<u64, Arc<Known>>>; SHARDS],
    most_per_shard: usize,
    classes: usize,
}

/// What is known about a principal.
#[derive(Debug)]
pub(super) struct Known {
    facts: PrincipalFacts,
    /// The scopes of the index it matches.
    pub(super) scopes: Vec<ScopeId>,
    entity: OnceLock<Result<Entity, Unaskable>>,
    /// By class of tools. Boxed, since most principals ask about few.
    cells: Box<[OnceLock<Box<Cell>>]>,
}

/// What is known about a principal and a class of tools.
#[derive(Debug)]
pub(super) struct Cell {
    /// The policies whose scope matches, for see, call and call_unattended.
    pub(super) steps: [Vec<Step>; 3],
    pub(super) reads_input: bool,
    /// The parts of the circumstances they read.
    pub(super) reads: Reads,
    /// The whole answer, when that is nothing.
    pub(super) fixed: Option<Arc<ToolAnswer>>,
    /// The last answer otherwise.
    latest: Mutex<Option<(Moment, Arc<ToolAnswer>)>>,
}

/// A policy, and how it came out without arguments unless that depends on the circumstances.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) policy: PolicyIndex,
    pub(super) outcome: Option<Outcome>,
}

impl Cell {
    pub(super) fn new(steps: [Vec<Step>; 3], reads: Reads, reads_input: bool) -> Self {
        Self { steps, reads_input, reads, fixed: None, latest: Mutex::new(None) }
    }

    /// The answer in these circumstances, found by `find` unless it is known.
    pub(super) fn answer(&self, c: &Circumstances<'_>, find: impl FnOnce() -> ToolAnswer) -> Arc<ToolAnswer> {
        if let Some(answer) = &self.fixed {
            return Arc::clone(answer);
        }
        // Not held while finding: two who ask at once find the same.
        if let Some((moment, answer)) = &*self.latest.lock().unwrap_or_else(PoisonError::into_inner)
            && moment.still_is(c)
        {
            return Arc::clone(answer);
        }
        let answer = Arc::new(find());
        let latest = Some((Moment::of(self.reads, c), Arc::clone(&answer)));
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = latest;
        answer
    }
}

impl Memo {
    pub(super) fn new(classes: usize) -> Self {
        let most = (MOST_PLACES / classes.max(1)).clamp(SHARDS, MOST_PRINCIPALS);
        Self {
            hasher: RandomState::new(),
            shards: Default::default(),
            most_per_shard: most / SHARDS,
            classes,
        }
    }

    /// What is known about this principal, now or from before.
    pub(super) fn known(&self, index: &Index, who: &PrincipalFacts) -> Arc<Known> {
        let hash = self.hasher.hash_one(who);
        // `SHARDS` is small, so what is left of the hash fits any integer.
        let shard = &self.shards[(hash % SHARDS as u64) as usize];
        let found = shard.read().unwrap_or_else(PoisonError::into_inner).get(&hash).map(Arc::clone);
        if let Some(known) = found.filter(|known| known.facts == *who) {
            return known;
        }
        let fresh = Arc::new(Known::new(index, who, self.classes));
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        // Dropping all at once keeps the usual path free of the bookkeeping a finer choice would need.
        if shard.len() >= self.most_per_shard {
            shard.clear();
        }
        shard.insert(hash, Arc::clone(&fresh));
        fresh
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap().len()).sum()
    }
}

impl Known {
    pub(super) fn new(index: &Index, who: &PrincipalFacts, classes: usize) -> Self {
        Self {
            facts: who.clone(),
            scopes: index.of_principal(&Member::principal(who)),
            entity: OnceLock::new(),
            cells: (0..classes).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(super) fn entity(&self) -> &Result<Entity, Unaskable> {
        self.entity.get_or_init(|| entity::principal(&self.facts))
    }

    /// What is known about this class of tools, found out by `find` the first time.
    pub(super) fn cell(&self, class: usize, find: impl FnOnce() -> Cell) -> Option<&Cell> {
        Some(self.cells.get(class)?.get_or_init(|| Box::new(find())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(id: usize, rules: &[&str]) -> PrincipalFacts {
        PrincipalFacts {
            id: format!("user:{id}").parse().unwrap(),
            roles: [].into(),
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
        }
    }

    #[test]
    fn principals_with_other_facts_are_others() {
        let (memo, index) = (Memo::new(1), Index::default());
        let first = memo.known(&index, &facts(1, &[]));
        assert!(Arc::ptr_eq(&first, &memo.known(&index, &facts(1, &[]))));
        assert!(!Arc::ptr_eq(&first, &memo.known(&index, &facts(1, &["*"]))));
        assert!(!Arc::ptr_eq(&first, &memo.known(&index, &facts(2, &[]))));
    }

    #[test]
    fn the_memo_stays_bounded() {
        for (classes, most) in [(1, MOST_PRINCIPALS), (1_000, MOST_PLACES / 1_000), (usize::MAX, SHARDS)] {
            let memo = Memo::new(classes);
            assert!(memo.most_per_shard * SHARDS <= most);
        }
        let memo = Memo { most_per_shard: 2, ..Memo::new(1) };
        for id in 0..1_000 {
            memo.known(&Index::default(), &facts(id, &[]));
        }
        assert!(memo.len() <= 2 * SHARDS);
    }
}

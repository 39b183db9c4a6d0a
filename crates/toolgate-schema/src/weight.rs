//! How much work a schema can cause, counted without doing it.

use serde_json::Value;

use crate::check::{MAX_CHAIN, MAX_EXPANDED};
use crate::error::SchemaError;
use crate::graph::{Graph, NodeId, Reach};

/// What one value can cost under a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    /// The most schemas that lean on each other at one place of a value.
    pub(crate) chain: u32,
    /// The most schemas that lean on each other from the top of a value to its bottom, unless the schema describes
    /// values that contain themselves.
    pub(crate) height: Option<u32>,
    /// The most checks one place of a value can need.
    pub(crate) width: u64,
}

/// Weighs a schema.
///
/// # Errors
/// When it never ends, leans on itself too much, or grows too large once references are followed.
pub(crate) fn weigh(graph: &Graph<'_>) -> Result<Weight, SchemaError> {
    let same = measure(graph, 0..graph.nodes.len(), |reach| reach == Reach::Same);
    if let Some(id) = same.cycle {
        return Err(SchemaError::EndlessRef { path: graph.path(id) });
    }
    let all = measure(graph, 0..1, |reach| reach != Reach::Nothing);
    if all.count[0] > MAX_EXPANDED {
        return Err(SchemaError::TooExpanded);
    }
    let longest = (0..graph.nodes.len()).max_by_key(|id| same.height[*id]).unwrap_or(0);
    if same.height[longest] > MAX_CHAIN {
        return Err(SchemaError::LongChain { path: graph.path(longest) });
    }
    Ok(Weight {
        chain: same.height[longest],
        height: all.cycle.is_none().then_some(all.height[0]),
        width: same.count.iter().copied().max().unwrap_or(1),
    })
}

struct Measured {
    /// The checks of a node and everything it reaches, as often as it reaches them.
    count: Vec<u64>,
    /// The checks to find out which parts of a value a node speaks of, for `unevaluatedProperties` and
    /// `unevaluatedItems`: every schema at the same place is tried once more, at every level. Where such keywords stand
    /// within each other this grows as fast as references that double.
    marking: Vec<u64>,
    /// The longest way down from a node.
    height: Vec<u32>,
    /// A node that reaches itself.
    cycle: Option<NodeId>,
}

impl Measured {
    /// Puts a node together from what it reaches.
    fn sum_up(&mut self, graph: &Graph<'_>, id: NodeId, follows: impl Fn(Reach) -> bool) {
        let (mut count, mut marking, mut height) = (own_checks(graph, id), 1u64, 0);
        for (reach, target) in graph.nodes[id].edges.iter().filter(|(reach, _)| follows(*reach)) {
            // A target that is still being walked has no count yet: one for the way back to it.
            let below = self.count[*target].max(1);
            count = count.saturating_add(below);
            if *reach == Reach::Same {
                marking = marking.saturating_add(below).saturating_add(self.marking[*target]);
            }
            height = height.max(self.height[*target]);
        }
        let marks = |keyword| graph.nodes[id].keywords.is_some_and(|schema| schema.contains_key(keyword));
        if marks("unevaluatedProperties") || marks("unevaluatedItems") {
            count = count.saturating_add(marking);
            marking = marking.saturating_add(count);
        }
        (self.count[id], self.marking[id], self.height[id]) = (count, marking, height + 1);
    }
}

/// Walks the graph without recursion and visits each node once, so that what doubles per level is counted, not done.
/// An edge back to a node that is being walked counts as one.
fn measure(graph: &Graph<'_>, from: std::ops::Range<NodeId>, follows: impl Fn(Reach) -> bool) -> Measured {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let size = graph.nodes.len();
    let mut measured =
        Measured { count: vec![0; size], marking: vec![0; size], height: vec![0; size], cycle: None };
    let mut marks = vec![Mark::New; size];
    for start in from {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, 0)];
        while let Some((id, next)) = stack.last_mut() {
            let id = *id;
            let Some((reach, target)) = graph.nodes[id].edges.get(*next).copied() else {
                measured.sum_up(graph, id, &follows);
                marks[id] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            if !follows(reach) {
                continue;
            }
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    stack.push((target, 0));
                }
                Mark::Open => measured.cycle = measured.cycle.or(Some(target)),
                Mark::Done => {}
            }
        }
    }
    measured
}

/// One for the schema, and one for each entry of the lists a value is compared with.
fn own_checks(graph: &Graph<'_>, id: NodeId) -> u64 {
    let Some(schema) = graph.nodes[id].keywords else { return 1 };
    let entries =
        ["enum", "required", "patternProperties"].into_iter().map(|keyword| match schema.get(keyword) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(map)) => map.len(),
            _ => 0,
        });
    1 + entries.sum::<usize>() as u64
}

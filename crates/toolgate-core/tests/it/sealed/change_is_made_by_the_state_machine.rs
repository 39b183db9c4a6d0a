//! A store can't be asked for a move that the state machine did not make.
use toolgate_core::Invocation;
use toolgate_core::change::Change;

fn skip_the_rules(next: Invocation) -> Change {
    Change { next, seen: 1 }
}

fn main() {}

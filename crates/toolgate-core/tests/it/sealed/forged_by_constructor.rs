//! The constructor is the runner's own.
use toolgate_core::ClearedCall;

fn main() {
    let _forged = ClearedCall::clear;
}

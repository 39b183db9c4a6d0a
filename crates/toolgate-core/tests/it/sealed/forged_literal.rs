//! A `ClearedCall` can't be written down.
use toolgate_core::ClearedCall;

fn main() {
    let _forged = ClearedCall { input: serde_json::json!({}) };
}

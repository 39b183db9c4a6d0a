//! Named places where a test can make the process die, to see what survives.
//!
//! `TOOLGATE_FAILPOINT=<name>[:<n>]` kills the process, as `kill -9` would, the n-th time it comes by `<name>`.
//! Unset, a fail point costs one atomic load.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

struct Armed {
    name: String,
    left: AtomicU64,
}

static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

/// Dies here if a test asked for it.
pub fn hit(name: &str) {
    let Some(armed) = ARMED.get_or_init(from_environment) else { return };
    if armed.name == name && armed.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        die();
    }
}

fn from_environment() -> Option<Armed> {
    let text = std::env::var("TOOLGATE_FAILPOINT").ok().filter(|text| !text.is_empty())?;
    let (name, count) = text.split_once(':').unwrap_or((&text, "1"));
    Some(Armed { name: name.to_owned(), left: AtomicU64::new(count.parse().unwrap_or(1).max(1)) })
}

// No destructors, no flushes, no goodbye: what `kill -9` leaves behind. `abort` differs only in the signal's number.
fn die() -> ! {
    std::process::abort()
}

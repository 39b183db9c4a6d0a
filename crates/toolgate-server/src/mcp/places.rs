//! How many streams one caller may have open at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_core::Actor;

/// The most open streams of one caller on one node.
const MOST: usize = 16;

type Held = Arc<Mutex<HashMap<(String, String), usize>>>;

/// Who has how many.
#[derive(Debug, Default)]
pub(super) struct Places(Held);

/// One of them; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    held: Held,
    who: (String, String),
}

impl Places {
    /// A place for this caller; none when they have all of theirs.
    pub(super) fn take(&self, actor: &Actor) -> Option<Place> {
        let who = (actor.tenant.to_string(), actor.principal.to_string());
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.entry(who.clone()).or_default();
        if *count >= MOST {
            return None;
        }
        *count += 1;
        Some(Place { held: Arc::clone(&self.0), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.who);
            }
        }
    }
}

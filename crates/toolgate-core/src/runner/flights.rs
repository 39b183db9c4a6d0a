//! The calls this process runs and others may know of.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::id::InvocationId;

/// Recorded calls under way here, each with the token that stops it.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<InvocationId, CancellationToken>>);

/// Forgets a call when it is dropped.
pub(super) struct Landing<'a> {
    flights: &'a Flights,
    id: InvocationId,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.id);
    }
}

impl Flights {
    pub(super) fn insert(&self, id: InvocationId, cancelled: CancellationToken) {
        self.lock().insert(id, cancelled);
    }

    /// Forgets the call when the guard is dropped, also when the call breaks off.
    pub(super) const fn land_on_drop(&self, id: InvocationId) -> Landing<'_> {
        Landing { flights: self, id }
    }

    pub(super) fn contains(&self, id: InvocationId) -> bool {
        self.lock().contains_key(&id)
    }

    pub(super) fn cancel(&self, id: InvocationId) {
        if let Some(cancelled) = self.lock().get(&id) {
            cancelled.cancel();
        }
    }

    pub(super) fn ids(&self) -> Vec<InvocationId> {
        self.lock().keys().copied().collect()
    }

    // A panic while the map was held can't leave it half changed: each use is one operation.
    fn lock(&self) -> MutexGuard<'_, HashMap<InvocationId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The calls this process runs and others may know of.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::id::{ConnectionId, InvocationId, TenantId};

/// Recorded calls under way here, each with the token that stops it, and the accounts that calls go through.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    calls: HashMap<InvocationId, CancellationToken>,
    accounts: HashMap<InvocationId, (TenantId, ConnectionId)>,
}

/// Forgets a call when it is dropped.
pub(super) struct Landing<'a> {
    flights: &'a Flights,
    id: InvocationId,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let mut state = self.flights.lock();
        state.calls.remove(&self.id);
        state.accounts.remove(&self.id);
    }
}

impl Flights {
    pub(super) fn insert(&self, id: InvocationId, cancelled: CancellationToken) {
        self.lock().calls.insert(id, cancelled);
    }

    /// Notes which account a call goes through, until it lands.
    pub(super) fn goes_through(&self, id: InvocationId, tenant: TenantId, connection: ConnectionId) {
        self.lock().accounts.insert(id, (tenant, connection));
    }

    /// The recorded calls that go through an account.
    pub(super) fn accounts(&self) -> Vec<(InvocationId, TenantId, ConnectionId)> {
        let state = self.lock();
        let recorded = state.accounts.iter().filter(|(id, _)| state.calls.contains_key(id));
        recorded.map(|(id, (tenant, connection))| (*id, tenant.clone(), *connection)).collect()
    }

    /// Forgets the call when the guard is dropped, also when the call breaks off.
    pub(super) const fn land_on_drop(&self, id: InvocationId) -> Landing<'_> {
        Landing { flights: self, id }
    }

    pub(super) fn contains(&self, id: InvocationId) -> bool {
        self.lock().calls.contains_key(&id)
    }

    pub(super) fn cancel(&self, id: InvocationId) {
        if let Some(cancelled) = self.lock().calls.get(&id) {
            cancelled.cancel();
        }
    }

    pub(super) fn ids(&self) -> Vec<InvocationId> {
        self.lock().calls.keys().copied().collect()
    }

    // A panic while the map was held can't leave it half changed: each use is one operation.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

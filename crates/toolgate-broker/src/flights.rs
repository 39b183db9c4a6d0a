//! One at a time for each connection, on this node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;
use toolgate_core::id::ConnectionId;

/// The connections that someone works on here.
#[derive(Debug, Default)]
pub(crate) struct Flights(Mutex<HashMap<ConnectionId, Arc<tokio::sync::Mutex<()>>>>);

impl Flights {
    /// Waits until nobody else on this node works on a connection.
    pub(crate) async fn alone_with(&self, id: ConnectionId) -> OwnedMutexGuard<()> {
        let own = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody holds or waits for are forgotten.
            all.retain(|known, lock| *known == id || Arc::strong_count(lock) > 1);
            Arc::clone(all.entry(id).or_default())
        };
        own.lock_owned().await
    }
}

//! Requests of the handshake era that are open here, for when their clients want them stopped.

use std::collections::HashMap;
use std::sync::PoisonError;

use toolgate_core::id::InvocationId;

use crate::exchange::Exchange;
use crate::gate::McpGate;
use crate::jsonrpc::Id;

impl McpGate {
    /// Notes which call a request of the handshake era led to, for as long as the returned note is kept.
    pub(crate) fn note_open(&self, x: &Exchange<'_>, call: InvocationId) -> Option<OpenNote<'_>> {
        let key = (x.session?.to_owned(), x.id.clone());
        self.opened().insert(key.clone(), call);
        Some(OpenNote { gate: self, key, call })
    }

    /// The call that a request of this session led to, while it is open here.
    pub(crate) fn open_call(&self, session: &str, id: &Id) -> Option<InvocationId> {
        self.opened().get(&(session.to_owned(), id.clone())).copied()
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Id), InvocationId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of the handshake era that is open here; forgotten when dropped, however it ends.
pub(crate) struct OpenNote<'a> {
    gate: &'a McpGate,
    key: (String, Id),
    call: InvocationId,
}

impl OpenNote<'_> {
    /// The call.
    pub(crate) const fn call(&self) -> InvocationId {
        self.call
    }
}

impl Drop for OpenNote<'_> {
    fn drop(&mut self) {
        self.gate.opened().remove(&self.key);
    }
}

//! The labels of sessions, for policies that read them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Runner;
use super::call::Call;
use crate::id::SessionId;
use crate::port::store::StoreError;

/// How many sessions' labels are remembered.
const MOST: usize = 10_000;

/// Labels seen before. They never change, so they are never stale.
#[derive(Default)]
pub(super) struct Labels(Mutex<HashMap<SessionId, Arc<[String]>>>);

impl Runner {
    /// The labels of the session a call is made in. Looked up once for each session, and only where policy asks.
    pub(super) async fn labels(&self, call: &Call) -> Result<Arc<[String]>, StoreError> {
        let Some(session) = call.session.filter(|_| self.0.policy.reads_labels(&call.actor.tenant)) else {
            return Ok(Arc::default());
        };
        let known = self.0.labels.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).cloned();
        if let Some(labels) = known {
            return Ok(labels);
        }
        // One that is not there, or not the caller's, is refused when the call is written.
        let Some(found) = self.0.store.session(&call.actor.tenant, session).await? else {
            return Ok(Arc::default());
        };
        let labels: Arc<[String]> = found.labels.into();
        let mut all = self.0.labels.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(session, Arc::clone(&labels));
        Ok(labels)
    }
}

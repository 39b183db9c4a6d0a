//! Tools that work the processor hard. However many are called, they run a few at a time, so that short calls keep
//! their turn.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use toolgate_core::{CallError, ErrorCode};

use crate::ToolFailure;

/// The places of this process.
pub(crate) static PLACES: LazyLock<Places> = LazyLock::new(|| Places::new(heavy_places()));

/// How many heavy tools run at once: one for every two cores.
#[must_use]
pub fn heavy_places() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    (cores / 2).max(1)
}

/// Places for heavy work; whoever came first gets the next.
pub(crate) struct Places(Semaphore);

impl Places {
    fn new(count: usize) -> Self {
        Self(Semaphore::new(count))
    }

    /// A place, once one is free.
    ///
    /// # Errors
    /// When none came free within `patience`.
    pub(crate) async fn take(&self, patience: Duration) -> Result<SemaphorePermit<'_>, ToolFailure> {
        match tokio::time::timeout(patience, self.0.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            // Nothing closes it.
            Ok(Err(_)) | Err(_) => Err(ToolFailure::Coded(Box::new(
                CallError::new(
                    ErrorCode::BudgetExceeded,
                    "as many heavy calls run as this server takes at once",
                )
                .hint("it did not run; try again when one has ended"),
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_finds_no_place_is_told_so() {
        let places = Places::new(1);
        let first = places.take(Duration::ZERO).await.unwrap();
        let refused = match places.take(Duration::ZERO).await {
            Err(ToolFailure::Coded(error)) => error.code,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused, ErrorCode::BudgetExceeded);
        let (second, ()) = tokio::join!(places.take(Duration::from_secs(60)), async { drop(first) });
        assert!(second.is_ok(), "a place that comes free is taken");
    }
}

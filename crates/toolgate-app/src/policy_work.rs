//! Checking, compiling and comparing policy texts: seconds of work for the longest, so not where callers are answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use toolgate_core::port::store::StoreError;

use crate::AppError;

/// How many texts are worked on at the same time.
const AT_ONCE: usize = 2;
/// How long a text waits for its turn.
const WAIT: Duration = Duration::from_secs(10);

/// The desk where policy texts are worked on.
#[derive(Debug)]
pub(crate) struct PolicyWork {
    places: Arc<Semaphore>,
    wait: Duration,
}

impl Default for PolicyWork {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), wait: WAIT }
    }
}

impl PolicyWork {
    /// Does this on a thread of its own, when it is its turn.
    ///
    /// # Errors
    /// "Too many" when its turn does not come soon enough.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let turn = tokio::time::timeout(self.wait, Arc::clone(&self.places).acquire_owned()).await;
        let place = turn
            .map_err(|_| AppError::TooMany { retry_after_seconds: WAIT.as_secs() })?
            .map_err(|cause| AppError::Store(StoreError::unavailable(cause)))?;
        let done = tokio::task::spawn_blocking(move || {
            // Kept to the end of the work: whoever goes away does not make room for another text meanwhile.
            let _place = place;
            work()
        });
        done.await.map_err(|cause| AppError::Store(StoreError::unavailable(cause)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_text_whose_turn_does_not_come_is_sent_away() {
        let work = PolicyWork { wait: Duration::from_millis(1), ..PolicyWork::default() };
        let taken = Arc::clone(&work.places).acquire_many_owned(AT_ONCE as u32).await.unwrap();
        let refused = work.run(|| ()).await.unwrap_err();
        assert!(matches!(refused, AppError::TooMany { retry_after_seconds: 10 }));
        drop(taken);
        assert_eq!(work.run(|| 7).await.unwrap(), 7);
    }
}

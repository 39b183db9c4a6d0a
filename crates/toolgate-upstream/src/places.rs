//! Places for calls that run at once, and a queue before them that ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for calls that run at once.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicU32,
    most_waiting: u32,
}

impl Places {
    pub(crate) fn new(places: u32, queue_factor: u32) -> Self {
        let places = places.max(1);
        Self {
            free: Arc::new(Semaphore::new(places as usize)),
            waiting: AtomicU32::new(0),
            most_waiting: places.saturating_mul(queue_factor),
        }
    }

    /// A place, now or when one is free; none when too many wait already.
    pub(crate) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(place);
        }
        // Counted down however this ends.
        let _waits = Waits::begin(&self.waiting, self.most_waiting)?;
        Arc::clone(&self.free).acquire_owned().await.ok()
    }
}

/// One who waits for a place.
struct Waits<'a>(&'a AtomicU32);

impl<'a> Waits<'a> {
    fn begin(waiting: &'a AtomicU32, most: u32) -> Option<Self> {
        let waits = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(waits)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

//! What a server does beside answering: renew leases, look after overdue calls, anchor the record.

use std::time::Duration;

use toolgate_core::Runner;
use toolgate_core::port::store::StoreError;

/// How often each is done.
#[derive(Debug, Clone, Copy)]
pub struct Background {
    /// Leases; well within their length.
    pub renew_every: Duration,
    /// Overdue calls.
    pub sweep_every: Duration,
    /// Anchors.
    pub anchor_every: Duration,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            renew_every: Duration::from_secs(8),
            sweep_every: Duration::from_secs(2),
            anchor_every: Duration::from_secs(60),
        }
    }
}

/// How many events one anchor may cover, so that none holds the writer for long.
const ANCHOR_EVENTS: u32 = 50_000;

impl Background {
    /// Goes on until the future is dropped. Before the first call is taken, an embedded store's leases have to be
    /// ended (`end_foreign_leases`), so that what an earlier process left is looked after at once.
    pub async fn run(self, runner: Runner) {
        let sweep = every(self.sweep_every, || async { runner.sweep().await.map(drop) }, "sweep");
        let renew = every(self.renew_every, || runner.renew_leases(), "lease renewal");
        let anchor = every(self.anchor_every, || Self::anchor(&runner), "anchor");
        tokio::join!(sweep, renew, anchor);
    }

    /// Anchors everything not yet anchored.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn anchor(runner: &Runner) -> Result<(), StoreError> {
        let parts = runner.parts();
        while parts.store.write_anchor(parts.clock.now(), ANCHOR_EVENTS).await? > 0 {}
        Ok(())
    }
}

async fn every<F>(pause: Duration, mut work: impl FnMut() -> F, what: &str)
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut ticks = tokio::time::interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(cause) = work().await {
            tracing::warn!(error = %cause, "{what} failed; it will be tried again");
        }
    }
}

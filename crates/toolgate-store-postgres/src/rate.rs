//! Rates that all nodes measure together.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use toolgate_core::port::gate::SharedMeters;
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;

const MINUTE: i64 = 60_000_000;

/// How often what is back at its full measure is forgotten.
const TIDY_EVERY: u32 = 4096;

// The generic cell rate algorithm on the database's clock: a call is let through if the moment its key's next call is
// due lies at most a burst ahead, and then moves that moment on by one period.
const TAKE: &str = "
    WITH given AS MATERIALIZED (
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
    ), taken AS (
        INSERT INTO rates AS r (key, tat) SELECT $1, now + $2 FROM given
        ON CONFLICT (key) DO UPDATE SET tat = greatest(r.tat, excluded.tat - $2) + $2
        WHERE r.tat - (excluded.tat - $2) <= $3
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM taken),
           coalesce((SELECT r.tat - $3 - given.now FROM rates r WHERE r.key = $1), 0)
    FROM given";

const FORGET: &str =
    "DELETE FROM rates WHERE tat < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

#[async_trait]
impl SharedMeters for PostgresStore {
    async fn take(&self, key: &str, per_minute: NonZeroU32) -> Result<Result<(), Duration>, StoreError> {
        static TAKEN: AtomicU32 = AtomicU32::new(1);
        if TAKEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIDY_EVERY) {
            self.query(FORGET, &[]).await?;
        }
        let period = MINUTE / i64::from(per_minute.get());
        let burst = MINUTE - period;
        let row = self.query_first(TAKE, &[&key, &period, &burst]).await?;
        let row = row.ok_or_else(|| StoreError::unavailable("no answer about a rate"))?;
        let (taken, wait): (bool, i64) = (row.get(0), row.get(1));
        Ok(if taken { Ok(()) } else { Err(Duration::from_micros(wait.max(1).unsigned_abs())) })
    }
}

//! Moments, as the stores keep them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Microseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// A moment from its microseconds.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The microseconds.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The least id with this prefix that could have been made at this moment: ids begin with their time.
    #[must_use]
    pub fn id_bound(self, prefix: &str) -> String {
        let millis = u64::try_from(self.0 / 1_000).unwrap_or(0) & 0xffff_ffff_ffff;
        format!("{prefix}_{millis:012x}{:020}", 0)
    }

    /// This moment less a while.
    #[must_use]
    pub fn minus(self, while_: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(while_.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This moment and a while.
    #[must_use]
    pub fn plus(self, while_: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(while_.as_micros()).unwrap_or(i64::MAX)))
    }
}

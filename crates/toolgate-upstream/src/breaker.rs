//! Lets a server that keeps failing rest, so that those who call it are told at once.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use toolgate_core::time::Timestamp;

use crate::settings::Settings;

/// How a server did lately.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    faults: u32,
    rests_until: Option<Instant>,
    /// The last fault, safe to show.
    pub(crate) last: Option<String>,
}

impl Breaker {
    /// How long it still rests; none when it may be tried.
    pub(crate) fn rests(&self, now: Instant) -> Option<Duration> {
        self.rests_until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// A connection to it failed, or broke.
    pub(crate) fn ill(&mut self, why: String, now: Instant, settings: &Settings) {
        self.last = Some(why);
        self.faults = self.faults.saturating_add(1);
        if let Some(over) = self.faults.checked_sub(settings.faults_before_rest) {
            let rest = settings.first_rest.saturating_mul(2u32.saturating_pow(over.min(16)));
            self.rests_until = Some(now + spread(rest.min(settings.longest_rest)));
        }
    }
}

/// A time give or take a quarter, so that nodes don't come back all at once.
fn spread(time: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) % 1_000;
    #[expect(clippy::cast_precision_loss, reason = "below a thousand")]
    let factor = 0.75 + (random as f64) / 2_000.0;
    time.mul_f64(factor)
}

pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_and_end() {
        let settings = Settings::default();
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..2 {
            breaker.ill("away".to_owned(), now, &settings);
            assert_eq!(breaker.rests(now), None);
        }
        breaker.ill("away".to_owned(), now, &settings);
        let first = breaker.rests(now).unwrap();
        assert!(first > Duration::from_millis(700) && first < Duration::from_millis(1_300), "{first:?}");
        assert_eq!(breaker.rests(now + Duration::from_secs(2)), None);
        for _ in 0..40 {
            breaker.ill("away".to_owned(), now, &settings);
        }
        let long = breaker.rests(now).unwrap();
        assert!(long > Duration::from_secs(40) && long < Duration::from_secs(80), "{long:?}");
    }
}

//! What limits are measured with on this node: rates, places and what was spent.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use toolgate_core::Timestamp;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{PrincipalId, TenantId, ToolName};
use toolgate_core::limit::Span;

/// How often the meters forget what is back at its full measure.
const TIDY_EVERY: u32 = 4096;

/// How long what was spent is trusted before the record is asked again: other nodes spend too.
const FRESH: Duration = Duration::from_secs(1);

/// Whose calls of what count towards a budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Spending {
    /// In which tenant.
    pub tenant: TenantId,
    /// Of one principal, or of all.
    pub principal: Option<PrincipalId>,
    /// Of one tool, or of all.
    pub tool: Option<ToolName>,
}

#[derive(Debug, Clone, Copy)]
struct Spent {
    since: Timestamp,
    micros: i64,
    asked_at: Timestamp,
}

type Rates = HashMap<(TenantId, Arc<str>, NonZeroU32), Arc<DefaultKeyedRateLimiter<String>>>;
type Places = HashMap<(TenantId, Arc<str>, String), Arc<AtomicU32>>;

/// The state of all limits on this node. It outlives changes of the limits themselves.
#[derive(Debug, Default)]
pub struct Meters {
    clock: DefaultClock,
    rates: Mutex<Rates>,
    places: Mutex<Places>,
    spent: Mutex<HashMap<(Spending, Span), Spent>>,
    taken: AtomicU32,
}

/// How often each principal may call at all, whatever it calls.
#[derive(Debug)]
pub struct Knocks {
    clock: DefaultClock,
    rate: DefaultKeyedRateLimiter<(TenantId, PrincipalId)>,
    taken: AtomicU32,
}

impl Knocks {
    /// So many calls a second.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Self {
        Self {
            clock: DefaultClock::default(),
            rate: RateLimiter::keyed(Quota::per_second(per_second)),
            taken: AtomicU32::new(0),
        }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// `rate_limited`, with when to come back.
    pub fn knock(&self, tenant: &TenantId, principal: &PrincipalId) -> Result<(), CallError> {
        if self.taken.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIDY_EVERY) {
            self.rate.retain_recent();
        }
        self.rate.check_key(&(tenant.clone(), principal.clone())).map_err(|until| {
            let seconds = until.wait_time_from(self.clock.now()).as_secs_f64().ceil().max(1.0);
            CallError::new(ErrorCode::RateLimited, "too many calls by this principal")
                .hint(format!("try again in {seconds} s"))
                .details(
                    serde_json::json!({ "rule": "server: calls per second", "retry_after_seconds": seconds }),
                )
        })
    }
}

/// One taken place; dropping it gives it back.
#[derive(Debug)]
pub struct Place(Arc<AtomicU32>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Meters {
    /// Takes one call from a rate (GCRA).
    ///
    /// # Errors
    /// How long until there is room.
    pub fn take(
        &self,
        tenant: &TenantId,
        rule: &Arc<str>,
        key: &str,
        rate: NonZeroU32,
    ) -> Result<(), Duration> {
        if self.taken.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIDY_EVERY) {
            self.tidy();
        }
        let limiter = Arc::clone(
            lock(&self.rates)
                .entry((tenant.clone(), Arc::clone(rule), rate))
                .or_insert_with(|| Arc::new(RateLimiter::keyed(Quota::per_minute(rate)))),
        );
        limiter.check_key(&key.to_owned()).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Takes a place among so many; none when all are taken.
    #[must_use]
    pub fn place(&self, tenant: &TenantId, rule: &Arc<str>, key: &str, most: NonZeroU32) -> Option<Place> {
        let taken = Arc::clone(
            lock(&self.places).entry((tenant.clone(), Arc::clone(rule), key.to_owned())).or_default(),
        );
        if taken.fetch_add(1, Ordering::AcqRel) >= most.get() {
            taken.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        Some(Place(taken))
    }

    /// What was spent in the span that `now` lies in, as far as is known.
    #[must_use]
    pub fn spent(&self, spending: &Spending, span: Span, now: Timestamp) -> i64 {
        let since = beginning(span, now);
        lock(&self.spent)
            .get(&(spending.clone(), span))
            .filter(|spent| spent.since == since)
            .map_or(0, |spent| spent.micros)
    }

    /// Whether what was spent has to be read from the record first, and since when.
    #[must_use]
    pub fn unknown(&self, spending: &Spending, span: Span, now: Timestamp) -> Option<Timestamp> {
        let since = beginning(span, now);
        let known = lock(&self.spent).get(&(spending.clone(), span)).copied();
        let fresh = known.is_some_and(|spent| spent.since == since && now < spent.asked_at.plus(FRESH));
        (!fresh).then_some(since)
    }

    /// Hears what the record says was spent since the beginning of a span. What was heard here and is not yet in the
    /// record still counts: spending only ever grows within a span.
    pub fn learn(&self, spending: Spending, span: Span, since: Timestamp, micros: i64, now: Timestamp) {
        let mut all = lock(&self.spent);
        let spent = all.entry((spending, span)).or_insert(Spent { since, micros: 0, asked_at: now });
        if spent.since != since {
            *spent = Spent { since, micros: 0, asked_at: now };
        }
        spent.micros = spent.micros.max(micros);
        spent.asked_at = now;
    }

    /// Hears what a call has cost.
    pub fn charge(&self, tenant: &TenantId, principal: &PrincipalId, tool: &ToolName, micros: i64) {
        let mut all = lock(&self.spent);
        for span in [Span::Hour, Span::Day, Span::Month] {
            for (who, what) in
                [(None, None), (Some(principal), None), (None, Some(tool)), (Some(principal), Some(tool))]
            {
                let spending =
                    Spending { tenant: tenant.clone(), principal: who.cloned(), tool: what.cloned() };
                if let Some(spent) = all.get_mut(&(spending, span)) {
                    spent.micros = spent.micros.saturating_add(micros);
                }
            }
        }
    }

    fn tidy(&self) {
        let rates: Vec<_> = lock(&self.rates).values().cloned().collect();
        for rate in rates {
            rate.retain_recent();
        }
        lock(&self.places)
            .retain(|_, taken| taken.load(Ordering::Acquire) > 0 || Arc::strong_count(taken) > 1);
        let mut spent = lock(&self.spent);
        if spent.len() > 100_000 {
            // The record knows it all.
            spent.clear();
        }
    }
}

/// When the span that `now` lies in began, in UTC.
fn beginning(span: Span, now: Timestamp) -> Timestamp {
    const HOUR: i64 = 3_600_000_000;
    let micros = now.as_micros();
    let since_midnight = micros.rem_euclid(24 * HOUR);
    Timestamp::from_micros(match span {
        Span::Hour => micros - micros.rem_euclid(HOUR),
        Span::Day => micros - since_midnight,
        // A moment beyond the calendar counts its days as a month of its own.
        Span::Month => {
            let day = jiff::Timestamp::from_microsecond(micros)
                .map_or(1, |moment| moment.to_zoned(jiff::tz::TimeZone::UTC).day());
            micros - since_midnight - i64::from(day - 1) * 24 * HOUR
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_micros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn a_principal_has_one_rate_over_all_calls_and_none_of_its_namesakes() {
        let knocks = Knocks::new(NonZeroU32::MIN);
        let (here, there) = (TenantId::default_tenant(), "elsewhere".parse().unwrap());
        let ada: PrincipalId = "user:ada".parse().unwrap();
        assert!(knocks.knock(&here, &ada).is_ok());
        assert_eq!(knocks.knock(&here, &ada).unwrap_err().code, ErrorCode::RateLimited);
        assert!(knocks.knock(&there, &ada).is_ok());
        assert!(knocks.knock(&here, &"user:bob".parse().unwrap()).is_ok());
    }

    #[test]
    fn spans_begin_where_the_calendar_says() {
        for (now, hour, day, month) in [
            ("2026-11-15T12:34:56Z", "2026-11-15T12:00:00Z", "2026-11-15T00:00:00Z", "2026-11-01T00:00:00Z"),
            (
                "2024-02-29T23:59:59.999999Z",
                "2024-02-29T23:00:00Z",
                "2024-02-29T00:00:00Z",
                "2024-02-01T00:00:00Z",
            ),
            ("2000-03-01T00:00:00Z", "2000-03-01T00:00:00Z", "2000-03-01T00:00:00Z", "2000-03-01T00:00:00Z"),
            ("1970-01-31T01:00:00Z", "1970-01-31T01:00:00Z", "1970-01-31T00:00:00Z", "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(beginning(Span::Hour, at(now)), at(hour));
            assert_eq!(beginning(Span::Day, at(now)), at(day));
            assert_eq!(beginning(Span::Month, at(now)), at(month));
        }
    }
}

//! How often someone may try and fail: a bucket for each login and each address (GCRA).
//!
//! A try takes its place first and gets it back when it goes well. Were only failures counted, a thousand guesses sent
//! at once would all be under way before the first one counted. Memory is bounded: when a measure is full, those who
//! waited longest are forgotten first.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolgate_core::json::digest;

use crate::AppError;

const MOST: usize = 20_000;

/// One kind of try.
#[derive(Debug)]
pub struct Attempts {
    burst: u32,
    every: Duration,
    used: AtomicBool,
    /// When each bucket is full again.
    full_at: Mutex<HashMap<[u8; 32], Instant>>,
}

impl Attempts {
    /// So many at once, then one each `every`.
    #[must_use]
    pub fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every, used: AtomicBool::new(false), full_at: Mutex::default() }
    }

    /// Takes a place for a try.
    ///
    /// # Errors
    /// When there is none, and when to come back.
    pub fn take(&self, who: &[u8; 32]) -> Result<(), AppError> {
        self.take_at(who, Instant::now())
    }

    /// Whether there is a place, without taking it.
    ///
    /// # Errors
    /// When there is none, and when to come back.
    pub fn look(&self, who: &[u8; 32]) -> Result<(), AppError> {
        let now = Instant::now();
        match self.lock().get(who) {
            Some(full_at) => self.room(*full_at, now),
            None => Ok(()),
        }
    }

    /// Whether nobody has failed yet. Cheap enough to ask on every request.
    pub fn is_unused(&self) -> bool {
        !self.used.load(Ordering::Relaxed)
    }

    /// Gives a place back: the try went well.
    pub fn give_back(&self, who: &[u8; 32]) {
        let mut all = self.lock();
        if let Some(full_at) = all.get_mut(who) {
            match full_at.checked_sub(self.every) {
                Some(earlier) => *full_at = earlier,
                None => {
                    all.remove(who);
                }
            }
        }
    }

    fn take_at(&self, who: &[u8; 32], now: Instant) -> Result<(), AppError> {
        self.used.store(true, Ordering::Relaxed);
        let mut all = self.lock();
        if !all.contains_key(who) && all.len() >= MOST {
            make_room(&mut all, now);
        }
        let full_at = all.entry(*who).or_insert(now);
        *full_at = (*full_at).max(now);
        self.room(*full_at, now)?;
        *full_at += self.every;
        Ok(())
    }

    fn room(&self, full_at: Instant, now: Instant) -> Result<(), AppError> {
        let missing = full_at.saturating_duration_since(now);
        let most = self.every * self.burst.saturating_sub(1);
        match missing.checked_sub(most) {
            None | Some(Duration::ZERO) => Ok(()),
            Some(wait) => Err(AppError::TooMany { retry_after_seconds: wait.as_secs() + 1 }),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Instant>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room(all: &mut HashMap<[u8; 32], Instant>, now: Instant) {
    all.retain(|_, full_at| *full_at > now);
    if all.len() < MOST / 2 {
        return;
    }
    let mut times: Vec<Instant> = all.values().copied().collect();
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable(middle);
    let median = *median;
    all.retain(|_, full_at| *full_at > median);
}

/// The bucket of an address. Whoever has one IPv6 address has 2^64 of them, so those share a bucket.
#[must_use]
pub fn address_bucket(address: IpAddr) -> [u8; 32] {
    match address.to_canonical() {
        IpAddr::V4(address) => digest(&address.octets()),
        IpAddr::V6(address) => digest(&address.octets()[..8]),
    }
}

/// The bucket of a login in a tenant, whether there is such a person or not.
pub(crate) fn login_bucket(tenant: &str, login: &str) -> [u8; 32] {
    digest(format!("{} {tenant}{login}", tenant.len()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: [u8; 32] = [7; 32];

    #[test]
    fn a_burst_then_one_each_while() {
        let attempts = Attempts::new(3, Duration::from_secs(30));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert!(attempts.take_at(&WHO, at(0)).is_ok());
        }
        let refused = attempts.take_at(&WHO, at(0));
        assert!(matches!(refused, Err(AppError::TooMany { retry_after_seconds: 31 })), "{refused:?}");
        assert!(attempts.take_at(&[8; 32], at(0)).is_ok(), "others are not held up");
        assert!(attempts.take_at(&WHO, at(29)).is_err());
        assert!(attempts.take_at(&WHO, at(31)).is_ok());
        assert!(attempts.take_at(&WHO, at(32)).is_err());
        assert!((0..3).all(|_| attempts.take_at(&WHO, at(1000)).is_ok()));
        assert!(attempts.take_at(&WHO, at(1000)).is_err());
    }

    #[test]
    fn what_goes_well_costs_nothing() {
        let attempts = Attempts::new(2, Duration::from_secs(30));
        for _ in 0..100 {
            assert!(attempts.take(&WHO).is_ok());
            attempts.give_back(&WHO);
        }
        assert!(attempts.look(&WHO).is_ok());
    }

    #[test]
    fn memory_is_bounded_and_the_worst_are_remembered() {
        let attempts = Attempts::new(3, Duration::from_secs(30));
        for _ in 0..3 {
            assert!(attempts.take(&WHO).is_ok());
        }
        for number in 0..(MOST as u64 + 10) {
            assert!(attempts.take(&digest(&number.to_le_bytes())).is_ok());
        }
        assert!(attempts.lock().len() <= MOST);
        assert!(attempts.look(&WHO).is_err());
    }

    #[test]
    fn addresses_of_one_network_share_a_bucket() {
        let bucket = |text: &str| address_bucket(text.parse().unwrap());
        assert_eq!(bucket("2001:db8::1"), bucket("2001:db8::ffff:1"));
        assert_ne!(bucket("2001:db8::1"), bucket("2001:db8:0:1::1"));
        assert_eq!(bucket("::ffff:192.0.2.1"), bucket("192.0.2.1"));
        assert_ne!(bucket("192.0.2.2"), bucket("192.0.2.1"));
    }
}

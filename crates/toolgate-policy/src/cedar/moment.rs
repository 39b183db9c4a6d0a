//! The circumstances an answer was given in, as far as policies read them.

use toolgate_core::id::PrincipalId;
use toolgate_core::{Source, Timestamp};

use super::facts::Circumstances;
use super::reads::Reads;

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// The parts of the circumstances that some policies read. Wherever these are the same, so is the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moment {
    reads: Reads,
    time: i64,
    labels: Vec<String>,
    source: Option<Source>,
    subject: Option<PrincipalId>,
}

impl Moment {
    /// What policies that read these parts see of the circumstances. Not for `approve`, which reads more.
    pub(super) fn of(reads: Reads, c: &Circumstances<'_>) -> Self {
        Self {
            reads,
            time: time(reads, c.now),
            labels: if reads.has(Reads::LABELS) { c.labels.to_vec() } else { Vec::new() },
            source: reads.has(Reads::SOURCE).then_some(c.source),
            subject: c.subject.filter(|_| reads.has(Reads::SUBJECT)).cloned(),
        }
    }

    /// Whether they see the same now.
    pub(super) fn still_is(&self, c: &Circumstances<'_>) -> bool {
        let reads = self.reads;
        self.time == time(reads, c.now)
            && (!reads.has(Reads::LABELS) || self.labels == c.labels)
            && (!reads.has(Reads::SOURCE) || self.source == Some(c.source))
            && (!reads.has(Reads::SUBJECT) || self.subject.as_ref() == c.subject)
    }
}

/// The time as finely as it is read: to the hour when only `hour` and `weekday` are.
fn time(reads: Reads, now: Timestamp) -> i64 {
    if reads.has(Reads::NOW) {
        now.as_micros()
    } else if reads.has(Reads::HOUR.and(Reads::WEEKDAY)) {
        now.as_micros().div_euclid(MICROS_PER_HOUR)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_counts() {
        let labels = ["a".to_owned(), "b".to_owned()];
        let (ada, eve) = ("user:ada".parse().unwrap(), "user:eve".parse().unwrap());
        let now = Circumstances {
            now: Timestamp::from_micros(5 * MICROS_PER_HOUR),
            labels: &labels,
            source: Source::Api,
            subject: Some(&ada),
            own: false,
            for_me: false,
        };
        let later =
            |micros| Circumstances { now: Timestamp::from_micros(now.now.as_micros() + micros), ..now };
        let check = |other: Circumstances<'_>, seen_by: &[Reads]| {
            for part in
                [Reads::NOW, Reads::HOUR, Reads::WEEKDAY, Reads::LABELS, Reads::SOURCE, Reads::SUBJECT]
            {
                assert!(Moment::of(part, &now).still_is(&now));
                assert_eq!(!Moment::of(part, &now).still_is(&other), seen_by.contains(&part), "{part:?}");
            }
        };
        check(later(1), &[Reads::NOW]);
        check(later(-1), &[Reads::NOW, Reads::HOUR, Reads::WEEKDAY]);
        check(later(MICROS_PER_HOUR), &[Reads::NOW, Reads::HOUR, Reads::WEEKDAY]);
        check(Circumstances { labels: &labels[..1], ..now }, &[Reads::LABELS]);
        check(Circumstances { source: Source::Mcp, ..now }, &[Reads::SOURCE]);
        check(Circumstances { subject: Some(&eve), ..now }, &[Reads::SUBJECT]);
        check(Circumstances { subject: None, ..now }, &[Reads::SUBJECT]);
    }
}

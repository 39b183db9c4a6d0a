//! Which servers said that their tools changed, and when it is time to look.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// How soon a server is looked at again that says so once more.
const SOONEST: Duration = Duration::from_millis(250);
/// How late at most, however often it says so.
const LATEST: Duration = Duration::from_secs(300);
/// How long a server has to be quiet to be taken at its word again.
const QUIET: Duration = Duration::from_secs(10);

/// Servers that want to be looked at. Each look is in the record, so one that never stops is looked at ever less often.
#[derive(Debug)]
pub(crate) struct Changes<K> {
    said: HashSet<K>,
    looks: HashMap<K, Look>,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    pause: Duration,
}

impl<K> Default for Changes<K> {
    fn default() -> Self {
        Self { said: HashSet::new(), looks: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> Changes<K> {
    /// A server says that its tools changed.
    pub(crate) fn say(&mut self, server: K) {
        self.said.insert(server);
    }

    /// The servers to look at now.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<K> {
        self.looks.retain(|_, look| now.duration_since(look.at) < look.pause + QUIET);
        let due = |server: &K| self.looks.get(server).is_none_or(|look| now >= look.at + look.pause);
        let due: Vec<K> = self.said.iter().filter(|server| due(server)).cloned().collect();
        for server in &due {
            self.said.remove(server);
            let pause = self.looks.get(server).map_or(SOONEST, |look| (look.pause * 2).min(LATEST));
            self.looks.insert(server.clone(), Look { at: now, pause });
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_stops_is_looked_at_ever_less_often() {
        let (mut changes, mut now) = (Changes::default(), Instant::now());
        changes.say("calm");
        let mut looks = 0;
        // An hour of it, four times a second.
        for _ in 0..4 * 3600 {
            changes.say("storm");
            looks += changes.take(now).iter().filter(|server| **server == "storm").count();
            now += Duration::from_millis(250);
        }
        assert!((15..30).contains(&looks), "{looks}");
        // After a quiet time it is taken at its word again, and others never waited.
        now += LATEST + QUIET;
        changes.take(now);
        now += LATEST + QUIET;
        for server in ["storm", "calm"] {
            changes.say(server);
            assert_eq!(changes.take(now), [server]);
        }
    }

    #[test]
    fn what_is_said_while_it_is_not_time_is_not_forgotten() {
        let (mut changes, now) = (Changes::default(), Instant::now());
        changes.say("s");
        assert_eq!(changes.take(now), ["s"]);
        changes.say("s");
        assert!(changes.take(now).is_empty());
        assert_eq!(changes.take(now + SOONEST), ["s"]);
        assert!(changes.take(now + LATEST).is_empty());
    }
}

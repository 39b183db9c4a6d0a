//! The outbox: what is told to whom, and by which way.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::id::TenantId;
use toolgate_core::notification::NotificationKind;
use toolgate_core::port::courier::Courier;

use crate::App;

/// Somewhere outside that is told what happens, as the operator set it up.
#[derive(Clone)]
pub struct Channel {
    /// The operator's name for it.
    pub name: String,
    /// Whose calls it hears of.
    pub tenant: TenantId,
    /// What it hears of.
    pub kinds: Vec<NotificationKind>,
    /// Where it is. An address may be a secret by itself, so it is shown nowhere.
    pub url: String,
    /// What messages look like there.
    pub shape: Shape,
}

/// What messages to a channel look like.
#[derive(Clone)]
pub enum Shape {
    /// JSON with a signature that its receiver checks with this secret.
    Webhook {
        /// What signs.
        secret: String,
    },
    /// What Slack and those like it take.
    Slack,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Webhook { .. } => "Webhook",
            Self::Slack => "Slack",
        })
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Channel");
        shown.field("name", &self.name).field("tenant", &self.tenant).field("shape", &self.shape);
        shown.finish_non_exhaustive()
    }
}

/// How often and how patiently a message is tried.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The pause after the first try that failed; each later one is four times as long.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How many tries there are.
    pub tries: u32,
    /// How many there are where the other side says that the message itself is at fault.
    pub tries_refused: u32,
    /// How long a try may take.
    pub within: Duration,
    /// How long after a claim its sender counts as lost. Longer than a try.
    pub lease: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(2),
            longest: Duration::from_secs(3600),
            tries: 12,
            tries_refused: 4,
            within: Duration::from_secs(10),
            lease: Duration::from_secs(15),
        }
    }
}

impl Pace {
    /// The pause after try number `attempts`, from 1.
    pub(crate) fn pause(&self, attempts: u32) -> Duration {
        let times = 4u32.saturating_pow(attempts.saturating_sub(1).min(15));
        self.first.saturating_mul(times).min(self.longest)
    }
}

/// Who is told of what, who carries it there, and where people look.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Who is told.
    pub channels: Vec<Arc<Channel>>,
    /// Who carries it; with none, nothing is sent.
    pub courier: Option<Arc<dyn Courier>>,
    /// Where browsers find this gate: messages have a link only if this is known.
    pub public_url: Option<String>,
    /// How patiently.
    pub pace: Pace,
}

impl App {
    /// The same with an outbox.
    #[must_use]
    pub fn with_outbox(mut self, outbox: Outbox) -> Self {
        self.outbox = Arc::new(outbox);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_within_a_day() {
        let pace = Pace::default();
        let pauses: Vec<u64> = (1..=7).map(|attempts| pace.pause(attempts).as_secs()).collect();
        assert_eq!(pauses, [2, 8, 32, 128, 512, 2048, 3600]);
        assert_eq!(pace.pause(u32::MAX), pace.longest);
        assert!(pace.within < pace.lease, "a sender is not taken for lost while it sends");
    }

    #[test]
    fn nothing_secret_is_printed() {
        let channel = Channel {
            name: "ops".into(),
            tenant: TenantId::default_tenant(),
            kinds: Vec::new(),
            url: "https://hooks.example/T0/SECRET".into(),
            shape: Shape::Webhook { secret: "SECRET".into() },
        };
        assert!(!format!("{channel:?}").contains("SECRET"));
    }
}

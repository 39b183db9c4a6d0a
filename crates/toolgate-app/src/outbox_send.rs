//! Sending: claim, sign, carry, write down how it went. Each channel by itself, so that a slow one holds up no other.

use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::task::JoinSet;
use toolgate_core::json::to_hex;
use toolgate_core::notification::{Notification, Tried};
use toolgate_core::port::courier::Parcel;
use toolgate_core::port::store::StoreError;
use toolgate_core::{Timestamp, failpoint};

use crate::App;
use crate::outbox::{Channel, Shape};
use crate::outbox_message::Message;
use crate::outbox_slack;

/// How many messages of one channel are under way at once.
const AT_ONCE: u32 = 8;
/// The shortest pause that another side can ask for.
const SHORTEST: Duration = Duration::from_secs(1);

impl App {
    /// Sends what is due on one channel, until nothing is.
    pub(crate) async fn send_due(&self, channel: &Arc<Channel>) -> Result<(), StoreError> {
        if self.outbox.courier.is_none() {
            return Ok(());
        }
        loop {
            let now = self.now();
            let until = now.plus(self.outbox.pace.lease);
            let store = self.store();
            let claimed =
                store.claim_notifications(&channel.tenant, &channel.name, now, until, AT_ONCE).await?;
            if claimed.is_empty() {
                return Ok(());
            }
            failpoint::hit("outbox.claimed");
            let mut sending = JoinSet::new();
            for notification in claimed {
                let (app, channel) = (self.clone(), Arc::clone(channel));
                sending.spawn(async move { app.send(&channel, &notification).await });
            }
            while let Some(sent) = sending.join_next().await {
                sent.map_err(StoreError::unavailable)??;
            }
        }
    }

    async fn send(&self, channel: &Channel, notification: &Notification) -> Result<(), StoreError> {
        let tried = self.try_send(channel, notification).await;
        failpoint::hit("outbox.sent");
        if let Tried::Dead { error } = &tried {
            tracing::warn!(channel = %channel.name, id = %notification.id, %error, "a notification was given up");
        }
        self.store().settle_notification(notification, tried).await.map(drop)
    }

    /// Carries a claimed message once and says what follows from how that went.
    pub(crate) async fn try_send(&self, channel: &Channel, notification: &Notification) -> Tried {
        let pace = &self.outbox.pace;
        let attempts = notification.attempts;
        let carried = match &self.outbox.courier {
            Some(courier) => courier.carry(self.parcel(channel, notification)).await,
            None => return Tried::Dead { error: "nothing carries messages here".to_owned() },
        };
        let (error, most, asked) = match carried {
            Ok(receipt) if (200..300).contains(&receipt.status) => {
                return Tried::Delivered { at: self.now() };
            }
            Ok(receipt) => {
                let passing = matches!(receipt.status, 408 | 425 | 429 | 500..=599);
                let most = if passing { pace.tries } else { pace.tries_refused };
                (format!("the other side answered {}", receipt.status), most, receipt.retry_after)
            }
            Err(undelivered) => (undelivered.0, pace.tries, None),
        };
        if attempts >= most {
            return Tried::Dead { error };
        }
        let pause = asked.map_or_else(
            || pace.pause(attempts),
            |asked| asked.clamp(SHORTEST.min(pace.first), pace.longest),
        );
        Tried::Later { at: self.now().plus(pause), error }
    }

    fn parcel(&self, channel: &Channel, notification: &Notification) -> Parcel {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", concat!("toolgate/", env!("CARGO_PKG_VERSION")).to_owned()),
            ("toolgate-id", notification.key.clone()),
        ];
        let payload = notification.payload.as_str();
        let body = match &channel.shape {
            Shape::Webhook { secret } => {
                let timestamp = seconds(self.now());
                headers.push(("toolgate-timestamp", timestamp.to_string()));
                headers.push((
                    "toolgate-signature",
                    format!("v1={}", sign(secret, &notification.key, timestamp, payload)),
                ));
                payload.to_owned()
            }
            Shape::Slack => match serde_json::from_str::<Message>(payload) {
                Ok(message) => outbox_slack::blocks(&message).to_string(),
                // Kept by another version of this program; its words are still ours.
                Err(_) => serde_json::json!({ "text": "A message from Toolgate" }).to_string(),
            },
        };
        Parcel { url: channel.url.clone(), headers, body, within: self.outbox.pace.within }
    }
}

/// HMAC-SHA-256 over id, timestamp and body, in hexadecimal. With the timestamp inside, a recorded message can't be
/// played again later; with the id, not as another one.
fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    // A key of any length is taken, so this does not fail; and if it did, an empty signature verifies nowhere.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    to_hex(&mac.finalize().into_bytes())
}

const fn seconds(at: Timestamp) -> i64 {
    at.as_micros() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected value is from `printf 'id.1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret`.
    #[test]
    fn signatures_are_what_other_programs_compute() {
        let expected = "dc21f7f6e6713134d9055f66756f60b62480bf2c8a35b417908c6934a16471ca";
        assert_eq!(sign("secret", "id", 1_700_000_000, r#"{"a":1}"#), expected);
        assert_ne!(sign("secret", "id", 1_700_000_001, r#"{"a":1}"#), expected);
        assert_ne!(sign("other", "id", 1_700_000_000, r#"{"a":1}"#), expected);
    }
}

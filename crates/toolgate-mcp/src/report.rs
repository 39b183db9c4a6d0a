//! What a running call reports, as notifications to its client.

use serde_json::{Map, Value, json};

use crate::exchange::Exchange;
use crate::jsonrpc::notification;

/// From least to most grave.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The longest token that reports are sent under, in bytes.
pub(crate) const MAX_TOKEN: usize = 256;

/// The reports of one call.
#[derive(Debug)]
pub(crate) struct Reports {
    token: Option<Value>,
    last: f64,
}

impl Reports {
    /// Reports under the token that the client gave; none when it gave none.
    pub(crate) fn new(params: &Map<String, Value>) -> Self {
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
        // It is sent with every report; one that is long is not worth it.
        let fits = |token: &&Value| token.as_str().map_or(token.is_number(), |text| text.len() <= MAX_TOKEN);
        let token = token.filter(fits).cloned();
        Self::under(token)
    }

    /// Reports under this token.
    pub(crate) const fn under(token: Option<Value>) -> Self {
        Self { token, last: -1.0 }
    }

    /// The token.
    pub(crate) const fn token(&self) -> Option<&Value> {
        self.token.as_ref()
    }

    /// Tells the client of progress, unless it was told before.
    pub(crate) fn progress(&mut self, x: &Exchange<'_>, chunk: &Value, news: bool) {
        let Some(token) = &self.token else { return };
        let said = chunk.get("progress").and_then(Value::as_f64);
        // Invariant: progress goes up with every report, whatever a tool says.
        let progress = match said {
            Some(said) if said > self.last => said,
            Some(_) => return,
            None => (self.last + 1.0).max(1.0),
        };
        self.last = progress;
        if !news {
            return;
        }
        let mut params = json!({ "progressToken": token, "progress": number(progress) });
        if let Some(total) = chunk.get("total").filter(|total| total.is_number() && said.is_some()) {
            params["total"] = total.clone();
        }
        if let Some(message) = chunk.get("message").and_then(Value::as_str) {
            params["message"] = message.into();
        }
        x.out.report(notification("notifications/progress", &params));
    }

    /// Tells the client of a log entry, where it wants such.
    pub(crate) fn log(x: &Exchange<'_>, entry: &Value) {
        let place = |level: &str| LEVELS.iter().position(|known| *known == level);
        let level = entry.get("level").and_then(Value::as_str).unwrap_or("info");
        let wanted = x.client.log_level.as_deref().and_then(place);
        if let (Some(wanted), Some(level)) = (wanted, place(level))
            && level >= wanted
        {
            x.out.report(notification("notifications/message", entry));
        }
    }
}

/// A whole number where it is one.
fn number(value: f64) -> Value {
    let whole = value.trunc() == value && value.abs() < 9e15;
    // Within the range in which both mean the same.
    #[allow(clippy::cast_possible_truncation, reason = "checked above")]
    if whole { Value::from(value as i64) } else { Value::from(value) }
}

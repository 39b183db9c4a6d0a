//! Messages in the shape that Slack and those like it take: a text, and blocks with a button that leads to the call.
//! No button decides: it is a link, and looking decides nothing.

use serde_json::{Value, json};

use crate::outbox_message::Message;

/// The message as blocks.
pub(crate) fn blocks(message: &Message) -> Value {
    let headline = headline(message);
    let mut blocks = vec![section(&format!("*{headline}*"))];
    if let Some(call) = &message.call {
        blocks[0] = section(&format!("*{headline}*\n{} (`{}`)", escaped(&call.title), escaped(&call.tool)));
        let asker = match &call.subject {
            Some(subject) => format!("{} for {subject}", call.actor),
            None => call.actor.clone(),
        };
        let mut fields = vec![
            field("Asked by", &asker),
            field("Effect", &format!("{}, egress {}", call.effect, call.egress)),
        ];
        if let Some(by) = &message.decided_by {
            fields.push(field("Decided by", by));
        }
        if let Some(until) = &message.expires_at {
            fields.push(field("Until", until));
        }
        if !message.approvers.is_empty() {
            fields.push(field("For", &message.approvers.join(", ")));
        }
        blocks.push(json!({ "type": "section", "fields": fields }));
    }
    if let Some(reason) = &message.reason {
        blocks.push(section(&format!("> {}", escaped(reason))));
    }
    if let Some(call) = &message.call {
        blocks.push(match &message.link {
            Some(link) => json!({
                "type": "actions",
                "elements": [{
                    "type": "button",
                    "text": { "type": "plain_text", "text": "Look at it" },
                    "url": link,
                }],
            }),
            None => section(&format!("`toolgate approval show {}`", escaped(&call.id))),
        });
    }
    let about = message.call.as_ref().map(|call| format!(": {} by {}", call.tool, call.actor));
    json!({ "text": format!("{headline}{}", escaped(&about.unwrap_or_default())), "blocks": blocks })
}

fn headline(message: &Message) -> &'static str {
    match (message.event.as_str(), message.outcome.as_deref()) {
        ("approval.requested", _) => "A call waits for a decision",
        ("approval.escalated", _) => "A call was passed on and still waits for a decision",
        ("approval.decided", Some("approved")) => "A call was approved",
        ("approval.decided", Some("rejected")) => "A call was rejected",
        ("approval.decided", _) => "A call expired: nobody decided in time",
        ("input.requested", _) => "A person is asked a question",
        ("call.in_doubt", _) => "A call is in doubt: did it happen?",
        _ => "A message from Toolgate",
    }
}

// `verbatim` keeps Slack from making links and mentions of what looks like one.
fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": text, "verbatim": true } })
}

fn field(name: &str, value: &str) -> Value {
    json!({ "type": "mrkdwn", "text": format!("*{name}*\n{}", escaped(value)), "verbatim": true })
}

/// Slack's three control characters; without them nothing is a link or a mention.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox_message::MessageCall;

    fn message() -> Message {
        Message {
            id: "k".into(),
            event: "approval.requested".into(),
            at: "2026-01-01T00:00:00Z".into(),
            tenant: "default".into(),
            call: Some(MessageCall {
                id: "inv_1".into(),
                tool: "core__x".into(),
                title: "Pay <!here> & <https://evil.example|look>".into(),
                actor: "agent:helper".into(),
                subject: None,
                effect: "mutate".into(),
                egress: "none".into(),
            }),
            reason: Some("<@U1> <script>alert(1)</script>".into()),
            outcome: None,
            decided_by: None,
            approvers: Vec::new(),
            expires_at: None,
            link: Some("https://gate.example/approvals?id=inv_1".into()),
        }
    }

    #[test]
    fn markup_from_callers_is_inert() {
        let text = blocks(&message()).to_string();
        assert!(!text.contains('<'), "{text}");
        assert!(text.contains("&lt;!here&gt; &amp; &lt;https://evil.example|look&gt;"), "{text}");
    }

    #[test]
    fn the_only_action_is_a_link() {
        let shown = blocks(&message());
        let last = shown["blocks"].as_array().unwrap().last().unwrap().clone();
        let button = json!({
            "type": "actions",
            "elements": [{
                "type": "button",
                "text": { "type": "plain_text", "text": "Look at it" },
                "url": "https://gate.example/approvals?id=inv_1",
            }],
        });
        assert_eq!(last, button);
        let without = blocks(&Message { link: None, ..message() });
        assert!(
            !without.to_string().contains("actions") && without.to_string().contains("approval show inv_1")
        );
    }
}

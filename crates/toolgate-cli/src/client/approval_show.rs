//! How a call that waits for a person looks: first what it would do, then who asks and why.

use serde_json::Value;
use toolgate_api::{InvocationView, RemarkView, ReviewView};
use toolgate_core::review::Preview;

use super::change::{lines, moment};
use super::show::{self, Column};

/// The input that would run: what a person made of it, else what the caller sent.
pub(super) fn input_to_run(call: &InvocationView) -> Value {
    let changed = call.review.as_ref().and_then(|review| review.input.clone());
    changed.unwrap_or_else(|| call.input.to_value())
}

/// What the call would do, in a sentence.
pub(super) fn summary(call: &InvocationView) -> Option<&str> {
    call.review.as_ref()?.preview.as_ref()?.get("summary")?.as_str()
}

/// Who asks, and for whom.
pub(super) fn asker(call: &InvocationView) -> String {
    match &call.subject {
        Some(subject) => format!("{} for {subject}", call.actor),
        None => call.actor.clone(),
    }
}

/// Why a person is asked, as it stands in the record.
pub(super) fn why(call: &InvocationView) -> Option<String> {
    let asked = call.events.as_ref()?.iter().find(|event| event.kind == "tool.needs_approval")?;
    Some(asked.data.to_value().get("reason")?.as_str()?.to_owned())
}

/// How many said yes of how many, and who.
pub(super) fn yes_so_far(review: &ReviewView) -> String {
    let who: Vec<&str> = review.votes.iter().map(|vote| vote.by.as_str()).collect();
    let count = format!("{} of {} said yes", who.len(), review.needed);
    show::plain(&if who.is_empty() { count } else { format!("{count}: {}", who.join(", ")) })
}

/// Everything a person needs to decide.
pub(super) fn text(call: &InvocationView) -> String {
    let mut parts = Vec::new();
    if let Some(review) = &call.review {
        parts.extend(preview(review));
    }
    parts.push(lines(&facts(call)));
    parts.push(format!("# Input\n{}", show::pretty(&input_to_run(call))));
    if let Some(review) = &call.review {
        if review.input.is_some() {
            let sent = show::pretty(&call.input.to_value());
            parts.push(format!("# Input as the caller sent it\n{sent}"));
        }
        if !review.remarks.is_empty() {
            parts.push(remarks(&review.remarks));
        }
    }
    parts.join("\n\n")
}

fn facts(call: &InvocationView) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("id", call.id.clone()),
        ("tool", call.tool_id.clone()),
        ("status", call.status.clone()),
        ("effect", format!("{}, egress {}", call.effect, call.egress)),
        ("asked by", format!("{} by {}", asker(call), call.source)),
        ("since", show::moment(&call.created_at)),
        ("why", why(call).unwrap_or_default()),
        ("rule", call.rule.clone().unwrap_or_default()),
        ("session", call.session_id.clone()),
    ];
    let Some(review) = &call.review else { return facts };
    if call.approval == "pending" {
        facts.extend([
            ("needed", yes_so_far(review)),
            ("decided by", review.approvers.join(", ")),
            ("given to", given_to(review)),
            ("passed on", moment(review.escalate_at.as_ref())),
            ("deadline", show::moment(&review.deadline)),
        ]);
    } else {
        let decided = call.decided_by.as_ref().map(|by| format!("{} by {by}", call.approval));
        facts.extend([
            ("approval", decided.unwrap_or_else(|| call.approval.clone())),
            ("reason", call.reason.clone().unwrap_or_default()),
        ]);
    }
    facts.push(("digest", review.digest.clone()));
    facts
}

fn given_to(review: &ReviewView) -> String {
    let role = || review.assigned_role.as_ref().map(|role| format!("holders of {role}"));
    review.assigned_to.clone().or_else(role).unwrap_or_default()
}

/// What the tool itself foresees.
fn preview(review: &ReviewView) -> Option<String> {
    if let Some(failed) = &review.preview_failed {
        return Some(show::paragraph(&format!("There is no preview: {failed}")));
    }
    let preview = review.preview.as_ref()?;
    // A gate of another version may foresee more than this command knows of.
    let Ok(known) = serde_json::from_value::<Preview>(preview.clone()) else {
        return Some(show::pretty(preview));
    };
    let mut parts = vec![show::paragraph(&known.summary)];
    if !known.changes.is_empty() {
        let columns = ["field", "before", "", "after"].map(Column::left);
        let rows: Vec<Vec<String>> = known
            .changes
            .iter()
            .map(|change| {
                let (before, after) = (cell(change.before.as_ref()), cell(change.after.as_ref()));
                vec![change.field.clone(), before, "→".to_owned(), after]
            })
            .collect();
        parts.push(show::table(&columns, &rows));
    }
    let count = known.count.map(|count| format!("touches {count}"));
    let reversible = known.reversible.map(|can| if can { "can be undone" } else { "can't be undone" });
    let tail: Vec<String> = count.into_iter().chain(reversible.map(str::to_owned)).collect();
    if !tail.is_empty() {
        parts.push(tail.join(", "));
    }
    Some(parts.join("\n"))
}

/// A value on one line, or a dash where there is none.
fn cell(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::String(text)) => show::shortened(text, 200),
        Some(value) => show::shortened(&value.to_string(), 200),
    }
}

fn remarks(remarks: &[RemarkView]) -> String {
    let columns = ["at", "who", "said"].map(Column::left);
    let rows: Vec<Vec<String>> = remarks
        .iter()
        .map(|remark| vec![show::moment(&remark.at), remark.by.clone(), remark.text.clone()])
        .collect();
    show::table(&columns, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn review(preview: Value) -> ReviewView {
        serde_json::from_value(json!({
            "digest": "d", "preview": preview, "needed": 2, "votes": [{"by": "user:ada", "at": "now"}],
            "remarks": [], "deadline": "then",
        }))
        .unwrap()
    }

    #[test]
    fn a_preview_is_a_sentence_a_table_and_a_word_on_undoing() {
        let shown = preview(&review(json!({
            "summary": "renames\x1b one",
            "changes": [
                {"field": "name", "before": "a\nb", "after": "c"},
                {"field": "old", "before": {"x": 1}},
            ],
            "count": 1, "reversible": false,
        })));
        let expected = "renames  one\nFIELD  BEFORE      AFTER\nname   a b      →  c\n\
                        old    {\"x\":1}  →  -\ntouches 1, can't be undone";
        assert_eq!(shown.unwrap(), expected);
    }

    #[test]
    fn a_preview_of_another_version_is_shown_as_it_is() {
        let shown = preview(&review(json!({ "summary": "x", "risk": "low" }))).unwrap();
        assert!(shown.contains("\"risk\": \"low\""), "{shown}");
    }

    #[test]
    fn who_said_yes_is_named() {
        assert_eq!(yes_so_far(&review(Value::Null)), "1 of 2 said yes: user:ada");
    }
}

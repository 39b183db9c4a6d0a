//! Forms that a client shows to its person: to decide on a call, or to answer a question.

use serde_json::{Map, Value, json};
use toolgate_core::contract::{Effect, Egress};
use toolgate_core::input_request::{ChoiceOption, InputRequest, Question, QuestionKind};
use toolgate_core::review::Preview;
use toolgate_core::text::is_invisible;
use toolgate_core::{Invocation, JsonText};

/// The longest message that a client can be trusted to show whole.
const MAX_MESSAGE: usize = 4_000;
/// The longest line of someone else's words in a form's titles.
const MAX_SHOWN: usize = 200;

/// The form by which a person confirms their own call. None where what they would say yes to does not fit whole: nobody
/// decides on what they can't see.
pub(crate) fn approval(invocation: &Invocation, again: Option<&str>) -> Option<Value> {
    let opened = &invocation.opened;
    let mut properties = Map::new();
    properties.insert(
        "decision".to_owned(),
        json!({ "type": "string", "title": "Decision", "enum": ["approve", "reject"] }),
    );
    properties.insert(
        "reason".to_owned(),
        json!({ "type": "string", "title": "Reason", "description": "why, for the record", "maxLength": 1000 }),
    );
    if opened.effect == Effect::Destructive {
        let description = format!("type `{}` to approve: it takes something away for good", opened.tool);
        properties.insert(
            "confirm".to_owned(),
            json!({ "type": "string", "title": "The tool's name", "description": description }),
        );
    }
    let message = in_words(invocation, again);
    (message.chars().count() <= MAX_MESSAGE).then(|| elicitation(&message, properties, &["decision"]))
}

/// What a call would do, in words.
fn in_words(invocation: &Invocation, again: Option<&str>) -> String {
    let opened = &invocation.opened;
    let effect = match opened.effect {
        Effect::Read => "reads",
        Effect::Mutate => "changes something",
        Effect::Destructive => "takes something away for good",
    };
    let egress = match opened.egress {
        Egress::None => "nothing leaves the house",
        Egress::ReadOnly => "it asks an outside service",
        Egress::Write => "it changes something at an outside service",
    };
    let mut text = String::new();
    if let Some(again) = again {
        text.push_str(&format!("{again}.\n\n"));
    }
    text.push_str(&format!("May `{}` run? It {effect}; {egress}.", opened.tool));
    let review = invocation.review.as_deref();
    let preview = review.and_then(|review| review.preview.as_ref());
    let preview = preview.and_then(|preview| serde_json::from_str::<Preview>(preview.as_str()).ok());
    if let Some(preview) = preview {
        text.push_str(&format!("\n{}", whole(&preview.summary)));
        for change in &preview.changes {
            let side = |value: &Option<Value>| {
                value.as_ref().map_or("nothing".to_owned(), |v| whole(&v.to_string()))
            };
            text.push_str(&format!(
                "\n- {}: {} → {}",
                whole(&change.field),
                side(&change.before),
                side(&change.after)
            ));
        }
        match preview.reversible {
            Some(true) => text.push_str("\nIt can be taken back."),
            Some(false) => text.push_str("\nIt can't be taken back."),
            None => {}
        }
    }
    if let Some(failed) = review.and_then(|review| review.preview_failed.as_deref()) {
        text.push_str(&format!("\nThere is no preview: {}", whole(failed)));
    }
    text.push_str(&format!("\nInput: {}", whole(invocation.input().as_str())));
    text
}

/// All of a text on one line, with every character to be seen: tools and callers wrote it.
fn whole(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if hides(c) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Control characters, and those that are not seen or turn what stands around them.
fn hides(c: char) -> bool {
    // Emoji are drawn in colour by this one.
    c.is_control() || (is_invisible(c) && c != '\u{fe0f}')
}

/// One line, cut to size.
fn clean(text: &str) -> String {
    let mut shown = whole(&text.chars().take(MAX_SHOWN).collect::<String>());
    if text.chars().count() > MAX_SHOWN {
        shown.push('…');
    }
    shown
}

fn elicitation(message: &str, properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": { "type": "object", "properties": properties, "required": required },
    })
}

/// The form for a question to a person; none where the few kinds of fields that clients know do not suffice.
pub(crate) fn question(input: &JsonText, again: Option<&str>) -> Option<Value> {
    let request: InputRequest = serde_json::from_str(input.as_str()).ok()?;
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if let Some(questions) = &request.questions {
        for question in questions {
            properties.insert(question.id.clone(), field(question));
            if question.required {
                required.push(question.id.as_str());
            }
        }
    } else if let Some(choose) = &request.choose {
        // A picture is part of the choice, and clients can't show it.
        if choose.options.iter().any(|option| option.image.is_some()) {
            return None;
        }
        let options = options(&choose.options);
        let field = match choose.several {
            true => {
                json!({ "type": "array", "title": request.title, "items": { "anyOf": options }, "minItems": 1 })
            }
            false => json!({ "type": "string", "title": request.title, "oneOf": options }),
        };
        properties.insert("chosen".to_owned(), field);
        required.push("chosen");
    } else if let Some(approve) = &request.approve {
        properties
            .insert("approved".to_owned(), json!({ "type": "boolean", "title": clean(&approve.statement) }));
        properties.insert("notes".to_owned(), json!({ "type": "string", "title": "Notes" }));
        required.push("approved");
    } else {
        return None;
    }
    let said = [again, Some(request.title.as_str()), request.instructions.as_deref()];
    let message = said.into_iter().flatten().collect::<Vec<_>>().join("\n");
    Some(elicitation(&message, properties, &required))
}

/// One question, as the few kinds of fields that clients know have it.
fn field(question: &Question) -> Value {
    let mut field = match question.kind {
        QuestionKind::Text | QuestionKind::LongText => json!({ "type": "string" }),
        QuestionKind::Number => json!({ "type": "number" }),
        QuestionKind::Integer => json!({ "type": "integer" }),
        QuestionKind::Boolean => json!({ "type": "boolean" }),
        QuestionKind::Choice if question.several => {
            json!({ "type": "array", "items": { "anyOf": options(&question.options) } })
        }
        QuestionKind::Choice => json!({ "type": "string", "oneOf": options(&question.options) }),
    };
    field["title"] = json!(question.label);
    if let Some(description) = &question.description {
        field["description"] = json!(description);
    }
    if let Some(format) = question.format {
        field["format"] = json!(format.as_str());
    }
    if let Some(default) = &question.default {
        field["default"] = default.clone();
    }
    let (least, most) = match question.kind {
        QuestionKind::Text | QuestionKind::LongText => ("minLength", "maxLength"),
        QuestionKind::Number | QuestionKind::Integer => ("minimum", "maximum"),
        QuestionKind::Choice if question.several => ("minItems", "maxItems"),
        QuestionKind::Choice | QuestionKind::Boolean => return field,
    };
    for (keyword, bound) in [(least, question.min), (most, question.max)] {
        let Some(bound) = bound else { continue };
        // A count is a whole number, and clients hold one with a point against the form.
        #[allow(clippy::cast_possible_truncation, reason = "only whole numbers get there")]
        let whole = (bound.fract() == 0.0 && bound.abs() < 1e15).then_some(bound as i64);
        field[keyword] = whole.map_or_else(|| json!(bound), |whole| json!(whole));
    }
    field
}

fn options(options: &[ChoiceOption]) -> Vec<Value> {
    options.iter().map(|option| json!({ "const": option.id, "title": option.label })).collect()
}

/// A page to open.
pub(crate) fn address(message: &str, url: &str, id: &str) -> Value {
    json!({ "mode": "url", "message": message, "url": url, "elicitationId": id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_in_what_a_person_says_yes_to() {
        assert_eq!(whole("pay\u{202e}ada\n"), "pay\\u{202e}ada ");
        assert_eq!(whole("a\u{200b}b\u{1b}[31m"), "a\\u{200b}b\\u{1b}[31m");
        let long = "x".repeat(10_000);
        assert_eq!(whole(&long), long);
    }
}

//! One question with an answer of its own: how it is answered, and whether an answer fits.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input_request::{ChoiceOption, is_text};

/// A question of a form.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Question {
    /// What the answer is called.
    pub id: String,
    /// What is asked.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it is answered.
    #[serde(default)]
    pub kind: QuestionKind,
    /// Whether it may not be left out.
    #[serde(default)]
    pub required: bool,
    /// What to choose from, for a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ChoiceOption>,
    /// Whether several options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
    /// The least: of a number, of a text's characters, of options chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// What a line of text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<QuestionFormat>,
    /// What stands there before anyone answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A line.
    #[default]
    Text,
    /// Some lines.
    LongText,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// One of its options, or several.
    Choice,
}

/// What a line of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionFormat {
    /// A mail address.
    Email,
    /// A web address.
    Uri,
    /// A day.
    Date,
    /// A moment.
    DateTime,
}

impl QuestionFormat {
    /// The word for it, as JSON Schema has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// Whether a text has this form at a glance: whoever asked looks closer.
    fn fits(self, text: &str) -> bool {
        let text = text.trim();
        let date = |day: &str| {
            let parts: Vec<&str> = day.split('-').collect();
            let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
            parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(digits)
        };
        match self {
            Self::Email => text.split_once('@').is_some_and(|(who, at)| {
                !who.is_empty() && !at.is_empty() && !at.contains('@') && !text.contains(char::is_whitespace)
            }),
            Self::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
                !scheme.is_empty()
                    && scheme.bytes().all(plain)
                    && !rest.is_empty()
                    && !text.contains(char::is_whitespace)
            }),
            Self::Date => date(text),
            // A browser's own field gives it without seconds and zone.
            Self::DateTime => text.split_once(['T', 't', ' ']).is_some_and(|(day, time)| {
                date(day) && time.len() >= 5 && time.as_bytes().get(2) == Some(&b':')
            }),
        }
    }
}

impl Question {
    /// What is wrong with the question beyond its schema.
    pub(crate) fn check(&self) -> Result<(), String> {
        let id = &self.id;
        if (self.kind == QuestionKind::Choice) == self.options.is_empty() {
            return Err(format!("`{id}`: a choice has `options`, and nothing else has"));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.options.iter().find(|option| !seen.insert(option.id.as_str())) {
            return Err(format!("`{id}`: the option `{}` is there twice", twice.id));
        }
        if self.options.iter().any(|option| option.image.is_some()) {
            return Err(format!("`{id}`: options of a question have no pictures"));
        }
        if self.several && self.kind != QuestionKind::Choice {
            return Err(format!("`{id}`: only a choice can have `several` answers"));
        }
        if self.format.is_some() && self.kind != QuestionKind::Text {
            return Err(format!("`{id}`: only a line of text has a `format`"));
        }
        match &self.default {
            Some(default) if !self.fits(default) => Err(format!("`{id}`: its `default` does not fit")),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether an answer has the right form.
    #[must_use]
    pub fn fits(&self, answer: &Value) -> bool {
        let within =
            |size: f64| self.min.is_none_or(|min| size >= min) && self.max.is_none_or(|max| size <= max);
        let known = |id: &str| self.options.iter().any(|option| option.id == id);
        match self.kind {
            QuestionKind::Text | QuestionKind::LongText => {
                let text = answer.as_str().unwrap_or_default();
                is_text(answer)
                    && within(text.chars().count() as f64)
                    && self.format.is_none_or(|format| format.fits(text))
            }
            QuestionKind::Number => answer.as_f64().is_some_and(within),
            QuestionKind::Integer => {
                answer.as_f64().is_some_and(|number| number.fract() == 0.0 && within(number))
            }
            QuestionKind::Boolean => answer.is_boolean(),
            QuestionKind::Choice if self.several => answer.as_array().is_some_and(|chosen| {
                let ids: Vec<&str> = chosen.iter().filter_map(Value::as_str).collect();
                let distinct: HashSet<&str> = ids.iter().copied().collect();
                ids.len() == chosen.len()
                    && distinct.len() == ids.len()
                    && ids.iter().all(|id| known(id))
                    && within(ids.len() as f64)
            }),
            QuestionKind::Choice => answer.as_str().is_some_and(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(value: Value) -> Question {
        let mut whole = json!({ "id": "q", "label": "l" });
        for (key, value) in value.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    fn check(asked: Value, good: &[Value], bad: &[Value]) {
        let question = question(asked);
        assert_eq!(question.check(), Ok(()));
        for answer in good {
            assert!(question.fits(answer), "{question:?} {answer}");
        }
        for answer in bad {
            assert!(!question.fits(answer), "{question:?} {answer}");
        }
    }

    #[test]
    fn answers_have_the_form_that_was_asked_for() {
        check(
            json!({ "min": 2, "max": 3 }),
            &[json!("ab"), json!("äöü")],
            &[json!("a"), json!("abcd"), json!(2)],
        );
        check(
            json!({ "kind": "integer", "min": 1 }),
            &[json!(1), json!(2.0)],
            &[json!(0), json!(1.5), json!("1")],
        );
        check(json!({ "kind": "boolean" }), &[json!(true), json!(false)], &[json!("yes"), json!(1)]);
        let options = json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }]);
        check(json!({ "kind": "choice", "options": options }), &[json!("a")], &[json!("c"), json!(["a"])]);
        check(
            json!({ "kind": "choice", "options": options, "several": true, "min": 1 }),
            &[json!(["a"]), json!(["b", "a"])],
            &[json!([]), json!(["a", "a"]), json!(["c"]), json!("a"), json!([1])],
        );
    }

    #[test]
    fn a_line_may_have_to_be_something() {
        let check = |format: &str, good: &str, bad: &[&str]| {
            let bad: Vec<Value> = bad.iter().map(|text| json!(text)).collect();
            check(json!({ "format": format }), &[json!(good)], &bad);
        };
        check("email", "ada@example.com", &["ada", "@x", "a@b@c", "a b@c"]);
        check("uri", "https://example.com/x", &["example", "https:", "a b:c"]);
        check("date", "2026-01-31", &["31.1.2026", "2026-1-31", "2026-01-3x"]);
        check("date-time", "2026-01-31T12:00:00Z", &["2026-01-31", "12:00"]);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        for bad in [
            json!({ "kind": "choice" }),
            json!({ "options": [{ "id": "a", "label": "A" }] }),
            json!({ "kind": "choice", "options": [{ "id": "a", "label": "A" }, { "id": "a", "label": "B" }] }),
            json!({ "several": true }),
            json!({ "kind": "number", "format": "date" }),
            json!({ "kind": "boolean", "default": "yes" }),
        ] {
            assert!(question(bad.clone()).check().is_err(), "{bad}");
        }
    }
}

//! A server's question as a form for a person here, and the person's answer as the server wants it.
//!
//! The words are a stranger's: they are cut, cleaned and shown under the server's name. A form that asks for something
//! secret is refused as the protocol demands; what a server needs to know who someone is comes by a connection.

use serde_json::{Map, Value, json};
use toolgate_core::input_request::{
    Approve, ChoiceOption, InputRequest, Question, QuestionFormat, QuestionKind,
};

use crate::clean::{described, quoted, shortened};
use crate::phishing::{asks_for_secret, speaks_of_secret};

/// The largest form that is looked at, in bytes.
const LARGEST: usize = 32 * 1024;
const MOST_FIELDS: usize = 20;
const MOST_OPTIONS: usize = 100;
const LONGEST_MESSAGE: usize = 2_000;
const LONGEST_LABEL: usize = 200;
const LONGEST_DESCRIPTION: usize = 500;
/// A text that may be longer than this gets some lines.
const LONG: f64 = 300.0;
/// Bounds that lie farther out bound nothing.
const FARTHEST: f64 = 1e12;

/// Why a question is not put to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Something secret.
    Secret,
    /// To open a page of its own.
    Page,
    /// Something that is no form.
    NoForm,
    /// More than a person can be shown.
    TooLarge,
    /// Too often in one call.
    TooMany,
    /// While as many people as may be are asked.
    Crowded,
    /// While another call runs over the same connection, so that nobody can tell whose question it is.
    Whose,
    /// What our own rules don't let the caller ask.
    NotAllowed,
}

impl Refusal {
    /// What is wrong with it, to stand after "it asks".
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Secret => "for something secret, such as a password, a token or a card number",
            Self::Page => "to open a page of its own",
            Self::NoForm => "for something that is no form",
            Self::TooLarge => "for more than a person can be shown",
            Self::TooMany => "too often",
            Self::Crowded => "while as many of its questions are open as may be",
            Self::Whose => "while several calls run, and does not say for which",
            Self::NotAllowed => "a person whom this caller may not ask",
        }
    }
}

/// A question as a person here sees it.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) request: InputRequest,
    fields: Vec<Field>,
}

/// What an answer is called here and there.
#[derive(Debug)]
struct Field {
    id: String,
    name: String,
    kind: QuestionKind,
    /// Ids of options here, and what the server calls them.
    options: Vec<(String, String)>,
}

impl Form {
    /// Reads the parameters of `elicitation/create`.
    pub(crate) fn read(server: &str, params: &Value) -> Result<Self, Refusal> {
        match params.get("mode").map(Value::as_str) {
            None | Some(Some("form")) => {}
            Some(Some("url")) => return Err(Refusal::Page),
            Some(_) => return Err(Refusal::NoForm),
        }
        let schema = params.get("requestedSchema").ok_or(Refusal::NoForm)?;
        if params.to_string().len() > LARGEST {
            return Err(Refusal::TooLarge);
        }
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let none = Map::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err(Refusal::NoForm),
        };
        if properties.len() > MOST_FIELDS {
            return Err(Refusal::TooLarge);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let mut questions = Vec::with_capacity(properties.len());
        let mut fields = Vec::with_capacity(properties.len());
        for (at, (name, property)) in properties.iter().enumerate() {
            let (mut question, options) = field(name, property)?;
            question.id = id_of(name, at, "field");
            question.required = required.is_some_and(|required| required.iter().any(|known| known == name));
            let kind = question.kind;
            fields.push(Field { id: question.id.clone(), name: name.clone(), kind, options });
            questions.push(question);
        }
        if speaks_of_secret(message) && questions.iter().any(|question| is_open(question.kind)) {
            return Err(Refusal::Secret);
        }
        let message = shortened(described(message), LONGEST_MESSAGE);
        let title = format!("The MCP server `{server}` asks");
        let mut request = InputRequest {
            title,
            instructions: None,
            questions: None,
            choose: None,
            markup: None,
            approve: None,
        };
        if questions.is_empty() {
            let statement = if message.trim().is_empty() { "Go on?".to_owned() } else { message };
            request.approve = Some(Approve { statement });
        } else {
            request.instructions = Some(message).filter(|message| !message.trim().is_empty());
            request.questions = Some(questions);
        }
        request.check().map_err(|_| Refusal::NoForm)?;
        Ok(Self { request, fields })
    }

    /// What a server is told of an answer.
    pub(crate) fn answer(&self, answers: &Value) -> Value {
        if self.request.approve.is_some() {
            return match answers.get("approved").and_then(Value::as_bool) {
                Some(true) => json!({ "action": "accept", "content": {} }),
                Some(false) | None => json!({ "action": "decline" }),
            };
        }
        let mut content = Map::new();
        for field in &self.fields {
            let Some(given) = answers.get(&field.id) else { continue };
            content.insert(field.name.clone(), field.named(given));
        }
        json!({ "action": "accept", "content": content })
    }
}

impl Field {
    /// An answer in the server's own words.
    fn named(&self, given: &Value) -> Value {
        match (self.kind, given) {
            (QuestionKind::Choice, Value::Array(chosen)) => chosen.iter().map(|id| self.option(id)).collect(),
            (QuestionKind::Choice, id) => self.option(id),
            // A form's numbers come with a point, whole or not.
            #[allow(clippy::cast_possible_truncation, reason = "whole, and small enough to be exact")]
            (QuestionKind::Integer, number) => match number.as_f64().filter(|number| number.abs() < 1e15) {
                Some(number) => json!(number as i64),
                None => number.clone(),
            },
            (_, given) => given.clone(),
        }
    }

    fn option(&self, id: &Value) -> Value {
        let known = self.options.iter().find(|(known, _)| id == known);
        known.map_or_else(|| id.clone(), |(_, name)| json!(name))
    }
}

/// One property as a question, and what its options are called at the server.
fn field(name: &str, property: &Value) -> Result<(Question, Vec<(String, String)>), Refusal> {
    let text = |key: &str| property.get(key).and_then(Value::as_str);
    let number =
        |key: &str| property.get(key).and_then(Value::as_f64).filter(|bound| bound.abs() <= FARTHEST);
    let chosen = options(property).or_else(|| options(property.get("items")?));
    if chosen.is_none() && ["enum", "oneOf", "anyOf"].iter().any(|key| property.get(key).is_some()) {
        return Err(Refusal::NoForm);
    }
    let several = text("type") == Some("array");
    let kind = match (text("type"), &chosen) {
        (Some("string") | Some("array") | None, Some(_)) => QuestionKind::Choice,
        (Some("string"), None) if number("maxLength").is_some_and(|most| most > LONG) => {
            QuestionKind::LongText
        }
        (Some("string"), None) => QuestionKind::Text,
        (Some("number"), None) => QuestionKind::Number,
        (Some("integer"), None) => QuestionKind::Integer,
        (Some("boolean"), None) => QuestionKind::Boolean,
        _ => return Err(Refusal::NoForm),
    };
    let title = text("title").filter(|title| !title.trim().is_empty()).unwrap_or(name);
    let named = [name, title].into_iter().any(asks_for_secret);
    let described = speaks_of_secret(text("description").unwrap_or_default());
    if is_open(kind) && (named || described || text("format") == Some("password")) {
        return Err(Refusal::Secret);
    }
    let chosen = chosen.unwrap_or_default();
    if chosen.len() > MOST_OPTIONS {
        return Err(Refusal::TooLarge);
    }
    let ids: Vec<(String, String)> = chosen
        .iter()
        .enumerate()
        .map(|(at, (value, _))| (id_of(value, at, "option"), value.clone()))
        .collect();
    let (min, max) = match kind {
        QuestionKind::Text | QuestionKind::LongText => (number("minLength"), number("maxLength")),
        QuestionKind::Number | QuestionKind::Integer => (number("minimum"), number("maximum")),
        QuestionKind::Choice if several => (number("minItems"), number("maxItems")),
        QuestionKind::Choice | QuestionKind::Boolean => (None, None),
    };
    let format = match (kind, text("format")) {
        (QuestionKind::Text, Some("email")) => Some(QuestionFormat::Email),
        (QuestionKind::Text, Some("uri")) => Some(QuestionFormat::Uri),
        (QuestionKind::Text, Some("date")) => Some(QuestionFormat::Date),
        (QuestionKind::Text, Some("date-time")) => Some(QuestionFormat::DateTime),
        _ => None,
    };
    let mut question = Question {
        label: label(title),
        description: text("description").map(|text| quoted(text, LONGEST_DESCRIPTION)),
        kind,
        options: chosen
            .iter()
            .zip(&ids)
            .map(|((_, title), (id, _))| ChoiceOption {
                id: id.clone(),
                label: label(title),
                description: None,
                image: None,
            })
            .collect(),
        several,
        min,
        max,
        format,
        ..Question::default()
    };
    let default = property.get("default").map(|default| here(default, &ids));
    question.default = default.filter(|default| question.fits(default) && default.to_string().len() <= 1_000);
    Ok((question, ids))
}

/// What is chosen from, with a name for people, where a property is a choice: in each of the ways there were.
fn options(property: &Value) -> Option<Vec<(String, String)>> {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let names = property.get("enumNames").and_then(Value::as_array);
        let name = |at: usize| names.and_then(|names| names.get(at)).and_then(Value::as_str);
        let texts = values.iter().enumerate();
        return texts
            .map(|(at, value)| {
                value.as_str().map(|value| (value.to_owned(), name(at).unwrap_or(value).to_owned()))
            })
            .collect();
    }
    let titled = property.get("oneOf").or_else(|| property.get("anyOf"))?.as_array()?;
    titled
        .iter()
        .map(|option| {
            let value = option.get("const")?.as_str()?;
            let title = option.get("title").and_then(Value::as_str).unwrap_or(value);
            Some((value.to_owned(), title.to_owned()))
        })
        .collect()
}

/// A value of the server's, as it is called here.
fn here(value: &Value, ids: &[(String, String)]) -> Value {
    let id = |value: &Value| {
        let known = ids.iter().find(|(_, name)| value == name);
        known.map_or_else(|| value.clone(), |(id, _)| json!(id))
    };
    match value {
        Value::Array(values) => values.iter().map(id).collect(),
        value => id(value),
    }
}

/// The server's own name where it can be an id here, else a number.
fn id_of(name: &str, at: usize, what: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    // What is numbered could meet a name that looks so.
    let numbered = name.starts_with(&format!("{what}-"));
    match (1..=64).contains(&name.len()) && name.bytes().all(plain) && !numbered {
        true => name.to_owned(),
        false => format!("{what}-{}", at + 1),
    }
}

/// Whether anything at all can be written there.
const fn is_open(kind: QuestionKind) -> bool {
    !matches!(kind, QuestionKind::Choice | QuestionKind::Boolean)
}

fn label(text: &str) -> String {
    match quoted(text, LONGEST_LABEL) {
        label if label.is_empty() => "?".to_owned(),
        label => label,
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;

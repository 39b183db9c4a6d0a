//! Questions put to a person by a link: what is asked, and whether an answer fits.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use crate::question::{Question, QuestionFormat, QuestionKind};

/// The tool that asks people.
pub const TOOL: &str = "core__request_input";

/// What is asked. One of the four kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputRequest {
    /// What the form is called.
    pub title: String,
    /// What the person should know first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Questions, each with an answer of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// Two to six options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<Choose>,
    /// An image to comment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markup: Option<Markup>,
    /// Yes or no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<Approve>,
}

/// Two to six options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choose {
    /// The options.
    pub options: Vec<ChoiceOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub several: bool,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceOption {
    /// What the answer calls it.
    pub id: String,
    /// What people see.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A picture, as a `data:` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// An image to comment on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Markup {
    /// The picture, as a `data:` address.
    pub image: String,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// What is said yes or no to.
    pub statement: String,
}

const MAX_ANSWER: usize = 10_000;
const MAX_NOTES: usize = 50;

impl InputRequest {
    /// What is wrong with the request beyond its schema.
    ///
    /// # Errors
    /// One sentence.
    pub fn check(&self) -> Result<(), String> {
        let kinds =
            [self.questions.is_some(), self.choose.is_some(), self.markup.is_some(), self.approve.is_some()];
        if kinds.iter().filter(|is| **is).count() != 1 {
            return Err(
                "exactly one of `questions`, `choose`, `markup` and `approve` must be there".to_owned()
            );
        }
        let questions = self.questions.iter().flatten().map(|question| &question.id);
        let options = self.choose.iter().flat_map(|choose| &choose.options).map(|option| &option.id);
        let mut seen = HashSet::new();
        if let Some(twice) = questions.chain(options).find(|id| !seen.insert(id.as_str())) {
            return Err(format!("the id `{twice}` is there twice"));
        }
        self.questions.iter().flatten().try_for_each(Question::check)?;
        let pictures = self.choose.iter().flat_map(|choose| &choose.options).filter_map(|o| o.image.as_ref());
        // A picture from elsewhere would tell that host who looks, and when.
        let is_picture = |image: &String| {
            [
                "data:image/png;base64,",
                "data:image/jpeg;base64,",
                "data:image/webp;base64,",
                "data:image/gif;base64,",
            ]
            .iter()
            .any(|start| image.starts_with(start))
        };
        if pictures.chain(self.markup.iter().map(|markup| &markup.image)).any(|image| !is_picture(image)) {
            return Err("a picture must be a `data:` address of a PNG, JPEG, WebP or GIF".to_owned());
        }
        Ok(())
    }

    /// Checks an answer and puts it into its final form.
    ///
    /// # Errors
    /// What does not fit, in one sentence that repeats nothing of the answer.
    pub fn answer(&self, answer: &Value) -> Result<Value, String> {
        let fields = answer.as_object().ok_or("the answer must be an object")?;
        let known: Vec<&str> = match (&self.questions, &self.choose, &self.markup) {
            (Some(questions), ..) => questions.iter().map(|question| question.id.as_str()).collect(),
            (_, Some(_), _) => vec!["chosen"],
            (_, _, Some(_)) => vec!["notes"],
            _ => vec!["approved", "notes"],
        };
        if fields.keys().any(|key| !known.contains(&key.as_str())) {
            return Err("the answer has a field that was not asked for".to_owned());
        }
        match (&self.questions, &self.choose, &self.markup) {
            (Some(questions), ..) => questions_answered(questions, fields),
            (_, Some(choose), _) => chosen(choose, fields),
            (_, _, Some(_)) => noted(fields),
            _ => approved(fields),
        }
    }
}

fn questions_answered(questions: &[Question], fields: &Map<String, Value>) -> Result<Value, String> {
    let mut answers = Map::new();
    for question in questions {
        let given = fields.get(&question.id).filter(|value| !is_empty(value));
        let Some(value) = given else {
            if question.required {
                return Err(format!("`{}` must be answered", question.id));
            }
            continue;
        };
        if !question.fits(value) {
            return Err(format!("the answer to `{}` has the wrong form", question.id));
        }
        answers.insert(question.id.clone(), value.clone());
    }
    Ok(Value::Object(answers))
}

fn chosen(choose: &Choose, fields: &Map<String, Value>) -> Result<Value, String> {
    let chosen: Vec<&str> = match fields.get("chosen") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let distinct: HashSet<&str> = chosen.iter().copied().collect();
    let known = |id: &&str| choose.options.iter().any(|option| option.id == *id);
    if chosen.is_empty() || distinct.len() != chosen.len() || !chosen.iter().all(known) {
        return Err("choose from the options that are there".to_owned());
    }
    if !choose.several && chosen.len() != 1 {
        return Err("choose one option".to_owned());
    }
    Ok(json!({ "chosen": chosen }))
}

fn noted(fields: &Map<String, Value>) -> Result<Value, String> {
    let notes = fields.get("notes").and_then(Value::as_array).ok_or("`notes` must be a list")?;
    let percent = |note: &Value, axis: &str| {
        note.get(axis).is_none_or(|at| at.as_f64().is_some_and(|at| (0.0..=100.0).contains(&at)))
    };
    let fits = |note: &Value| {
        note.as_object()
            .is_some_and(|fields| fields.keys().all(|key| ["x", "y", "text"].contains(&key.as_str())))
            && note.get("text").is_some_and(|text| is_text(text) && !is_empty(text))
            && percent(note, "x")
            && percent(note, "y")
    };
    if notes.is_empty() || notes.len() > MAX_NOTES || !notes.iter().all(fits) {
        return Err(format!("send 1 to {MAX_NOTES} notes, each with `text` and a place in percent"));
    }
    Ok(json!({ "notes": notes }))
}

fn approved(fields: &Map<String, Value>) -> Result<Value, String> {
    let approved =
        fields.get("approved").and_then(Value::as_bool).ok_or("`approved` must be true or false")?;
    let notes = fields.get("notes").filter(|notes| !is_empty(notes));
    match notes {
        None => Ok(json!({ "approved": approved })),
        Some(notes) if is_text(notes) => Ok(json!({ "approved": approved, "notes": notes })),
        Some(_) => Err("`notes` must be a text".to_owned()),
    }
}

pub(crate) fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().count() <= MAX_ANSWER && !text.contains('\0'))
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_str().is_some_and(|text| text.trim().is_empty())
        || value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(value: Value) -> InputRequest {
        serde_json::from_value(value).unwrap()
    }

    fn check(asked: &Value, answer: Value, expected: Option<Value>) {
        assert_eq!(request(asked.clone()).answer(&answer).ok(), expected, "{answer}");
    }

    #[test]
    fn one_kind_at_a_time_with_ids_of_their_own() {
        let option = |id: &str| json!({ "id": id, "label": "l" });
        for (bad, said) in [
            (json!({ "title": "t" }), "exactly one"),
            (json!({ "title": "t", "approve": { "statement": "s" }, "questions": [] }), "exactly one"),
            (json!({ "title": "t", "choose": { "options": [option("a"), option("a")] } }), "twice"),
            (json!({ "title": "t", "markup": { "image": "https://elsewhere.example/x.png" } }), "data:"),
            (json!({ "title": "t", "markup": { "image": "data:image/svg+xml;base64,x" } }), "data:"),
        ] {
            assert!(request(bad).check().unwrap_err().contains(said));
        }
        let good = json!({ "title": "t", "choose": { "options": [option("a"), option("b")] } });
        assert!(request(good).check().is_ok());
    }

    #[test]
    fn answers_fit_what_was_asked() {
        let questions = json!({ "title": "t", "questions": [
            { "id": "name", "label": "n", "required": true }, { "id": "age", "label": "a", "kind": "number" } ] });
        check(&questions, json!({ "name": "Ada", "age": 36 }), Some(json!({ "name": "Ada", "age": 36 })));
        check(&questions, json!({ "name": "Ada", "age": null }), Some(json!({ "name": "Ada" })));
        for bad in [
            json!({}),
            json!({ "name": " " }),
            json!({ "name": 5 }),
            json!({ "name": "A", "age": "x" }),
            json!({ "name": "A", "more": 1 }),
            json!([]),
            json!({ "name": "x".repeat(10_001) }),
        ] {
            check(&questions, bad, None);
        }
        let one = json!({ "title": "t", "choose": { "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] } });
        check(&one, json!({ "chosen": "a" }), Some(json!({ "chosen": ["a"] })));
        for bad in [
            json!({}),
            json!({ "chosen": "c" }),
            json!({ "chosen": ["a", "b"] }),
            json!({ "chosen": ["a", "a"] }),
        ] {
            check(&one, bad, None);
        }
        let markup = json!({ "title": "t", "markup": { "image": "data:image/png;base64,x" } });
        check(
            &markup,
            json!({ "notes": [{ "text": "here", "x": 5, "y": 99.5 }] }),
            Some(json!({ "notes": [{ "text": "here", "x": 5, "y": 99.5 }] })),
        );
        for bad in [
            json!({ "notes": [] }),
            json!({ "notes": [{ "text": "" }] }),
            json!({ "notes": [{ "text": "a", "x": 101 }] }),
        ] {
            check(&markup, bad, None);
        }
        let approve = json!({ "title": "t", "approve": { "statement": "s" } });
        check(
            &approve,
            json!({ "approved": false, "notes": "no" }),
            Some(json!({ "approved": false, "notes": "no" })),
        );
        check(&approve, json!({ "approved": "yes" }), None);
    }
}

//! Asks a person by a link, and waits for the answer.
//!
//! What it does is to check the request and hand it on: the gate makes the link, shows the form and takes the answer.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::input_request::InputRequest;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(RequestInput)
}

/// What to ask. Exactly one of `questions`, `choose`, `markup` and `approve`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// What the form is called.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// What the person should know first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4000))]
    instructions: Option<String>,
    /// Questions, each with an answer of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20))]
    questions: Option<Vec<Question>>,
    /// A choice between two to six options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choose: Option<Choose>,
    /// An image to comment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    markup: Option<Markup>,
    /// Something to say yes or no to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approve: Option<Approve>,
    /// For how many seconds the link works, at most 30 days.
    #[serde(default = "a_day")]
    #[schemars(range(min = 60, max = 2_592_000))]
    expires_in_seconds: u64,
}

/// A question with an answer of its own.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
struct Question {
    /// What the answer is called.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    id: String,
    /// What is asked.
    #[schemars(length(min = 1, max = 500))]
    label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    description: Option<String>,
    /// How it is answered.
    #[serde(default)]
    kind: Kind,
    /// Whether it may not be left out.
    #[serde(default)]
    required: bool,
    /// What to choose from, for a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    options: Vec<ChoiceOption>,
    /// Whether several options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    several: bool,
    /// The least: of a number, of a text's characters, of options chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1e12, max = 1e12))]
    min: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1e12, max = 1e12))]
    max: Option<f64>,
    /// What a line of text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
    /// What stands there before anyone answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
}

/// What a line of text is: a mail address, a web address, a day or a moment.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// How a question is answered: a line, some lines, a number, a whole number, yes or no, or from its options.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Text,
    LongText,
    Number,
    Integer,
    Boolean,
    Choice,
}

/// Two to six options.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
struct Choose {
    /// The options.
    #[schemars(length(min = 2, max = 6))]
    options: Vec<ChoiceOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    several: bool,
}

/// One option.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
struct ChoiceOption {
    /// What the answer calls it.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    id: String,
    /// What people see.
    #[schemars(length(min = 1, max = 200))]
    label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    description: Option<String>,
    /// A picture, as a `data:` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200_000))]
    image: Option<String>,
}

/// An image to comment on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
struct Markup {
    /// The picture, as a `data:` address.
    #[schemars(length(min = 1, max = 700_000))]
    image: String,
}

/// Something to say yes or no to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
struct Approve {
    /// What is said yes or no to.
    #[schemars(length(min = 1, max = 2000))]
    statement: String,
}

const fn a_day() -> u64 {
    24 * 60 * 60
}

fn example() -> Value {
    json!({ "title": "Which way?", "choose": { "options": [
        { "id": "bold", "label": "Bold" }, { "id": "quiet", "label": "Quiet" } ] } })
}

/// What the person answered.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// Always `input_request`.
    kind: String,
    /// The answers: by question id, or `chosen`, `notes`, `approved`.
    answers: BTreeMap<String, Value>,
}

struct RequestInput;

impl Tool for RequestInput {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__request_input", "Ask a person")
            .describe(
                "Asks a person something by a link to a form, and waits for the answer. Use it when only a person can \
                 say: a form with questions, a choice between two to six options, comments on an image, or a yes or no. The \
                 call is pending at first and gives a `share_url`: hand it to the person whose answer you need. The \
                 result comes when they have answered. Don't use it for what you can find out yourself.",
            )
            .category("people", "message-circle-question")
            .shows(&["kind", "answers"])
            .alias("core__request_feedback", "2027-06-30")
    }

    async fn run(&self, input: Input, _: &ToolContext) -> Result<Output, ToolFailure> {
        let within = Duration::from_secs(input.expires_in_seconds);
        let request: Option<InputRequest> =
            serde_json::to_value(&input).ok().and_then(|value| serde_json::from_value(value).ok());
        match request.map(|request| request.check()) {
            Some(Ok(())) => Err(ToolFailure::HandedOn { to: "a person's answer", within }),
            Some(Err(what)) => Err(ToolFailure::failed(what)),
            None => Err(ToolFailure::failed("the request could not be read")),
        }
    }
}

//! The page behind a link that asks a person something. Plain, without a script; the web UI has a finer one.

use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value, json};
use toolgate_core::input_request::{ChoiceOption, InputRequest, Question, QuestionKind};

use super::page::{POLICY_WITH_PICTURES, alert, escape, page, page_with};
use super::peer::Peer;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{PathId, read};

/// How many comments the plain page has room for.
const NOTES: usize = 5;

pub(super) async fn show(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
) -> Response {
    match state.app.read_input_request(&token, peer).await {
        Ok(open) => form(&open.request, ""),
        Err(cause) => gone(&cause.into()),
    }
}

pub(super) async fn submit(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
    Fields(fields): Fields,
) -> Response {
    let open = match state.app.read_input_request(&token, peer).await {
        Ok(open) => open,
        Err(cause) => return gone(&cause.into()),
    };
    let answer = answer_of(&open.request, &fields);
    match state.app.answer_input_request(&token, &answer, peer).await {
        Ok(()) => {
            page(StatusCode::OK, "Thank you", "<p>Your answer is on its way. You can close this page.</p>\n")
        }
        Err(cause) => form(&open.request, &alert(&cause.into())),
    }
}

/// The fields of a form, in the order they came.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl FromRequest<ServerState> for Fields {
    type Rejection = Response;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_form = kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        let fields = async {
            let bytes = read(request, state).await?;
            let parsed = if is_form { serde_urlencoded::from_bytes(&bytes).ok() } else { None };
            parsed.ok_or_else(|| ApiError::door(toolgate_api::DoorCode::BadRequest, "the form can't be read"))
        };
        fields.await.map(Self).map_err(|cause: ApiError| gone(&cause))
    }
}

fn gone(cause: &ApiError) -> Response {
    page(cause.status(), "This link does not work", &alert(cause))
}

fn form(request: &InputRequest, said: &str) -> Response {
    let mut main = String::from(said);
    if let Some(instructions) = &request.instructions {
        for paragraph in instructions.split("\n\n") {
            main.push_str(&format!("<p>{}</p>\n", escape(paragraph)));
        }
    }
    main.push_str("<form method=\"post\">\n");
    for question in request.questions.iter().flatten() {
        main.push_str(&asked(question));
    }
    if let Some(choose) = &request.choose {
        let legend = if choose.several { "Choose one or more" } else { "Choose one" };
        main.push_str(&format!("<fieldset>\n<legend>{legend}</legend>\n"));
        for option in &choose.options {
            main.push_str(&offered(option, choose.several));
        }
        main.push_str("</fieldset>\n");
    }
    if let Some(markup) = &request.markup {
        main.push_str(&format!(
            "<p><img alt=\"The image to comment on\" src=\"{}\"></p>\n",
            escape(&markup.image)
        ));
        for number in 1..=NOTES {
            main.push_str(&format!(
                "<fieldset>\n<legend>Comment {number}</legend>\n\
                 <p><label for=\"text{number}\">What</label>\n<textarea id=\"text{number}\" name=\"text{number}\"></textarea></p>\n\
                 <p><label for=\"x{number}\">From the left, in percent</label>\n\
                 <input id=\"x{number}\" name=\"x{number}\" type=\"number\" min=\"0\" max=\"100\" step=\"any\"></p>\n\
                 <p><label for=\"y{number}\">From the top, in percent</label>\n\
                 <input id=\"y{number}\" name=\"y{number}\" type=\"number\" min=\"0\" max=\"100\" step=\"any\"></p>\n</fieldset>\n"
            ));
        }
    }
    if let Some(approve) = &request.approve {
        main.push_str(&format!(
            "<fieldset>\n<legend>{}</legend>\n\
             <p><label><input type=\"radio\" name=\"approved\" value=\"yes\" required> Yes</label></p>\n\
             <p><label><input type=\"radio\" name=\"approved\" value=\"no\"> No</label></p>\n</fieldset>\n\
             <p><label for=\"notes\">Anything to add</label>\n<textarea id=\"notes\" name=\"notes\"></textarea></p>\n",
            escape(&approve.statement)
        ));
    }
    main.push_str("<p><button type=\"submit\">Send</button></p>\n</form>\n");
    page_with(StatusCode::OK, &request.title, &main, POLICY_WITH_PICTURES)
}

fn asked(question: &Question) -> String {
    let (id, label) = (escape(&question.id), escape(&question.label));
    let required = if question.required { " required" } else { "" };
    let field = match question.kind {
        QuestionKind::Text => {
            format!("<input id=\"q-{id}\" name=\"q-{id}\" type=\"text\" maxlength=\"10000\"{required}>")
        }
        QuestionKind::LongText => {
            format!("<textarea id=\"q-{id}\" name=\"q-{id}\" maxlength=\"10000\"{required}></textarea>")
        }
        QuestionKind::Number => {
            format!("<input id=\"q-{id}\" name=\"q-{id}\" type=\"number\" step=\"any\"{required}>")
        }
    };
    format!("<p><label for=\"q-{id}\">{label}</label>\n{field}</p>\n")
}

fn offered(option: &ChoiceOption, several: bool) -> String {
    let (kind, required) = if several { ("checkbox", "") } else { ("radio", " required") };
    let picture = option.image.as_ref().map(|image| format!("<img alt=\"\" src=\"{}\">", escape(image)));
    let more = option.description.as_ref().map(|text| format!(" <span>{}</span>", escape(text)));
    format!(
        "<p><label><input type=\"{kind}\" name=\"chosen\" value=\"{}\"{required}> {}{}{}</label></p>\n",
        escape(&option.id),
        escape(&option.label),
        more.unwrap_or_default(),
        picture.unwrap_or_default(),
    )
}

/// The answer that a form's fields spell. Whether it fits is not decided here.
fn answer_of(request: &InputRequest, fields: &[(String, String)]) -> Value {
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    };
    let number = |text: &str| text.parse::<f64>().ok().map_or_else(|| json!(text), |number| json!(number));
    if let Some(questions) = &request.questions {
        let mut answers = Map::new();
        for question in questions {
            let Some(text) = field(&format!("q-{}", question.id)) else { continue };
            let value = if question.kind == QuestionKind::Number { number(text) } else { json!(text) };
            answers.insert(question.id.clone(), value);
        }
        return Value::Object(answers);
    }
    if request.choose.is_some() {
        let chosen: Vec<&str> =
            fields.iter().filter(|(key, _)| key == "chosen").map(|(_, value)| value.as_str()).collect();
        return json!({ "chosen": chosen });
    }
    if request.markup.is_some() {
        let notes = (1..=NOTES).filter_map(|at| {
            let mut note = json!({ "text": field(&format!("text{at}"))? });
            for axis in ["x", "y"] {
                if let Some(text) = field(&format!("{axis}{at}")) {
                    note[axis] = number(text);
                }
            }
            Some(note)
        });
        return json!({ "notes": notes.collect::<Vec<_>>() });
    }
    let approved = match field("approved") {
        Some("yes") => json!(true),
        Some("no") => json!(false),
        _ => Value::Null,
    };
    json!({ "approved": approved, "notes": field("notes") })
}

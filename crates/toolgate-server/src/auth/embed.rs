//! The page behind a link that asks a person something. It works without a script; where the web UI is built in, a small
//! one makes it finer.

use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value, json};
use toolgate_core::input_request::{InputRequest, QuestionKind};

use super::embed_form::{DECLINE, NOTES, form};
use super::page::{alert, page};
use super::peer::Peer;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{PathId, read};

pub(super) async fn show(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
) -> Response {
    match state.app.read_input_request(&token, peer).await {
        Ok(open) => form(&open, ""),
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
    if open.server.is_some() && fields.iter().any(|(key, _)| key == DECLINE) {
        return match state.app.decline_input_request(&token, peer).await {
            Ok(()) => {
                page(StatusCode::OK, "Declined", "<p>The server is told. You can close this page.</p>\n")
            }
            Err(cause) => form(&open, &alert(&cause.into())),
        };
    }
    let answer = answer_of(&open.request, &fields);
    match state.app.answer_input_request(&token, &answer, peer).await {
        Ok(()) => {
            page(StatusCode::OK, "Thank you", "<p>Your answer is on its way. You can close this page.</p>\n")
        }
        Err(cause) => form(&open, &alert(&cause.into())),
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
            let name = format!("q-{}", question.id);
            if question.several {
                let chosen = fields.iter().filter(|(key, _)| *key == name).map(|(_, value)| value.as_str());
                answers.insert(question.id.clone(), json!(chosen.collect::<Vec<_>>()));
                continue;
            }
            let Some(text) = field(&name) else { continue };
            let value = match question.kind {
                QuestionKind::Number | QuestionKind::Integer => number(text),
                QuestionKind::Boolean => json!(text == "true"),
                QuestionKind::Text | QuestionKind::LongText | QuestionKind::Choice => json!(text),
            };
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

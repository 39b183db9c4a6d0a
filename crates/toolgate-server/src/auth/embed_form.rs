//! How a question to a person is drawn. The names of the fields and the `data-` attributes are what the web UI's script
//! (web/src/embed) reads.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use toolgate_api::rfc3339;
use toolgate_app::OpenRequest;
use toolgate_core::input_request::{
    Approve, ChoiceOption, Choose, Markup, Question, QuestionFormat, QuestionKind,
};

use super::page::{Page, escape, whole};

/// How many comments the page has room for without a script.
pub(super) const NOTES: usize = 5;

/// The button that refuses a server's question.
pub(super) const DECLINE: &str = "decline";

/// Only our own script and style, pictures that are part of the page itself, and answers only to us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The form. `said` is what went wrong before, as HTML.
pub(super) fn form(open: &OpenRequest, said: &str) -> Response {
    let request = &open.request;
    let mut main = String::from(said);
    if let Some(server) = &open.server {
        main.push_str(&format!(
            "<p class=\"hint\" role=\"note\">These words come from the MCP server <code>{}</code>, not from this gate, and \
             your answer goes to it. Give it no password, token or card number.</p>\n",
            escape(server)
        ));
    }
    if let Some(instructions) = &request.instructions {
        for paragraph in instructions.split("\n\n") {
            main.push_str(&format!("<p class=\"words\">{}</p>\n", escape(paragraph)));
        }
    }
    main.push_str("<form method=\"post\" data-input-request>\n");
    for question in request.questions.iter().flatten() {
        main.push_str(&asked(question));
    }
    if let Some(choose) = &request.choose {
        main.push_str(&offered(choose));
    }
    if let Some(markup) = &request.markup {
        main.push_str(&commented(markup));
    }
    if let Some(approve) = &request.approve {
        main.push_str(&stated(approve));
    }
    let until = rfc3339(open.expires_at);
    let shown = until.get(..16).unwrap_or_default().replace('T', " ");
    let decline = match &open.server {
        Some(_) => {
            format!(
                " <button type=\"submit\" class=\"plain\" name=\"{DECLINE}\" value=\"yes\" formnovalidate>Decline</button>"
            )
        }
        None => String::new(),
    };
    main.push_str(&format!(
        "<p><button type=\"submit\">Send</button>{decline}</p>\n\
         <small>It can be answered once, until <time datetime=\"{until}\">{shown} UTC</time>.</small>\n</form>\n"
    ));
    // The name ends in a hash; beside the script lies a packed copy.
    let script = toolgate_ui::asset("embed-").map(|path| path.trim_end_matches(".gz").to_owned());
    // The title over a server's question is a sentence of ours, with the server's name between backticks.
    let title = if open.server.is_some() { request.title.replace('`', "") } else { request.title.clone() };
    let page = Page { title: &title, main: &main, policy: POLICY, look: "wide", script: script.as_deref() };
    whole(StatusCode::OK, &page)
}

fn asked(question: &Question) -> String {
    let (id, label) = (escape(&question.id), escape(&question.label));
    let (required, optional) =
        if question.required { (" required", "") } else { ("", " <span class=\"hint\">optional</span>") };
    let more = question.description.as_ref();
    let more = more.map(|text| format!("\n<span class=\"hint\">{}</span>", escape(text))).unwrap_or_default();
    if question.several {
        let boxes: String = question.options.iter().map(|option| checkbox(question, option)).collect();
        return format!(
            "<fieldset class=\"cards\">\n<legend>{label}{optional}</legend>{more}\n{boxes}</fieldset>\n"
        );
    }
    let named = format!("id=\"q-{id}\" name=\"q-{id}\"{required}");
    let field = match question.kind {
        QuestionKind::LongText => {
            format!("<textarea {named} maxlength=\"10000\">{}</textarea>", escape(&given(question)))
        }
        QuestionKind::Text | QuestionKind::Number | QuestionKind::Integer => line(question, &named),
        QuestionKind::Boolean => {
            let yes_no = [("true", "Yes"), ("false", "No")];
            select(&named, " data-boolean", &given(question), yes_no.into_iter())
        }
        QuestionKind::Choice => {
            let options = question.options.iter().map(|option| (option.id.as_str(), option.label.as_str()));
            select(&named, "", &given(question), options)
        }
    };
    format!("<p><label for=\"q-{id}\">{label}{optional}</label>{more}\n{field}</p>\n")
}

/// A field of one line. What does not fit is said by the server; the bounds here spare most the round.
fn line(question: &Question, named: &str) -> String {
    let bound = |name: &str, bound: Option<f64>| {
        bound.map(|bound| format!(" {name}=\"{bound}\"")).unwrap_or_default()
    };
    let value = match given(question) {
        given if given.is_empty() => String::new(),
        given => format!(" value=\"{}\"", escape(&given)),
    };
    let step = if question.kind == QuestionKind::Integer { "1" } else { "any" };
    match (question.kind, question.format) {
        (QuestionKind::Number | QuestionKind::Integer, _) => format!(
            "<input {named} type=\"number\" step=\"{step}\"{}{}{value}>",
            bound("min", question.min),
            bound("max", question.max)
        ),
        (_, format) => {
            let kind = match format {
                Some(QuestionFormat::Email) => "email",
                Some(QuestionFormat::Uri) => "url",
                Some(QuestionFormat::Date) => "date",
                // A browser's own field for moments knows no time zone.
                Some(QuestionFormat::DateTime) | None => "text",
            };
            let most = question.max.unwrap_or(10_000.0).min(10_000.0);
            let least = bound("minlength", question.min);
            format!("<input {named} type=\"{kind}\"{least} maxlength=\"{most}\"{value}>")
        }
    }
}

fn select<'a>(
    named: &str,
    more: &str,
    given: &str,
    options: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut html = format!("<select {named}{more}>\n<option value=\"\"></option>\n");
    for (id, label) in options {
        let selected = if id == given { " selected" } else { "" };
        html.push_str(&format!("<option value=\"{}\"{selected}>{}</option>\n", escape(id), escape(label)));
    }
    html.push_str("</select>");
    html
}

fn checkbox(question: &Question, option: &ChoiceOption) -> String {
    let given = question.default.as_ref().and_then(Value::as_array);
    let checked = given.is_some_and(|given| given.iter().any(|id| *id == option.id));
    format!(
        "<label class=\"card\"><input type=\"checkbox\" name=\"q-{}\" value=\"{}\" data-several{}> \
         <span class=\"name\">{}</span></label>\n",
        escape(&question.id),
        escape(&option.id),
        if checked { " checked" } else { "" },
        escape(&option.label),
    )
}

/// What stands in a field at first.
fn given(question: &Question) -> String {
    match &question.default {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn offered(choose: &Choose) -> String {
    let (legend, several) =
        if choose.several { ("Choose one or more", " data-several") } else { ("Choose one", "") };
    let options: String = choose.options.iter().map(|option| card(option, choose.several)).collect();
    format!(
        "<fieldset class=\"cards\" data-choose{several}>\n<legend>{legend}</legend>\n{options}</fieldset>\n"
    )
}

fn card(option: &ChoiceOption, several: bool) -> String {
    let (kind, required) = if several { ("checkbox", "") } else { ("radio", " required") };
    let picture = option.image.as_ref().map(|image| format!("<img alt=\"\" src=\"{}\">", escape(image)));
    let more =
        option.description.as_ref().map(|text| format!("<span class=\"hint\">{}</span>", escape(text)));
    format!(
        "<label class=\"card\"><input type=\"{kind}\" name=\"chosen\" value=\"{}\"{required}> \
         <span class=\"name\">{}</span>{}{}</label>\n",
        escape(&option.id),
        escape(&option.label),
        more.unwrap_or_default(),
        picture.unwrap_or_default(),
    )
}

fn commented(markup: &Markup) -> String {
    let mut html = format!(
        "<div class=\"markup\" data-markup>\n<img alt=\"The image to comment on\" src=\"{}\">\n</div>\n<div data-notes>\n",
        escape(&markup.image)
    );
    for number in 1..=NOTES {
        html.push_str(&format!(
            "<fieldset>\n<legend>Comment {number}</legend>\n\
             <p><label for=\"text{number}\">What</label>\n<textarea id=\"text{number}\" name=\"text{number}\"></textarea></p>\n\
             <p><label for=\"x{number}\">From the left, in percent</label>\n\
             <input id=\"x{number}\" name=\"x{number}\" type=\"number\" min=\"0\" max=\"100\" step=\"any\"></p>\n\
             <p><label for=\"y{number}\">From the top, in percent</label>\n\
             <input id=\"y{number}\" name=\"y{number}\" type=\"number\" min=\"0\" max=\"100\" step=\"any\"></p>\n</fieldset>\n"
        ));
    }
    html.push_str("</div>\n");
    html
}

fn stated(approve: &Approve) -> String {
    format!(
        "<fieldset class=\"cards\" data-approve>\n<legend class=\"statement\">{}</legend>\n\
         <label class=\"card\"><input type=\"radio\" name=\"approved\" value=\"yes\" required> <span class=\"name\">Yes</span></label>\n\
         <label class=\"card\"><input type=\"radio\" name=\"approved\" value=\"no\"> <span class=\"name\">No</span></label>\n\
         </fieldset>\n\
         <p><label for=\"notes\">Anything to add <span class=\"hint\">optional</span></label>\n\
         <textarea id=\"notes\" name=\"notes\" maxlength=\"10000\"></textarea></p>\n",
        escape(&approve.statement)
    )
}

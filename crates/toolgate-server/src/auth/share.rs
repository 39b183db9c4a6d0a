//! The page behind a link to a call: for anyone who has the link, without signing in, and only to be looked at.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use toolgate_api::rfc3339;
use toolgate_app::{AppError, SharedRun};
use toolgate_core::{JsonText, Status, Timestamp};

use super::page::{Page, alert, escape, sentence, whole};
use super::peer::Peer;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::PathId;

/// Only our own script and style, pictures and sounds that are part of the page itself, and nothing to send.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src data:; \
     media-src data:; connect-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
/// The most of an input or output that is drawn.
const MOST_SHOWN: usize = 256 * 1024;

pub(super) async fn show(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
) -> Response {
    match state.app.read_share(&token, peer).await {
        Ok(run) => closed(drawn(&run)),
        // One page for what never was, has run out and was taken back.
        Err(AppError::TokenInvalid) => closed(page(
            StatusCode::NOT_FOUND,
            "This link does not work",
            "<p>It may have run out, or been taken back. Ask whoever sent it for a new one.</p>\n",
        )),
        Err(cause) => {
            let cause = ApiError::from(cause);
            closed(page(cause.status(), "This can't be shown now", &alert(&cause)))
        }
    }
}

/// Nothing keeps it, nothing finds it, and nobody hears of its address.
fn closed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let robots = HeaderName::from_static("x-robots-tag");
    headers.insert(robots, HeaderValue::from_static("noindex, nofollow, noarchive"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn page(status: StatusCode, title: &str, main: &str) -> Response {
    whole(status, &Page { title, main, policy: POLICY, look: "run", script: None })
}

fn drawn(run: &SharedRun) -> Response {
    let mut main = format!("<p><span class=\"state\">{}</span></p>\n<dl>\n", status_word(run.status));
    let mut fact = |name: &str, value: &str| {
        main.push_str(&format!("<dt>{name}</dt><dd>{value}</dd>\n"));
    };
    let who = match &run.for_whom {
        Some(subject) => format!("{} for {}", words(&run.who), words(subject)),
        None => words(&run.who),
    };
    fact("Who", &who);
    fact("Asked", &time(run.created_at));
    if let Some(at) = run.started_at {
        fact("Started", &time(at));
    }
    if let Some(at) = run.completed_at {
        fact("Ended", &time(at));
    }
    if let Some(version) = &run.version {
        fact("Tool version", &format!("<code>{}</code>", escape(version.get(..12).unwrap_or(version))));
    }
    main.push_str("</dl>\n");
    if let Some(error) = &run.error {
        main.push_str(&format!(
            "<h2>What went wrong</h2>\n<p role=\"note\">{} <code>{}</code></p>\n",
            words(&sentence(&error.message)),
            error.code.as_str()
        ));
    }
    if let Some(output) = &run.output {
        let sections = escape(&run.sections.to_string());
        main.push_str(&format!(
            "<section data-output data-sections=\"{sections}\">\n<h2 id=\"output\">Output</h2>\n{}</section>\n",
            document("output", output)
        ));
        main.push_str(&gaps(&run.hidden));
    }
    main.push_str(&format!("<h2 id=\"input\">Input</h2>\n{}", document("input", &run.input)));
    main.push_str(&format!("<small>This link ends on {}.</small>\n", time(run.expires_at)));
    // The name ends in a hash; beside the script lies a packed copy.
    let script = toolgate_ui::asset("shared-run-").map(|path| path.trim_end_matches(".gz").to_owned());
    let title = visible(&run.title);
    let page = Page { title: &title, main: &main, policy: POLICY, look: "run", script: script.as_deref() };
    whole(StatusCode::OK, &page)
}

/// A document as people read it; what is too long ends with a word on that.
fn document(id: &str, json: &JsonText) -> String {
    let value: Value = json.to_value();
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    let (mut end, mut rest) = (text.len().min(MOST_SHOWN), "");
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < text.len() {
        rest = "<p role=\"note\">The rest is too long to be shown here.</p>\n";
    }
    format!(
        "<pre tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\">{}</pre>\n{rest}",
        words(text.get(..end).unwrap_or_default())
    )
}

fn gaps(hidden: &[String]) -> String {
    if hidden.is_empty() {
        return String::new();
    }
    let fields: String = hidden.iter().map(|field| format!("<code>{}</code>", words(field))).collect();
    format!("<p class=\"gaps\">Hidden before it was kept: {fields}</p>\n")
}

fn time(at: Timestamp) -> String {
    let exact = rfc3339(at);
    let shown = exact.get(..16).unwrap_or_default().replace('T', " ");
    format!("<time datetime=\"{exact}\">{shown} UTC</time>")
}

const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pending => "Waits for a decision",
        Status::Running => "Running",
        Status::Waiting => "Waiting",
        Status::Completed => "Succeeded",
        Status::Failed => "Failed",
        Status::Rejected => "Rejected",
        Status::Cancelled => "Cancelled",
        Status::Expired => "Expired",
        Status::InDoubt => "In doubt",
    }
}

/// Text from tools and people as HTML.
fn words(text: &str) -> String {
    escape(&visible(text))
}

/// Names the characters that nobody sees and that turn around what stands beside them.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => {
                shown.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            _ if letter.is_control() => shown.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
            _ => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_inert_and_readable() {
        assert_eq!(words("<script>a\u{202e}b</script>"), "&lt;script&gt;a\\u{202e}b&lt;/script&gt;");
        assert_eq!(words("x\u{0}\u{200b}y\n"), "x\\u{0}\\u{200b}y\n");
    }

    #[test]
    fn what_is_long_is_cut_between_letters() {
        let long = JsonText::from_value(&serde_json::json!("ü".repeat(MOST_SHOWN)));
        let shown = document("output", &long);
        assert!(shown.len() < MOST_SHOWN + 500 && shown.contains("too long"));
    }
}

//! Plain pages, without a script: a form each, and what went wrong.

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::error::ApiError;

/// Nothing but our own style, forms only to us, in nobody's frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; font-src 'self'; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'";

pub(super) async fn style() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")];
    let sheets = concat!(include_str!("style.css"), include_str!("embed.css"), include_str!("share.css"));
    (headers, format!("{}{sheets}", font_face()))
}

/// The web UI's own letters, where it is built in.
fn font_face() -> String {
    toolgate_ui::asset("inter-latin-wght-normal").map_or_else(String::new, |path| {
        format!(
            "@font-face {{ font-family: \"Inter Variable\"; font-weight: 100 900; font-display: swap; \
             src: url(/{path}) format(\"woff2\"); }}\n"
        )
    })
}

/// The sign above the title, drawn in place: these pages load no pictures.
const MARK: &str = "<svg class=\"mark\" aria-hidden=\"true\" width=\"36\" height=\"36\" viewBox=\"0 0 28 28\">\
     <rect width=\"28\" height=\"28\" rx=\"8\"/><path d=\"M8 21V11.5a6 6 0 0 1 12 0V21M12 21v-8M16 21v-8M6.5 21h15\"/></svg>\n";

/// A whole page around its main part, which is HTML already.
pub(super) fn page(status: StatusCode, title: &str, main: &str) -> Response {
    page_with(status, title, main, POLICY)
}

/// The same under another policy.
pub(super) fn page_with(status: StatusCode, title: &str, main: &str, policy: &str) -> Response {
    whole(status, &Page { title, main, policy, look: "", script: None })
}

/// A page and what it may do.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// What it is called.
    pub(super) title: &'a str,
    /// Its main part, which is HTML already.
    pub(super) main: &'a str,
    /// Its Content-Security-Policy.
    pub(super) policy: &'a str,
    /// A class of the style sheet.
    pub(super) look: &'a str,
    /// A script of ours that makes it finer; it works without.
    pub(super) script: Option<&'a str>,
}

/// A whole page.
pub(super) fn whole(status: StatusCode, page: &Page<'_>) -> Response {
    let (title, main) = (escape(page.title), page.main);
    let script = page
        .script
        .map(|path| format!("<script type=\"module\" src=\"/{}\"></script>\n", escape(path)))
        .unwrap_or_default();
    let look = if page.look.is_empty() { String::new() } else { format!(" class=\"{}\"", page.look) };
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · Toolgate</title>\n<link rel=\"stylesheet\" href=\"/auth/style.css\">\n{script}</head>\n\
         <body{look}>\n<main>\n{MARK}<h1>{title}</h1>\n{main}</main>\n</body>\n</html>\n"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, page.policy),
        // A link's secret stands in the address: at most the host goes along. (With `no-referrer`, browsers would send
        // forms with `Origin: null`, which the door refuses.)
        (header::REFERRER_POLICY, "strict-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (status, headers, Html(text)).into_response()
}

/// A page that says what went wrong.
pub(super) fn failed(cause: &ApiError) -> Response {
    let main = format!("{}<p><a href=\"/sign-in\">Back to signing in</a></p>\n", alert(cause));
    page(cause.status(), "That did not work", &main)
}

/// What went wrong, above a form.
pub(super) fn alert(cause: &ApiError) -> String {
    let error = cause.view();
    let hint = error.hint.as_deref().map(|hint| format!(" <span>{}</span>", escape(&sentence(hint))));
    format!(
        "<p role=\"alert\">{}{} <code>{}</code></p>\n",
        escape(&sentence(&error.message)),
        hint.unwrap_or_default(),
        escape(&error.code)
    )
}

/// One labelled field. `kind` is the HTML type, `fill` tells password managers what belongs here.
pub(super) fn field(name: &str, label: &str, kind: &str, fill: &str, more: &str) -> String {
    format!(
        "<p><label for=\"{name}\">{label}</label>\n\
         <input id=\"{name}\" name=\"{name}\" type=\"{kind}\" autocomplete=\"{fill}\" {more}></p>\n"
    )
}

/// A field nobody sees.
pub(super) fn hidden(name: &str, value: &str) -> String {
    format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">\n", escape(value))
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Messages start small and have no full stop; on a page they stand alone.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

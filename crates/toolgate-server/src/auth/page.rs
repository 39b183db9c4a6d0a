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
    (headers, format!("{}{}", font_face(), include_str!("style.css")))
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

/// The same with pictures that are part of the page itself.
pub(super) const POLICY_WITH_PICTURES: &str = "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'";

/// A whole page around its main part, which is HTML already.
pub(super) fn page(status: StatusCode, title: &str, main: &str) -> Response {
    page_with(status, title, main, POLICY)
}

/// The same under another policy.
pub(super) fn page_with(status: StatusCode, title: &str, main: &str, policy: &str) -> Response {
    let title = escape(title);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · Toolgate</title>\n<link rel=\"stylesheet\" href=\"/auth/style.css\">\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{main}</main>\n</body>\n</html>\n"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
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
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

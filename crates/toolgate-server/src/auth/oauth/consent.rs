//! The page on which a person decides whether an application may act for them. Plain, without a script.

use axum::http::StatusCode;
use axum::response::Response;
use toolgate_app::Authorization;
use toolgate_core::Actor;
use toolgate_core::oauth::{OauthClientKind, OauthScope};

use super::super::page::{escape, hidden, page_with};

/// The page. `said` is what went wrong before, as HTML.
pub(super) fn page(
    actor: &Actor,
    authorization: &Authorization,
    request: &str,
    csrf: &str,
    said: &str,
) -> Response {
    let name = escape(&authorization.client.name);
    let mut main = String::from(said);
    main.push_str(&format!(
        "<p><strong>{name}</strong> asks to act for you, <strong>{}</strong>.</p>\n",
        escape(actor.principal.name())
    ));
    main.push_str(&format!(
        "<ul>\n<li>It is {}.</li>\n<li>You are sent back to <strong>{}</strong>.</li>\n\
         <li>It will work at <code>{}</code>.</li>\n</ul>\n",
        known_as(authorization),
        escape(&authorization.redirect_place),
        escape(&authorization.resource)
    ));
    if authorization.client.kind != OauthClientKind::Registered {
        main.push_str(
            "<p>Anyone can choose such a name. Go on only if you started this yourself, just now.</p>\n",
        );
    }
    main.push_str("<form method=\"post\" action=\"/oauth/authorize\">\n");
    main.push_str(&hidden("csrf", csrf));
    main.push_str(&hidden("request", request));
    main.push_str("<fieldset>\n<legend>It may</legend>\n");
    for scope in &authorization.scopes {
        main.push_str(&offered(*scope));
    }
    main.push_str("</fieldset>\n");
    main.push_str(
        "<p>It can never do more than you can, and you can take this back at any time.</p>\n\
         <p><button name=\"decision\" value=\"allow\">Let it in</button>\n\
         <button name=\"decision\" value=\"deny\">Do not</button></p>\n</form>\n",
    );
    page_with(StatusCode::OK, "Let an application in?", &main, &policy(&authorization.redirect_uri))
}

fn known_as(authorization: &Authorization) -> String {
    let id = escape(&authorization.client_id);
    match authorization.client.kind {
        OauthClientKind::Registered => format!("known here as <code>{id}</code>"),
        OauthClientKind::MetadataDocument => format!("described at <code>{id}</code>"),
        OauthClientKind::Dynamic => "an application that named itself".to_owned(),
    }
}

fn offered(scope: OauthScope) -> String {
    let words = match scope {
        OauthScope::Tools => "see and call the tools you may call",
        OauthScope::ToolsRead => "see and call those of your tools that only read",
        OauthScope::Approve => "decide, in your name, on calls that wait for a person",
    };
    // Deciding for someone is never on unless they say so.
    let ticked = if scope == OauthScope::Approve { "" } else { " checked" };
    let mut html = format!(
        "<p><label><input type=\"checkbox\" name=\"scope\" value=\"{}\"{ticked}> {words}</label></p>\n",
        scope.as_str()
    );
    if scope == OauthScope::Tools {
        html.push_str(
            "<p class=\"sub\"><label><input type=\"checkbox\" name=\"only_reads\" value=\"yes\"> \
             of these only tools that read, and change nothing</label></p>\n",
        );
    }
    html
}

/// Browsers hold a form's redirects to the same rule as the form: the way back must be in it.
fn policy(redirect_uri: &str) -> String {
    let back = match redirect_uri.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => {
            let authority: &str = rest.split(['/', '?']).next().unwrap_or_default();
            let plain = authority.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:_".contains(&b));
            // An IPv6 address can't be written in a policy.
            if plain { format!("{scheme}://{authority}") } else { format!("{scheme}:") }
        }
        _ => format!("{}:", redirect_uri.split(':').next().unwrap_or_default()),
    };
    format!(
        "default-src 'none'; style-src 'self'; font-src 'self'; form-action 'self' {back}; frame-ancestors 'none'; base-uri 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_in_the_policy_and_nothing_else_gets_in() {
        let check = |uri: &str, expected: &str| {
            assert!(
                policy(uri).contains(&format!("form-action 'self' {expected};")),
                "{uri}: {}",
                policy(uri)
            );
        };
        check("https://app.example/back?x=1", "https://app.example");
        check("http://127.0.0.1:3000/back", "http://127.0.0.1:3000");
        check("http://[::1]:3000/back", "http:");
        check("cursor://x.y/back", "cursor:");
        check("com.example.app:/back", "com.example.app:");
        check("https://app.example;script-src/back", "https:");
    }
}

//! How people get in: password, links that work once, identity providers. A browser keeps a cookie; what it changes
//! carries a token that other sites can't read.

pub(crate) mod challenge;
mod connect;
mod cookie;
mod csrf;
mod embed;
mod embed_form;
mod form;
mod invite;
mod link;
mod oauth;
mod oidc;
mod page;
mod peer;
mod share;
mod sign_in;
mod signed_in;
mod switch;
mod trusted_proxy;

use axum::Router;
use axum::http::{HeaderMap, HeaderValue};
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use peer::{Peer, PeerAddress, PeerPlaces};
pub(crate) use signed_in::SignedInCaller;
pub use trusted_proxy::{NoProxy, TrustedProxy};

use crate::{ServerSettings, ServerState};

/// What REST offers.
pub(crate) fn api_routes() -> OpenApiRouter<ServerState> {
    OpenApiRouter::new()
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(sign_in::sign_out))
        .routes(routes!(sign_in::read_sign_in))
        .routes(routes!(sign_in::list_sign_ins))
        .routes(routes!(sign_in::end_sign_in))
        .routes(routes!(sign_in::change_password))
        .routes(routes!(sign_in::sign_in_methods))
        .routes(routes!(invite::accept))
        .routes(routes!(invite::invite))
        .routes(routes!(switch::list_own_tenants))
        .routes(routes!(switch::switch_tenant))
        .routes(routes!(switch::add_tenant))
        .routes(routes!(switch::leave_tenant))
}

/// What browsers visit.
pub(crate) fn routes() -> Router<ServerState> {
    Router::new()
        .route("/sign-in", get(form::sign_in_page).post(form::sign_in))
        .route("/sign-out", axum::routing::post(form::sign_out))
        .route("/set-up", get(form::set_up_page).post(form::set_up))
        .route("/invite", get(form::invite_page).post(form::accept_invite))
        .route("/link", get(link::ask).post(link::decide))
        .route("/embed/v/{token}", get(embed::show).post(embed::submit))
        .route("/share/{token}", get(share::show))
        .route("/auth/style.css", get(page::style))
        .route("/auth/oidc/{name}/start", get(oidc::start))
        .route("/auth/oidc/{name}/callback", get(oidc::callback))
        .route("/connections/callback", get(connect::callback))
        .route("/connections/{service}/connect", get(connect::ask).post(connect::begin))
        .route("/oauth/client-metadata.json", get(connect::client_metadata))
        .merge(oauth::routes())
}

/// Where this server is, as browsers see it: what the operator says, or the host the request names, which the door has
/// checked.
pub(crate) fn base_url(settings: &ServerSettings, headers: &HeaderMap) -> String {
    match &settings.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => {
            let host = headers.get(axum::http::header::HOST).and_then(|value| value.to_str().ok());
            format!("http://{}", host.unwrap_or("localhost"))
        }
    }
}

/// A path on this server to go on to; whatever could lead elsewhere leads to the front page.
pub(crate) fn safe_path(asked: Option<&str>) -> &str {
    asked
        .filter(|path| {
            // Long enough for whatever an application asks for.
            path.len() <= 4096
                && path.starts_with('/')
                && !path.starts_with("//")
                // Browsers read `\` as `/` and skip over line breaks and tabs.
                && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
        })
        .unwrap_or("/")
}

/// Where to go, as a header.
fn location(url: &str) -> HeaderValue {
    HeaderValue::from_str(url).unwrap_or(HeaderValue::from_static("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_on_this_server_are_gone_on_to() {
        for good in ["/", "/tools?x=1#y", "/a//b", "/%2f%2fevil.example"] {
            assert_eq!(safe_path(Some(good)), good);
        }
        for bad in [
            "",
            "x",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "/ü",
        ] {
            assert_eq!(safe_path(Some(bad)), "/", "{bad}");
        }
        assert_eq!(safe_path(Some(&format!("/{}", "x".repeat(5000)))), "/");
        assert_eq!(safe_path(None), "/");
    }
}

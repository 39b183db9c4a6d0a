//! What every request passes: where it says it goes, where it comes from, and how long the gate took.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolgate_api::DoorCode;

use crate::error::ApiError;
use crate::{ServerSettings, ServerState};

/// Time spent outside the gate (in a tool, or waiting for one); handlers leave it on the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside(pub(crate) Duration);

pub(crate) async fn pass(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let mut response = match check(&state.settings, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let outside = response.extensions().get::<Outside>().map_or(Duration::ZERO, |outside| outside.0);
    let gate = began.elapsed().saturating_sub(outside).as_secs_f64() * 1000.0;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&format!("gate;dur={gate:.3}")) {
        headers.insert("server-timing", value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Addresses of MCP endpoints are often written with a slash at the end. They mean the same, and a client that is sent on
/// loses its body or its credential on the way.
pub(crate) fn straighten(uri: &mut Uri) {
    let path = uri.path();
    if !path.starts_with("/mcp/") || !path.ends_with('/') {
        return;
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let straight = format!("{}{query}", path.trim_end_matches('/'));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = straight.parse().ok();
    if let Ok(straight) = Uri::from_parts(parts) {
        *uri = straight;
    }
}

fn check(settings: &ServerSettings, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let hosts = &settings.hosts;
    // A browser that was led here by a renamed host still sends that name: this is what stops DNS rebinding.
    // An address in full may name another host than the header does: both must be ours.
    let named = headers.get_all(header::HOST).iter().map(|value| value.to_str().map_or("", without_port));
    let mut named = named.chain(uri.host()).peekable();
    if named.peek().is_none() {
        return Err(ApiError::door(DoorCode::HostNotAllowed, "the request names no host"));
    }
    if named.any(|host| !answers_for(hosts, host)) {
        return Err(ApiError::door(DoorCode::HostNotAllowed, "this server does not answer for that host")
            .hint("name it with `--allow-host` if it is yours"));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let named = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let here = named.or_else(|| uri.authority().map(|authority| authority.as_str()));
    let site = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, site)| site);
    if site.is_some_and(|site| is_ours(settings, here, site))
        || (for_programs(uri.path()) && names(&settings.origins, origin))
    {
        Ok(())
    } else {
        Err(ApiError::door(DoorCode::OriginNotAllowed, "requests from other sites are refused"))
    }
}

/// Whether a page of this site is one of ours: it is where the operator says that browsers find us; or, where the request
/// names the same host, at the same port, since another port is another program; or, where a proxy names us by another
/// host, at one of ours without a port.
fn is_ours(settings: &ServerSettings, here: Option<&str>, site: &str) -> bool {
    let public = settings.public_url.as_deref().and_then(|url| url.split_once("://"));
    if public.is_some_and(|(_, public)| public.trim_end_matches('/').eq_ignore_ascii_case(site)) {
        return true;
    }
    match here {
        Some(here) if without_port(here).eq_ignore_ascii_case(without_port(site)) => {
            site.eq_ignore_ascii_case(here)
        }
        _ => settings.hosts.iter().any(|host| site.eq_ignore_ascii_case(host)),
    }
}

/// What programs use, other than people's browsers: nothing here goes by a cookie.
fn for_programs(path: &str) -> bool {
    path == "/mcp" || ["/mcp/", "/.well-known/", "/oauth/token"].iter().any(|start| path.starts_with(start))
}

fn names(origins: &[String], origin: &HeaderValue) -> bool {
    origins.iter().any(|known| origin.as_bytes().eq_ignore_ascii_case(known.as_bytes()))
}

/// IP addresses and `localhost` can't be renamed by someone else's DNS; other names must be the operator's own.
fn answers_for(hosts: &[String], host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok()
        || hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        // An IPv6 address in brackets has colons of its own.
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_host(host: &str) -> bool {
        answers_for(&["gate.example".to_owned()], without_port(host))
    }

    #[test]
    fn only_our_own_hosts_are_answered() {
        for good in
            ["localhost", "LOCALHOST:8787", "127.0.0.1:8787", "[::1]:8787", "[::1]", "gate.example:443"]
        {
            assert!(check_host(good), "{good}");
        }
        for bad in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "gate.example.evil", ""] {
            assert!(!check_host(bad), "{bad}");
        }
    }

    #[test]
    fn a_slash_at_the_end_of_an_endpoint_means_nothing() {
        for (written, meant) in [
            ("/mcp/", "/mcp"),
            ("/mcp//", "/mcp"),
            ("/mcp/team/", "/mcp/team"),
            ("/mcp/team/?a=/", "/mcp/team?a=/"),
            ("http://gate.example/mcp/", "http://gate.example/mcp"),
            ("/mcp", "/mcp"),
            ("/mcp/team", "/mcp/team"),
            ("/mcpx/", "/mcpx/"),
            ("/api/v1/tools/", "/api/v1/tools/"),
        ] {
            let mut uri: Uri = written.parse().unwrap();
            straighten(&mut uri);
            assert_eq!(uri.to_string(), meant, "{written}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let try_origin = |host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            let settings = ServerSettings {
                hosts: vec!["gate.example".to_owned()],
                origins: vec!["https://app.example".to_owned()],
                public_url: Some("https://front.example:8443".to_owned()),
                ..ServerSettings::default()
            };
            check(&settings, &Uri::from_static("/mcp"), &headers).is_ok()
        };
        // Where the operator says that browsers find us, whatever a proxy makes of the host.
        for host in ["127.0.0.1:8787", "gate.example"] {
            assert!(try_origin(host, "https://front.example:8443"));
            assert!(!try_origin(host, "https://front.example"));
        }
        assert!(try_origin("gate.example", "https://app.example"));
        assert!(!try_origin("gate.example", "http://app.example"));
        assert!(try_origin("localhost:8787", "http://localhost:8787"));
        assert!(try_origin("gate.example", "https://gate.example"));
        assert!(!try_origin("localhost:8787", "http://evil.example"));
        assert!(!try_origin("localhost:8787", "null"));
        assert!(!try_origin("localhost:8787", "http://localhost:9999"));
        // Behind a proxy that names us by our address inside.
        assert!(try_origin("127.0.0.1:8787", "https://gate.example"));
        assert!(!try_origin("127.0.0.1:8787", "https://gate.example:9999"));
        // Another port of our own host is another program's.
        assert!(!try_origin("gate.example", "https://gate.example:9999"));
        assert!(!try_origin("gate.example:8443", "https://gate.example"));
        assert!(try_origin("gate.example:8443", "https://GATE.example:8443"));
    }
}

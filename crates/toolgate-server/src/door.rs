//! What every request passes: where it says it goes, where it comes from, and how long the gate took.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolgate_api::DoorCode;

use crate::ServerState;
use crate::error::ApiError;

/// Time spent outside the gate (in a tool, or waiting for one); handlers leave it on the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside(pub(crate) Duration);

pub(crate) async fn pass(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (hosts, origins) = (&state.settings.hosts, &state.settings.origins);
    let mut response = match check(hosts, origins, request.uri(), request.headers()) {
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

fn check(hosts: &[String], origins: &[String], uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
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
    let same_site =
        origin.to_str().ok().and_then(|origin| origin.split_once("://")).is_some_and(|(_, site)| {
            let here = headers.get(header::HOST).and_then(|value| value.to_str().ok());
            here.is_some_and(|here| site.eq_ignore_ascii_case(here))
                || hosts.iter().any(|host| without_port(site).eq_ignore_ascii_case(host))
        });
    if same_site || (for_programs(uri.path()) && names(origins, origin)) {
        Ok(())
    } else {
        Err(ApiError::door(DoorCode::OriginNotAllowed, "requests from other sites are refused"))
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
    fn other_origins_are_refused() {
        let try_origin = |host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            let origins = ["https://app.example".to_owned()];
            let (hosts, uri) = (["gate.example".to_owned()], Uri::from_static("/mcp"));
            check(&hosts, &origins, &uri, &headers).is_ok()
        };
        assert!(try_origin("gate.example", "https://app.example"));
        assert!(!try_origin("gate.example", "http://app.example"));
        assert!(try_origin("localhost:8787", "http://localhost:8787"));
        assert!(try_origin("gate.example", "https://gate.example"));
        assert!(!try_origin("localhost:8787", "http://evil.example"));
        assert!(!try_origin("localhost:8787", "null"));
        assert!(!try_origin("localhost:8787", "http://localhost:9999"));
    }
}

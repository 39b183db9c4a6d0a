//! The cookies a browser keeps. `__Host-` means: this host alone, over TLS (or to this machine), for all paths, and
//! not to be planted by a neighbouring host.

use axum::http::{HeaderMap, HeaderValue, header};
use toolgate_app::Secret;

/// A cookie of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cookie {
    name: &'static str,
    max_age_seconds: u32,
}

/// Who is signed in. The server ends sign-ins by itself; this only tells browsers when to forget.
pub(super) const SIGN_IN: Cookie = Cookie { name: "__Host-toolgate", max_age_seconds: 7 * 24 * 3600 };
/// Who is under way to an identity provider.
pub(super) const JOURNEY: Cookie = Cookie { name: "__Host-toolgate-oidc", max_age_seconds: 600 };
/// Who is about to link themselves with their user in another tenant.
pub(super) const LINK: Cookie = Cookie { name: "__Host-toolgate-link", max_age_seconds: 600 };

impl Cookie {
    /// The cookie that came with a request. One that came twice is as good as none: nobody knows which is ours.
    pub(super) fn read(self, headers: &HeaderMap) -> Option<Secret> {
        let mut found = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| text.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.name)
            .map(|(_, value)| value);
        let first = found.next()?;
        if found.any(|other| other != first) {
            return None;
        }
        Secret::given(first)
    }

    /// Tells the browser to keep it.
    pub(super) fn set(self, value: &Secret) -> HeaderValue {
        self.header(value.reveal(), self.max_age_seconds)
    }

    /// Tells the browser to forget it.
    pub(super) fn clear(self) -> HeaderValue {
        self.header("", 0)
    }

    fn header(self, value: &str, max_age: u32) -> HeaderValue {
        let text =
            format!("{}={value}; Path=/; Max-Age={max_age}; Secure; HttpOnly; SameSite=Lax", self.name);
        // Hexadecimal digits always fit; should they not, no cookie is set and nobody is signed in.
        let mut header = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
        header.set_sensitive(true);
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_found_among_others_and_never_guessed() {
        let one = "a".repeat(64);
        let other = "b".repeat(64);
        let read = |cookies: &[String]| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(header::COOKIE, cookie.parse().unwrap());
            }
            SIGN_IN.read(&headers).map(|secret| secret.reveal().to_owned())
        };
        assert_eq!(read(&[format!("x=1; __Host-toolgate={one}; y=2")]), Some(one.clone()));
        assert_eq!(read(&["x=1".into(), format!("__Host-toolgate={one}")]), Some(one.clone()));
        assert_eq!(read(&[format!("__Host-toolgate={one}; __Host-toolgate={other}")]), None);
        assert_eq!(read(&[format!("__Host-toolgate-oidc={one}")]), None);
        assert_eq!(read(&[format!("toolgate={one}")]), None);
        assert_eq!(read(&["__Host-toolgate=short".into()]), None);
        assert_eq!(read(&[]), None);
    }
}

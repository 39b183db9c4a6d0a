//! Property names no schema may have: arguments and results are recorded and shown to models, so a secret has no place
//! in them, and the server alone chooses the connection a call uses.

/// Why a property name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForbiddenName {
    /// It would choose a connection.
    Connection,
    /// It would carry a secret.
    Secret,
}

impl ForbiddenName {
    /// How the reason reads after "which".
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Connection => "would let the caller choose a connection",
            Self::Secret => "looks like it carries a secret",
        }
    }
}

/// Secret when the whole name is this, whatever its case, separators and trailing digits.
const SECRETS: &[&str] = &[
    "accesskey",
    "authheader",
    "authkey",
    "authorization",
    "authorizationheader",
    "bearer",
    "connectionstring",
    "credential",
    "credentials",
    "idtoken",
    "jwt",
    "otp",
    "passcode",
    "passwords",
    "proxyauthorization",
    "pwd",
    "secrets",
    "sessioncookie",
    "token",
];

/// Secret when the name ends so: `db_password`, `stripeApiKey`.
const SECRET_ENDINGS: &[&str] = &[
    "accesstoken",
    "apikey",
    "apikeys",
    "apisecret",
    "apitoken",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "encryptionkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sessiontoken",
    "signingkey",
    "webhooksecret",
];

const CONNECTIONS: &[&str] = &["connectionid", "connectionids"];

/// Why no schema may have a property of this name, if so.
#[must_use]
pub fn forbidden_name(name: &str) -> Option<ForbiddenName> {
    let bare: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    if CONNECTIONS.contains(&bare) {
        return Some(ForbiddenName::Connection);
    }
    let secret = SECRETS.contains(&bare) || SECRET_ENDINGS.iter().any(|ending| bare.ends_with(ending));
    secret.then_some(ForbiddenName::Secret)
}

/// Why a pattern for property names is refused, if it is made for forbidden ones.
///
/// A pattern such as `^[a-z_]+$` lets any name in, as an open object does, and is fine. One that matches `api_key` but
/// not the same name with any letter changed was written for it.
pub(crate) fn forbidden_pattern(matches: impl Fn(&str) -> bool) -> Option<ForbiddenName> {
    const SPELLINGS: &[&str] = &[
        "connectionId",
        "connection_id",
        "connection-id",
        "connectionid",
        "password",
        "passwd",
        "secret",
        "token",
        "apiKey",
        "api_key",
        "api-key",
        "apikey",
        "accessToken",
        "access_token",
        "access-token",
        "authToken",
        "auth_token",
        "refreshToken",
        "refresh_token",
        "clientSecret",
        "client_secret",
        "privateKey",
        "private_key",
        "credential",
        "credentials",
        "authorization",
        "Authorization",
        "X-Api-Key",
    ];
    let changed_at = |name: &str, i: usize| format!("{}q{}", &name[..i], &name[i + 1..]);
    let made_for = |name: &str| {
        let mut letters = name.char_indices().filter(|(_, c)| c.is_ascii_alphabetic());
        matches(name) && letters.all(|(i, _)| !matches(&changed_at(name, i)))
    };
    forbidden_name(SPELLINGS.iter().find(|name| made_for(name))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<ForbiddenName>) {
        assert_eq!(forbidden_name(name), expected, "{name}");
    }

    #[test]
    fn connections_are_not_the_callers_choice() {
        for name in ["connectionId", "connection_id", "CONNECTION-ID", "Connection Id", "connectionIds"] {
            check(name, Some(ForbiddenName::Connection));
        }
        for name in ["connection", "connection_count", "connections", "id"] {
            check(name, None);
        }
    }

    #[test]
    fn secrets_are_known_by_their_shape() {
        for name in [
            "token",
            "Token",
            "secret",
            "client_secret",
            "password",
            "PASSWORD",
            "dbPassword",
            "passwd",
            "pass-word",
            "api_key",
            "X-API-Key",
            "stripeApiKey",
            "credential",
            "credentials",
            "Authorization",
            "private_key",
            "ssh_private_key",
            "access_token",
            "refresh-token",
            "authToken",
            "bearer_token",
            "oauth2AccessToken",
            "password2",
            "api_key_1",
            "aws_secret_access_key",
            "passphrase",
            "pwd",
        ] {
            check(name, Some(ForbiddenName::Secret));
        }
    }

    #[test]
    fn innocent_names_pass() {
        for name in [
            "max_tokens",
            "tokens",
            "page_token",
            "next_page_token",
            "token_count",
            "token_type",
            "key",
            "primary_key",
            "public_key",
            "idempotency_key",
            "secretary",
            "secret_santa_name",
            "passwordless",
            "password_policy",
            "author",
            "authorized",
            "sort_key",
            "monkey",
            "keyboard",
            "",
            "!!",
            "42",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn patterns_made_for_secrets_are_told_from_open_ones() {
        // Stand-ins for regular expressions, so that this file needs no engine.
        assert_eq!(forbidden_pattern(|name| name == "connectionId"), Some(ForbiddenName::Connection));
        assert_eq!(forbidden_pattern(|name| name.starts_with("api_key")), Some(ForbiddenName::Secret));
        assert_eq!(forbidden_pattern(|name| name.ends_with("password")), Some(ForbiddenName::Secret));
        assert_eq!(forbidden_pattern(|_| true), None);
        assert_eq!(forbidden_pattern(|name| name.starts_with('p')), None);
        assert_eq!(forbidden_pattern(|name| name.starts_with("x-")), None);
        assert_eq!(forbidden_pattern(|name| name.contains('f') && name.contains('o')), None);
    }
}

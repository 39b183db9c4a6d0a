//! Accounts at outside services. What opens them is kept sealed and apart; nothing here is secret.

use serde::{Deserialize, Serialize};

use crate::id::{ConnectionId, PrincipalId, TenantId};
use crate::json::{digest, to_hex};
use crate::time::Timestamp;

/// An account at an outside service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// Whose wall it stands within.
    pub tenant: TenantId,
    /// At which service, such as `mcp:github`.
    pub service: String,
    /// Who uses it.
    pub owner: Owner,
    /// How its secret is used.
    pub kind: ConnectionKind,
    /// Where its secret may be sent, as [`Place`] has it: a service that moved has to be connected again.
    pub place: String,
    /// Whether it works.
    pub state: ConnectionState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its secret or its state last changed.
    pub updated_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
}

/// Who uses a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// All callers of its tenant.
    Shared,
    /// This person, and who works for them.
    Person(PrincipalId),
}

impl Owner {
    /// The text form, as stored: `shared`, or the person's id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Shared => "shared",
            Self::Person(person) => person.as_str(),
        }
    }
}

impl std::str::FromStr for Owner {
    type Err = crate::id::BadId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // No principal is named so: each has a kind and a colon.
        if text == "shared" { Ok(Self::Shared) } else { text.parse().map(Self::Person) }
    }
}

/// How a connection's secret is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ConnectionKind {
    /// Sent as `Authorization: Bearer`.
    Token,
    /// Sent as this header.
    Header {
        /// Its name.
        name: String,
    },
    /// Given to a process as this environment variable.
    Env {
        /// Its name.
        name: String,
    },
    /// A login at an authorization server: a token that is kept fresh.
    Oauth(OauthAccount),
}

impl ConnectionKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Header { .. } => "header",
            Self::Env { .. } => "env",
            Self::Oauth(_) => "oauth",
        }
    }
}

/// A login at an authorization server, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthAccount {
    /// The authorization server.
    pub issuer: String,
    /// Where its tokens come from.
    pub token_endpoint: String,
    /// What we are to it.
    pub client_id: String,
    /// How we show that we are.
    pub client_auth: ClientAuth,
    /// Where it sends browsers back to; a registration holds for this address alone.
    pub redirect_uri: String,
    /// What the tokens are for.
    pub resource: String,
    /// What they let us do.
    pub scopes: Vec<String>,
}

/// How a client shows who it is at a token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// By its id alone.
    None,
    /// With its secret in the form.
    Post,
    /// With its secret in a header.
    Basic,
}

/// Whether a connection works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// As far as is known.
    Ok,
    /// Its token was refused or is over, and will be made anew when it is asked for.
    Expired,
    /// Its service or its owner ended it.
    Revoked,
    /// Someone has to connect again.
    NeedsLogin,
}

crate::contract::text_form!(ConnectionState {
    Ok = "ok",
    Expired = "expired",
    Revoked = "revoked",
    NeedsLogin = "needs_login"
});

/// A secret as it is stored: sealed under a key of its own, which is wrapped by a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// Counts up with each new secret of a connection, from 1.
    pub version: u64,
    /// The master key that wraps its own key.
    pub key_id: String,
    /// Its own key, wrapped.
    pub wrapped: Vec<u8>,
    /// The secret, sealed.
    pub sealed: Vec<u8>,
}

/// What tells the master key of a store from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCheck {
    /// The key's id.
    pub key_id: String,
    /// A value that only its holder can make, and from which nothing follows.
    pub value: String,
}

/// Where a service is: what a connection's secret may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An address.
    Url(String),
    /// A program on the gate's own machine, in words: what is set for it, its name, and its arguments. They all say where a
    /// secret goes: many a program is told in an argument or a variable whom to talk to, and some what to run.
    Program(Vec<String>),
}

impl Place {
    /// The text a connection remembers: an address without its query, or the program as it is started. The path counts:
    /// some hosts serve a stranger under each.
    #[must_use]
    pub fn bound(&self) -> String {
        match self {
            Self::Url(url) => {
                let end = url.find("://").map_or(0, |at| at + 3);
                let host = url[end..].find(['/', '?', '#']).map_or(url.len(), |at| end + at);
                let path = url[host..].split(['?', '#']).next().unwrap_or_default();
                format!("{}{}", url[..host].to_ascii_lowercase(), path.trim_end_matches('/'))
            }
            Self::Program(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted_word(word)).collect();
                let whole = format!("program:{}", words.join(" "));
                if whole.len() <= LONGEST_PLACE {
                    return whole;
                }
                let shown: String = whole.chars().take(LONGEST_PLACE / 4).collect();
                format!("{shown}… sha256:{}", to_hex(&digest(whole.as_bytes())))
            }
        }
    }
}

/// The longest place that is remembered as it is.
const LONGEST_PLACE: usize = 400;

/// A word so that nothing but itself reads like it.
fn quoted_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,${}".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => serde_json::Value::from(word).to_string(),
    }
}

/// How the gate describes itself to authorization servers, to register or to be read.
#[must_use]
pub fn client_description(redirect_uri: &str) -> serde_json::Value {
    serde_json::json!({
        "client_name": "Toolgate",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    })
}

/// Whether a text can name a service: a kind, a colon and a name, such as `mcp:github`.
#[must_use]
pub fn is_service(text: &str) -> bool {
    let part = |text: &str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b))
            && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
    };
    text.split_once(':').is_some_and(|(kind, name)| part(kind) && part(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_shared_or_a_person() {
        for text in ["shared", "user:ada"] {
            assert_eq!(text.parse::<Owner>().unwrap().as_str(), text);
        }
        assert!("ada".parse::<Owner>().is_err());
    }

    #[test]
    fn services_have_a_kind_and_a_name() {
        for good in ["mcp:github", "mcp:a.b-c_1", "http:x"] {
            assert!(is_service(good), "{good}");
        }
        for bad in ["", "mcp", "mcp:", ":x", "mcp:A", "mcp:../x", "mcp:a/b", "mcp:a:b", "mcp:.a", "mcp:a b"] {
            assert!(!is_service(bad), "{bad}");
        }
    }

    #[test]
    fn a_place_is_an_address_without_its_query() {
        let check = |url: &str, expected: &str| assert_eq!(Place::Url(url.to_owned()).bound(), expected);
        check("https://MCP.example/a/B?c#d", "https://mcp.example/a/B");
        check("https://mcp.example/", "https://mcp.example");
        check("http://10.0.0.1:8080", "http://10.0.0.1:8080");
    }

    #[test]
    fn a_program_with_other_arguments_is_another_place() {
        let bound =
            |words: &[&str]| Place::Program(words.iter().map(|&word| word.to_owned()).collect()).bound();
        assert_eq!(bound(&["/bin/x"]), "program:/bin/x");
        assert_eq!(
            bound(&["A=b", "npx", "-y", "${KEY}", "two words"]),
            "program:A=b npx -y ${KEY} \"two words\""
        );
        let different = [
            bound(&["x", "a b"]),
            bound(&["x", "a", "b"]),
            bound(&["x", "\"a b\""]),
            bound(&["x", "a", "b", ""]),
            bound(&["x", &"a".repeat(1_000)]),
            bound(&["x", &"a".repeat(1_001)]),
        ];
        for (at, place) in different.iter().enumerate() {
            assert!(place.len() < 500 && !different[..at].contains(place), "{place}");
        }
    }
}

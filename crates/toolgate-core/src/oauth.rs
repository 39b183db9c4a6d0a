//! Applications that people let in: what is known of them, what they were allowed, and the tokens that stand for it.

use serde::{Deserialize, Serialize};

use crate::contract::text_form;
use crate::id::{OauthGrantId, PrincipalId, TenantId};
use crate::json::{JsonText, digest};
use crate::principal::Principal;
use crate::scope::{Scope, Scopes};
use crate::time::Timestamp;

/// An application that may ask people to let it in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthClient {
    /// What people call it.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// How it became known.
    pub kind: OauthClientKind,
    /// SHA-256 of its secret in hexadecimal digits; none for one that can't keep a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hash: Option<String>,
    /// The most it may ask for; none means whatever is offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<OauthScope>,
}

/// How an application became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OauthClientKind {
    /// Someone who manages the tenant named it.
    Registered,
    /// Its id is the address of a document about it.
    MetadataDocument,
    /// It named itself.
    Dynamic,
}

text_form!(OauthClientKind {
    Registered = "registered",
    MetadataDocument = "metadata_document",
    Dynamic = "dynamic"
});

/// What an application can be allowed. Each narrows what the person may do themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OauthScope {
    /// See and call tools.
    #[serde(rename = "tools")]
    Tools,
    /// See and call tools that only read.
    #[serde(rename = "tools:read")]
    ToolsRead,
    /// Decide on waiting calls.
    #[serde(rename = "approve")]
    Approve,
}

text_form!(OauthScope { Tools = "tools", ToolsRead = "tools:read", Approve = "approve" });

impl OauthScope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Tools, Self::ToolsRead, Self::Approve];

    /// The narrowing that these stand for; none when there is none at all, which must not become "everything".
    #[must_use]
    pub fn narrow(granted: &[Self]) -> Option<Scopes> {
        let all_tools = granted.contains(&Self::Tools);
        let scopes = granted.iter().filter_map(|scope| match scope {
            Self::Tools => "tool:*".parse().ok(),
            // Beside `tools` it would take away what that gives: an effect narrows.
            Self::ToolsRead if all_tools => None,
            Self::ToolsRead => "effect:read".parse().ok(),
            Self::Approve => Some(Scope::Approve),
        });
        let scopes = Scopes::new(scopes);
        (!scopes.is_all()).then_some(scopes)
    }

    /// Whether these together allow what this one does.
    #[must_use]
    pub fn is_within(self, granted: &[Self]) -> bool {
        granted.contains(&self) || (self == Self::ToolsRead && granted.contains(&Self::Tools))
    }
}

/// What a person let an application do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthGrant {
    /// Its id.
    pub id: OauthGrantId,
    /// Whose wall it opens.
    pub tenant: TenantId,
    /// Who let it in; the application acts as them.
    pub principal: PrincipalId,
    /// The application.
    pub client_id: String,
    /// What people called the application then.
    pub client_name: String,
    /// What it may do.
    pub scopes: Vec<OauthScope>,
    /// Where its tokens work (RFC 8707).
    pub resource: String,
    /// When.
    pub created_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it ends if it is not used.
    pub expires_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

impl OauthGrant {
    /// Whether its tokens open anything at this moment.
    #[must_use]
    pub fn works_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// The id that the record names for someone whom another server's token vouches for: there is no grant of ours behind
/// it, and it is always the same for a person.
#[must_use]
pub fn grant_elsewhere(issuer: &str, sub: &str) -> OauthGrantId {
    let digest = digest(format!("toolgate.oauth {} {issuer}{sub}", issuer.len()).as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    OauthGrantId::from_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OauthTokenKind {
    /// To be exchanged once for the other two.
    Code,
    /// To be shown with each request.
    Access,
    /// To be exchanged once for the next two.
    Refresh,
}

text_form!(OauthTokenKind { Code = "code", Access = "access", Refresh = "refresh" });

/// A token of a grant. The token itself is never stored, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthToken {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// What it stands for.
    pub grant: OauthGrantId,
    /// What it is for.
    pub kind: OauthTokenKind,
    /// What it may do of what the grant allows.
    pub scopes: Vec<OauthScope>,
    /// What a code is bound to, as JSON.
    pub data: Option<JsonText>,
    /// When it stops working.
    pub expires_at: Timestamp,
    /// When it was exchanged; one that is shown again was stolen.
    pub used_at: Option<Timestamp>,
}

/// A token with the grant it stands for, and who gave it, as they stand now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthHolder {
    /// The token.
    pub token: OauthToken,
    /// The grant.
    pub grant: OauthGrant,
    /// Who gave it.
    pub principal: Principal,
}

/// An application that named itself, for all tenants of this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthRegistration {
    /// Its id.
    pub client_id: String,
    /// What it said of itself.
    pub client: OauthClient,
    /// When.
    pub created_at: Timestamp,
    /// When a person last let it in.
    pub last_used_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_narrow_and_nothing_is_never_everything() {
        let check = |granted: &[OauthScope], expected: Option<&[&str]>| {
            let texts = OauthScope::narrow(granted)
                .map(|scopes| scopes.as_slice().iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(texts, expected.map(|texts| texts.iter().map(|t| (*t).to_owned()).collect()));
        };
        use OauthScope::{Approve, Tools, ToolsRead};
        check(&[], None);
        check(&[Tools], Some(&["tool:*"]));
        check(&[ToolsRead], Some(&["effect:read"]));
        check(&[Tools, ToolsRead], Some(&["tool:*"]));
        check(&[Approve], Some(&["approve"]));
        check(&[ToolsRead, Approve], Some(&["effect:read", "approve"]));
        assert!(ToolsRead.is_within(&[Tools]));
        assert!(!Tools.is_within(&[ToolsRead, Approve]));
    }
}

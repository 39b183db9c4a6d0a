//! What a token opens: only the place it is for (RFC 8707), and only while everything behind it stands.

use std::net::IpAddr;
use std::sync::Arc;

use toolgate_core::oauth::{OauthScope, OauthTokenKind};
use toolgate_core::{Actor, Credential, Timestamp};

use super::exchange::ACCESS;
use crate::authenticate::hash_key;
use crate::{App, AppError};

/// The longest token of another server.
const MOST_BYTES: usize = 8 * 1024;

/// Where on this server a credential is shown.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// Where this server is, without a `/` at the end.
    pub base: &'a str,
    /// The path of the request.
    pub path: &'a str,
}

/// What a token is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Audience {
    /// This address and what is below it.
    Resource(Arc<str>),
    /// `/mcp` and what is below it, wherever this server is.
    Mcp,
}

impl Audience {
    /// Whether it opens this address.
    pub(crate) fn opens(&self, address: &Address<'_>) -> bool {
        match self {
            Self::Resource(resource) => {
                let full = format!("{}{}", address.base, address.path);
                below(&full, resource)
            }
            Self::Mcp => below(address.path, "/mcp"),
        }
    }
}

fn below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl App {
    /// Who a bearer credential speaks for at this address: a key anywhere, a token only where it is for.
    /// As [`App::authenticate_from`] with keys, an address that sends wrong ones is slowed down.
    ///
    /// # Errors
    /// When too many wrong ones came from there, or the store can't be asked.
    pub async fn authenticate_at(
        &self,
        credential: &str,
        peer: IpAddr,
        address: Address<'_>,
    ) -> Result<Option<Actor>, AppError> {
        if !is_token(credential) {
            return self.authenticate_from(credential, peer).await;
        }
        let found = self
            .measured(credential, peer, || async {
                let (hash, now) = (hash_key(credential), self.now());
                if let Some((actor, Some(audience))) = self.known(&hash, now) {
                    self.note_use(&actor, now);
                    return Ok(Some((actor, audience)));
                }
                let found = if credential.starts_with(ACCESS) {
                    self.token_actor(credential, now).await?
                } else {
                    self.foreign_actor(credential).await?
                };
                if let Some((actor, _)) = &found {
                    self.note_use(actor, now);
                }
                Ok(found)
            })
            .await?;
        Ok(found.filter(|(_, audience)| audience.opens(&address)).map(|(actor, _)| actor))
    }

    async fn token_actor(&self, token: &str, now: Timestamp) -> Result<Option<(Actor, Audience)>, AppError> {
        let (hash, before) = (hash_key(token), self.snapshots.moves());
        let found = self.store().oauth_token(&hash).await?;
        let works = |holder: &toolgate_core::oauth::OauthHolder| {
            holder.token.kind == OauthTokenKind::Access
                && now < holder.token.expires_at
                && holder.grant.works_at(now)
        };
        let Some(holder) = found.filter(works) else { return Ok(None) };
        let Some(scopes) = OauthScope::narrow(&holder.token.scopes) else { return Ok(None) };
        let credential = Credential::Token(holder.grant.id);
        let Some(actor) = self.actor_from(holder.principal, credential, scopes, None).await? else {
            return Ok(None);
        };
        let audience = Audience::Resource(holder.grant.resource.into());
        self.note_working(hash);
        self.remember(hash, &actor, Some(holder.token.expires_at), Some(audience.clone()), before);
        Ok(Some((actor, audience)))
    }

    async fn foreign_actor(&self, token: &str) -> Result<Option<(Actor, Audience)>, AppError> {
        if token.len() > MOST_BYTES {
            return Ok(None);
        }
        let (hash, before) = (hash_key(token), self.snapshots.moves());
        let Some(vouched) = self.vouched_actor(token).await? else { return Ok(None) };
        let audience = match vouched.issuer.resource() {
            Some(resource) => Audience::Resource(resource.into()),
            None => Audience::Mcp,
        };
        self.note_working(hash);
        self.remember(hash, &vouched.actor, Some(vouched.expires_at), Some(audience.clone()), before);
        Ok(Some((vouched.actor, audience)))
    }
}

/// Whether this is a token, ours or another server's (a JWT), and not a key.
fn is_token(credential: &str) -> bool {
    credential.starts_with(ACCESS) || (credential.starts_with("ey") && credential.split('.').count() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_what_it_is_for_and_what_is_below() {
        let check = |resource: &str, path: &str, expected: bool| {
            let address = Address { base: "https://gate.example", path };
            let opens = Audience::Resource(resource.into()).opens(&address);
            assert_eq!(opens, expected, "{resource} {path}");
        };
        check("https://gate.example/mcp", "/mcp", true);
        check("https://gate.example/mcp", "/mcp/sales", true);
        check("https://gate.example/mcp", "/mcpx", false);
        check("https://gate.example/mcp", "/api/v1/tools", false);
        check("https://gate.example/mcp/sales", "/mcp/sales", true);
        check("https://gate.example/mcp/sales", "/mcp", false);
        check("https://gate.example/mcp/sales", "/mcp/sales-other", false);
        check("https://gate.example", "/api/v1/tools", true);
        check("https://gate.example", "/mcp", true);
        check("https://other.example/mcp", "/mcp", false);
        check("http://gate.example/mcp", "/mcp", false);
        let at = |path| Audience::Mcp.opens(&Address { base: "https://gate.example", path });
        assert!(at("/mcp") && at("/mcp/sales") && !at("/api/v1/tools") && !at("/mcpx"));
    }

    #[test]
    fn keys_are_not_taken_for_tokens() {
        assert!(is_token(&format!("tgo_{}", "0".repeat(64))));
        assert!(is_token("eyJh.eyJp.c2ln"));
        assert!(!is_token(&format!("tgk_{}", "0".repeat(64))));
        assert!(!is_token("eyJh"));
    }
}

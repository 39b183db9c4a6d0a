//! An application asks a person to let it in: what it asks for is checked, the person decides, and it gets a code.

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::id::{OauthGrantId, PrincipalKind, Slug};
use toolgate_core::json::digest;
use toolgate_core::oauth::{
    OauthClient, OauthClientKind, OauthGrant, OauthScope, OauthToken, OauthTokenKind,
};
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Credential, JsonText};

use super::client::DYNAMIC;
use super::{CODE_LASTS, MOST_GRANTS, OauthCode, OauthError, redirect};
use crate::secret::Secret;
use crate::{App, AppError};

/// What an application asks for, as it came.
#[derive(Debug, Clone, Default)]
pub struct AuthorizeRequest {
    /// Who asks.
    pub client_id: String,
    /// Where the person is to be sent back to.
    pub redirect_uri: String,
    /// `code`.
    pub response_type: String,
    /// What the application will prove later (PKCE).
    pub code_challenge: String,
    /// `S256`.
    pub code_challenge_method: String,
    /// What it wants to do.
    pub scope: Option<String>,
    /// What it wants handed back.
    pub state: Option<String>,
    /// Where its tokens are to work (RFC 8707).
    pub resource: Option<String>,
}

/// What a person is asked to decide on.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// Who asks.
    pub client_id: String,
    /// What is known of them.
    pub client: OauthClient,
    /// Where the person is sent back to.
    pub redirect_uri: String,
    /// What that is for people: a host, or an application's scheme.
    pub redirect_place: String,
    /// What the application wants to do.
    pub scopes: Vec<OauthScope>,
    /// Where its tokens will work.
    pub resource: String,
    /// What is handed back.
    pub state: Option<String>,
    challenge: String,
}

/// Why a request can't be decided on.
#[derive(Debug)]
pub enum AuthorizeFault {
    /// Nobody can be sent back: it is not known where to.
    Here(OauthError),
    /// The person is sent back with this.
    Back {
        /// Where to.
        redirect_uri: String,
        /// What is handed back.
        state: Option<String>,
        /// What is wrong.
        code: OauthCode,
        /// The same in words.
        description: String,
    },
}

/// What a code is bound to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CodeBinding {
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
}

impl App {
    /// Checks what an application asks of a person who is signed in. `base` is where this server is.
    ///
    /// # Errors
    /// Before it is known where the person can be sent back to, they are told here; from then on, the application, if
    /// someone who manages the tenant named it or it is on the person's own machine.
    pub async fn check_authorization(
        &self,
        actor: &Actor,
        request: AuthorizeRequest,
        base: &str,
    ) -> Result<Authorization, AuthorizeFault> {
        let whom = digest(format!("{} {}", actor.tenant, actor.principal).as_bytes());
        let client = self
            .oauth_client(&actor.tenant, &request.client_id, &whom)
            .await
            .map_err(AuthorizeFault::Here)?;
        if !redirect::matches(&client.redirect_uris, &request.redirect_uri) {
            return Err(AuthorizeFault::Here(OauthError::new(
                OauthCode::InvalidRedirectUri,
                "the application did not name this `redirect_uri` before",
            )));
        }
        let checked = check(&request, &client, base);
        // Anyone can make an application that nobody here named: a link to us must not send people on to wherever it
        // likes before they decided anything (RFC 9700, 4.11.2). Their own machine is no such place.
        let sent_back =
            client.kind == OauthClientKind::Registered || redirect::is_loopback_uri(&request.redirect_uri);
        let (scopes, resource) = checked.map_err(|(code, description)| match sent_back {
            true => AuthorizeFault::Back {
                redirect_uri: request.redirect_uri.clone(),
                state: request.state.clone(),
                code,
                description: description.to_owned(),
            },
            false => AuthorizeFault::Here(OauthError::new(code, description)),
        })?;
        Ok(Authorization {
            redirect_place: redirect::place(&request.redirect_uri),
            client_id: request.client_id,
            client,
            redirect_uri: request.redirect_uri,
            scopes,
            resource,
            state: request.state,
            challenge: request.code_challenge,
        })
    }

    /// A person lets an application in, with these scopes of those it asked for. Returns the code it is sent.
    ///
    /// # Errors
    /// "Forbidden" for whoever is not a person at a browser; "invalid" when nothing is allowed.
    pub async fn allow_oauth_client(
        &self,
        actor: &Actor,
        authorization: &Authorization,
        allowed: &[OauthScope],
    ) -> Result<Secret, AppError> {
        let at_browser = matches!(actor.credential, Credential::SignIn(_));
        if !at_browser || actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person who is signed in lets applications in"));
        }
        let mut scopes: Vec<OauthScope> =
            allowed.iter().copied().filter(|scope| scope.is_within(&authorization.scopes)).collect();
        scopes.sort();
        scopes.dedup();
        if OauthScope::narrow(&scopes).is_none() {
            return Err(AppError::invalid("nothing is allowed")
                .with_hint("tick what the application may do, or do not let it in"));
        }
        let now = self.now();
        let own = self.store().oauth_grants(&actor.tenant, Some(&actor.principal), now, None, MOST_GRANTS);
        if own.await?.len() >= MOST_GRANTS as usize {
            return Err(AppError::Conflict {
                message: format!("you let {MOST_GRANTS} applications in, the most there may be; revoke some"),
            });
        }
        let code = Secret::generate()?;
        let grant = OauthGrant {
            id: OauthGrantId::generate(),
            tenant: actor.tenant.clone(),
            principal: actor.principal.clone(),
            client_id: authorization.client_id.clone(),
            client_name: authorization.client.name.clone(),
            scopes: scopes.clone(),
            resource: authorization.resource.clone(),
            created_at: now,
            last_used_at: None,
            // Until the code is exchanged there is nothing to keep.
            expires_at: now.plus(CODE_LASTS),
            revoked_at: None,
        };
        let binding = CodeBinding {
            redirect_uri: authorization.redirect_uri.clone(),
            challenge: authorization.challenge.clone(),
        };
        let token = OauthToken {
            hash: code.hash(),
            grant: grant.id,
            kind: OauthTokenKind::Code,
            scopes,
            data: Some(JsonText::from_serialize(&binding).map_err(StoreError::unavailable)?),
            expires_at: grant.expires_at,
            used_at: None,
        };
        let summary = json!({
            "action": "oauth.granted", "grant": grant.id, "client": grant.client_id, "name": grant.client_name,
            "scopes": grant.scopes, "resource": grant.resource,
        });
        self.change(actor, summary, vec![Write::PutOauthGrant(Box::new(grant))]).await?;
        self.store().put_oauth_token(token).await?;
        if authorization.client_id.starts_with(DYNAMIC) {
            self.store().touch_oauth_registration(&authorization.client_id, now).await?;
        }
        metrics::counter!("toolgate_oauth_grants_total").increment(1);
        Ok(code)
    }
}

type Wrong = (OauthCode, &'static str);

fn check(
    request: &AuthorizeRequest,
    client: &OauthClient,
    base: &str,
) -> Result<(Vec<OauthScope>, String), Wrong> {
    if request.response_type != "code" {
        return Err((OauthCode::UnsupportedResponseType, "`response_type` must be `code`"));
    }
    if request.code_challenge_method != "S256" || request.code_challenge.is_empty() {
        return Err((
            OauthCode::InvalidRequest,
            "PKCE is required: `code_challenge` with `code_challenge_method=S256`",
        ));
    }
    let challenge = &request.code_challenge;
    let fits = challenge.len() == 43
        && challenge.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !fits {
        return Err((OauthCode::InvalidRequest, "`code_challenge` is not 43 characters of base64url"));
    }
    if request.state.as_ref().is_some_and(|state| state.len() > 2_000) {
        return Err((OauthCode::InvalidRequest, "`state` is too long"));
    }
    let resource = resource_of(base, request.resource.as_deref())
        .ok_or((OauthCode::InvalidTarget, "`resource` is not a place of this server that tokens are for"))?;
    let scopes = wanted(request.scope.as_deref(), &client.scopes)
        .ok_or((OauthCode::InvalidScope, "no `scope` is known here that the application may ask for"))?;
    Ok((scopes, resource))
}

/// What is wanted of what this application may have. Words that are not known here are passed over, as RFC 6749 lets
/// us: the answer says what was granted.
fn wanted(scope: Option<&str>, most: &[OauthScope]) -> Option<Vec<OauthScope>> {
    let words: Vec<&str> = scope.unwrap_or_default().split_ascii_whitespace().collect();
    let asked: Vec<OauthScope> = match (words.is_empty(), most.is_empty()) {
        (true, true) => vec![OauthScope::Tools],
        (true, false) => most.to_vec(),
        (false, _) => OauthScope::ALL.into_iter().filter(|scope| words.contains(&scope.as_str())).collect(),
    };
    let most = if most.is_empty() { &OauthScope::ALL[..] } else { most };
    let within: Vec<OauthScope> = asked.into_iter().filter(|scope| scope.is_within(most)).collect();
    (!within.is_empty()).then_some(within)
}

/// The place tokens are asked for, in its one spelling: the server as a whole, `/mcp`, or one toolset's. Where none is
/// named it is `/mcp`.
pub(super) fn resource_of(base: &str, asked: Option<&str>) -> Option<String> {
    let Some(asked) = asked else { return Some(format!("{base}/mcp")) };
    let asked = asked.trim_end_matches('/');
    let path = asked.strip_prefix(base)?;
    let known = match path.strip_prefix("/mcp") {
        None => path.is_empty(),
        Some("") => true,
        Some(toolset) => toolset.strip_prefix('/').is_some_and(|name| name.parse::<Slug>().is_ok()),
    };
    known.then(|| asked.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_for_places_of_ours() {
        let check = |asked: Option<&str>, expected: Option<&str>| {
            assert_eq!(resource_of("https://gate.example", asked).as_deref(), expected, "{asked:?}");
        };
        check(None, Some("https://gate.example/mcp"));
        check(Some("https://gate.example"), Some("https://gate.example"));
        check(Some("https://gate.example/"), Some("https://gate.example"));
        check(Some("https://gate.example/mcp"), Some("https://gate.example/mcp"));
        check(Some("https://gate.example/mcp/sales"), Some("https://gate.example/mcp/sales"));
        check(Some("https://gate.example/mcp/a/b"), None);
        check(Some("https://gate.example/mcp/../api"), None);
        check(Some("https://gate.example/api"), None);
        check(Some("https://gate.example.evil/mcp"), None);
        check(Some("http://gate.example/mcp"), None);
        check(Some(""), None);
    }

    #[test]
    fn scopes_are_those_we_know_and_the_application_may_have() {
        use OauthScope::{Approve, Tools, ToolsRead};
        let check = |scope: Option<&str>, most: &[OauthScope], expected: Option<&[OauthScope]>| {
            assert_eq!(wanted(scope, most).as_deref(), expected, "{scope:?} {most:?}");
        };
        check(None, &[], Some(&[Tools]));
        check(Some(""), &[], Some(&[Tools]));
        check(Some("approve tools offline_access"), &[], Some(&[Tools, Approve]));
        check(Some("openid"), &[], None);
        check(None, &[ToolsRead], Some(&[ToolsRead]));
        check(Some("tools"), &[ToolsRead], None);
        check(Some("tools:read approve"), &[Tools], Some(&[ToolsRead]));
    }
}

//! Logging in at a service: sent to its authorization server, and back with a code.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use toolgate_core::connection::{
    ClientAuth, Connection, ConnectionKind, ConnectionState, OauthAccount, Owner, Place, SealedSecret,
};
use toolgate_core::id::{ConnectionId, PrincipalId, TenantId};
use toolgate_core::json::to_hex;
use toolgate_core::port::broker::{Broker, Login, Returned, Underway};
use toolgate_core::port::connection::Opened;
use toolgate_core::text::plain_name;
use toolgate_core::{CallError, ErrorCode, JsonText};
use toolgate_egress::Url;
use zeroize::{Zeroize, Zeroizing};

use crate::broker::{SecretBroker, unavailable};
use crate::contents::Contents;
use crate::envelope::{Belongs, EnvelopeError, open_for, seal_for};
use crate::oauth::{Client, Grant, Server, TokenFault, challenge, discover, redeem, register, unusable};
use crate::refresh::granted;

const PURPOSE: &str = "login";

/// What is remembered of someone on their way. What is secret in it is sealed.
#[derive(Debug, Serialize, Deserialize)]
struct Papers {
    service: String,
    owner: String,
    place: String,
    account: OauthAccount,
    /// Whether the answer has to say who it comes from.
    says_issuer: bool,
    key_id: String,
    sealed: String,
}

/// What is secret in it.
#[derive(Serialize, Deserialize)]
struct Kept {
    verifier: String,
    client_secret: Option<String>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.verifier.zeroize();
        self.client_secret.zeroize();
    }
}

#[async_trait]
impl Broker for SecretBroker {
    fn seal(&self, connection: &Connection, secret: &Opened) -> Result<SealedSecret, CallError> {
        let belongs = Belongs { tenant: &connection.tenant, connection: connection.id };
        self.sealed(belongs, 1, &Contents::of(secret.reveal()))
    }

    async fn depart(&self, login: &Login) -> Result<Underway, CallError> {
        let Place::Url(address) = &login.place else {
            return Err(unusable("a program has nowhere to log in"));
        };
        let server = discover(&self.parts.egress, address).await?;
        let client = self.client(login, &server).await?;
        let mut random = Zeroizing::new([0u8; 32]);
        getrandom::fill(&mut *random).map_err(|_| sealing(&EnvelopeError::NoRandomness))?;
        let kept = Kept {
            verifier: to_hex(&*random),
            client_secret: client.secret.as_ref().map(|secret| secret.to_string()),
        };
        let url = authorize_url(&server, &client, login, &kept.verifier)?;
        let text = Zeroizing::new(serde_json::to_vec(&kept).map_err(|_| sealing(&EnvelopeError::Broken))?);
        let bound = bound_to(&login.tenant, &login.person, &login.service);
        let (key_id, sealed) =
            seal_for(&self.parts.keyring, PURPOSE, &bound, &text).map_err(|e| sealing(&e))?;
        let papers = Papers {
            service: login.service.clone(),
            owner: login.owner.as_str().to_owned(),
            place: login.place.bound(),
            account: account(&server, &client, login),
            says_issuer: server.metadata.authorization_response_iss_parameter_supported,
            key_id,
            sealed: URL_SAFE_NO_PAD.encode(sealed),
        };
        let papers = JsonText::from_serialize(&papers).map_err(|_| sealing(&EnvelopeError::Broken))?;
        Ok(Underway { url, papers })
    }

    async fn arrive(
        &self,
        tenant: &TenantId,
        person: &PrincipalId,
        back: Returned,
    ) -> Result<(Connection, SealedSecret), CallError> {
        let papers: Papers = serde_json::from_str(back.papers.as_str()).map_err(|_| not_ours())?;
        let owner: Owner = papers.owner.parse().map_err(|_| not_ours())?;
        let sealed = URL_SAFE_NO_PAD.decode(&papers.sealed).map_err(|_| not_ours())?;
        let bound = bound_to(tenant, person, &papers.service);
        let kept = open_for(&self.parts.keyring, PURPOSE, &bound, (&papers.key_id, &sealed));
        let kept: Kept = serde_json::from_slice(&kept.map_err(|_| not_ours())?).map_err(|_| not_ours())?;
        // RFC 9207: an answer from another server is what a mix-up attack looks like.
        let issuer = back.issuer.as_deref();
        if issuer.map_or(papers.says_issuer, |issuer| issuer != papers.account.issuer) {
            return Err(refused("the answer comes from another authorization server"));
        }
        let code = back.code.as_deref().ok_or_else(|| {
            let said = back.refusal.map(|said| format!("; it says: `{}`", plain_name(&said, 300)));
            refused(&format!("the authorization server did not let you in{}", said.unwrap_or_default()))
        })?;
        let secret = kept.client_secret.as_deref();
        let grant = Grant::Code { code, verifier: &kept.verifier };
        let tokens =
            redeem(&self.parts.egress, &papers.account, secret, grant).await.map_err(
                |fault| match fault {
                    TokenFault::Refused(why) => {
                        refused(&format!("the authorization server gave no token: {why}"))
                    }
                    TokenFault::Later(cause) => match cause {
                        Some(cause) => crate::oauth::unreachable("the authorization server", &cause),
                        None => unusable("the authorization server's answer can't be used"),
                    },
                },
            )?;
        let now = self.parts.clock.now();
        let mut contents = Contents::of(&tokens.access_token);
        contents.refresh.clone_from(&tokens.refresh_token);
        contents.client_secret.clone_from(&kept.client_secret);
        contents.expires_at = tokens.lasts().map(|lasts| now.plus(lasts));
        let account = OauthAccount { scopes: granted(&papers.account, &tokens), ..papers.account };
        let connection = Connection {
            id: ConnectionId::generate(),
            tenant: tenant.clone(),
            service: papers.service,
            owner,
            kind: ConnectionKind::Oauth(account),
            place: papers.place,
            state: ConnectionState::Ok,
            created_at: now,
            updated_at: now,
            last_used_at: None,
        };
        let sealed = self.sealed(Belongs { tenant, connection: connection.id }, 1, &contents)?;
        Ok((connection, sealed))
    }
}

impl SecretBroker {
    pub(crate) fn sealed(
        &self,
        belongs: Belongs<'_>,
        version: u64,
        contents: &Contents,
    ) -> Result<SealedSecret, CallError> {
        let bytes = contents.write().ok_or_else(|| sealing(&EnvelopeError::Broken))?;
        self.parts.keyring.seal(belongs, version, &bytes).map_err(|cause| sealing(&cause))
    }

    /// What we are to the server: as before if we were something, so that nobody fills its list of clients.
    async fn client(&self, login: &Login, server: &Server) -> Result<Client, CallError> {
        let found = self.parts.store.connection(&login.tenant, &login.service, &login.owner).await;
        if let Some((connection, sealed)) = found.map_err(unavailable)?
            && let ConnectionKind::Oauth(account) = &connection.kind
            && account.issuer == server.metadata.issuer
            && account.redirect_uri == login.redirect_uri
            && !self.parts.clients.knows(&account.issuer)
            // One that had to be made again may have been forgotten there.
            && connection.state == ConnectionState::Ok
        {
            let (id, auth) = (account.client_id.clone(), account.client_auth);
            let secret = self.open(connection, sealed)?.contents.client_secret.clone().map(Zeroizing::new);
            return Ok(Client { id, secret, auth });
        }
        let wanted = scopes(server);
        register(&self.parts.egress, &server.metadata, &self.parts.clients, &login.redirect_uri, &wanted)
            .await
    }
}

fn account(server: &Server, client: &Client, login: &Login) -> OauthAccount {
    OauthAccount {
        issuer: server.metadata.issuer.clone(),
        token_endpoint: server.metadata.token_endpoint.clone(),
        client_id: client.id.clone(),
        client_auth: if client.secret.is_some() { client.auth } else { ClientAuth::None },
        redirect_uri: login.redirect_uri.clone(),
        resource: server.resource.clone(),
        scopes: scopes(server),
    }
}

/// What is asked for: what the service wants and, where it can be had, to stay logged in.
fn scopes(server: &Server) -> Vec<String> {
    let mut scopes = server.scopes.clone();
    let offline = "offline_access";
    let offered = server.metadata.scopes_supported.iter().any(|scope| scope == offline);
    if offered && !scopes.iter().any(|scope| scope == offline) {
        scopes.push(offline.to_owned());
    }
    scopes
}

fn authorize_url(
    server: &Server,
    client: &Client,
    login: &Login,
    verifier: &str,
) -> Result<String, CallError> {
    let broken = |_| unusable("the authorization server's metadata is broken");
    let mut url = Url::parse(&server.metadata.authorization_endpoint).map_err(broken)?;
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &client.id)
        .append_pair("redirect_uri", &login.redirect_uri)
        .append_pair("state", &login.state)
        .append_pair("code_challenge", &challenge(verifier))
        .append_pair("code_challenge_method", "S256")
        .append_pair("resource", &server.resource);
    let scopes = scopes(server);
    if !scopes.is_empty() {
        url.query_pairs_mut().append_pair("scope", &scopes.join(" "));
    }
    Ok(url.into())
}

fn bound_to(tenant: &TenantId, person: &PrincipalId, service: &str) -> Vec<u8> {
    format!("toolgate.login.v1\0{tenant}\0{person}\0{service}").into_bytes()
}

fn sealing(cause: &EnvelopeError) -> CallError {
    tracing::error!(error = %cause, "ALERT: a secret could not be sealed");
    CallError::new(ErrorCode::UpstreamFailed, "the secret could not be sealed").hint("try again later")
}

fn not_ours() -> CallError {
    refused("this is not the end of a login that began here")
}

fn refused(message: &str) -> CallError {
    CallError::new(ErrorCode::ConnectionNeeded, message).hint("begin again")
}

//! What we are to an authorization server: a client the operator registered, one it reads about at our own address, or
//! one that registers itself.

use serde::Deserialize;
use toolgate_core::CallError;
use toolgate_core::connection::{ClientAuth, client_description};
use toolgate_egress::{EgressClient, Method};
use zeroize::Zeroizing;

use super::discover::Metadata;
use super::{send, unreachable, unusable};

/// A client that an operator registered at an authorization server.
#[derive(Clone)]
pub struct KnownClient {
    /// The authorization server.
    pub issuer: String,
    /// What we are to it.
    pub client_id: String,
    /// What shows that we are, if it wants that.
    pub client_secret: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for KnownClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownClient").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// The ways we can be a client.
#[derive(Debug, Clone, Default)]
pub struct ClientRegistry {
    /// Clients the operator registered.
    pub known: Vec<KnownClient>,
    /// The address of the document that describes us, where it can be read from outside: `https` and public.
    pub document: Option<String>,
}

impl ClientRegistry {
    /// Whether an operator registered us there.
    pub(crate) fn knows(&self, issuer: &str) -> bool {
        self.known(issuer).is_some()
    }

    fn known(&self, issuer: &str) -> Option<&KnownClient> {
        let bare = issuer.trim_end_matches('/');
        self.known.iter().find(|known| known.issuer.trim_end_matches('/') == bare)
    }
}

/// What we are at one server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) secret: Option<Zeroizing<String>>,
    pub(crate) auth: ClientAuth,
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// The first way that works: known, described, registered.
pub(crate) async fn register(
    client: &EgressClient,
    metadata: &Metadata,
    registry: &ClientRegistry,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<Client, CallError> {
    if let Some(known) = registry.known(&metadata.issuer) {
        let auth = auth_of(metadata, known.client_secret.is_some(), None);
        return Ok(Client { id: known.client_id.clone(), secret: known.client_secret.clone(), auth });
    }
    if let Some(document) =
        registry.document.as_ref().filter(|_| metadata.client_id_metadata_document_supported)
    {
        return Ok(Client { id: document.clone(), secret: None, auth: ClientAuth::None });
    }
    let Some(endpoint) = &metadata.registration_endpoint else {
        return Err(unusable("the authorization server lets nobody register")
            .hint("have the operator register this gate there and name it under `[[connections.clients]]`"));
    };
    let mut description = client_description(redirect_uri);
    if !scopes.is_empty() {
        // Many servers let a client ask for no more than it registered with.
        description["scope"] = scopes.join(" ").into();
    }
    let answer = send(client.request(Method::POST, endpoint).json(&description))
        .await
        .map_err(|cause| unreachable("the authorization server", &cause))?;
    let made = answer.status.is_success().then(|| serde_json::from_slice::<Registered>(&answer.bytes).ok());
    let Some(made) = made.flatten() else {
        return Err(unusable(format!(
            "the authorization server did not register this gate (status {})",
            answer.status.as_u16()
        )));
    };
    let secret = made.client_secret.map(Zeroizing::new);
    let auth = auth_of(metadata, secret.is_some(), made.token_endpoint_auth_method.as_deref());
    Ok(Client { id: made.client_id, secret, auth })
}

fn auth_of(metadata: &Metadata, has_secret: bool, agreed: Option<&str>) -> ClientAuth {
    if !has_secret || agreed == Some("none") {
        return ClientAuth::None;
    }
    // RFC 8414: a server that names no methods takes the header.
    let taken = metadata.token_endpoint_auth_methods_supported.as_deref();
    let posts = |methods: &[String]| methods.iter().any(|method| method == "client_secret_post");
    match agreed {
        Some("client_secret_post") => ClientAuth::Post,
        Some("client_secret_basic") => ClientAuth::Basic,
        _ if taken
            .is_some_and(|methods| posts(methods) && !methods.iter().any(|m| m == "client_secret_basic")) =>
        {
            ClientAuth::Post
        }
        _ => ClientAuth::Basic,
    }
}

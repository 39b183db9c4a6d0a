//! Connections to outside accounts, wired from the operator's choices.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use toolgate_app::StoredServices;
use toolgate_broker::{BrokerParts, ClientRegistry, Keyring, KnownClient, SecretBroker, check_master_key};
use toolgate_core::port::capability::Clock;
use toolgate_core::port::store::Store;
use toolgate_egress::EgressClient;
use zeroize::Zeroizing;

/// What we are to the authorization servers of outside services.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConnectionConfig {
    /// Clients that the operator registered there.
    pub(crate) clients: Vec<ClientConfig>,
}

/// A client that the operator registered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientConfig {
    /// The authorization server.
    pub(crate) issuer: String,
    /// What we are to it.
    pub(crate) client_id: String,
    /// The environment variable that holds our secret, if it wants one.
    pub(crate) client_secret_env: Option<String>,
}

/// The master keys, once it is clear that they are this store's.
pub(crate) async fn keyring(data: &Path, store: &dyn Store) -> anyhow::Result<Keyring> {
    let keyring = Keyring::open(data)?;
    check_master_key(store, &keyring).await?;
    Ok(keyring)
}

/// The broker.
pub(crate) fn broker(
    config: ConnectionConfig,
    (store, clock): (&Arc<dyn Store>, &Arc<dyn Clock>),
    (keyring, egress): (Keyring, EgressClient),
    public_url: Option<String>,
) -> anyhow::Result<Arc<SecretBroker>> {
    let document = public_url.as_deref().filter(|url| url.starts_with("https://"));
    let clients = ClientRegistry {
        known: config.clients.into_iter().map(known).collect::<anyhow::Result<_>>()?,
        document: document.map(|url| format!("{}/oauth/client-metadata.json", url.trim_end_matches('/'))),
    };
    Ok(Arc::new(SecretBroker::new(BrokerParts {
        store: Arc::clone(store),
        services: Arc::new(StoredServices::new(Arc::clone(store))),
        keyring,
        egress,
        clock: Arc::clone(clock),
        clients,
        public_url,
    })))
}

fn known(client: ClientConfig) -> anyhow::Result<KnownClient> {
    let client_secret = client
        .client_secret_env
        .map(|name| {
            let secret =
                std::env::var(&name).with_context(|| format!("the environment variable `{name}`"))?;
            if secret.is_empty() {
                bail!("the environment variable `{name}` is empty");
            }
            Ok(Zeroizing::new(secret))
        })
        .transpose()?;
    Ok(KnownClient { issuer: client.issuer, client_id: client.client_id, client_secret })
}

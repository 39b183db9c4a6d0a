//! A gate's way to MCP servers and to accounts at outside services, as the binary wires it.

use std::sync::Arc;

use toolgate_app::{App, Connections, Snapshots, StoredServices};
use toolgate_broker::{BrokerParts, ClientRegistry, Keyring, SecretBroker};
use toolgate_core::port::capability::Clock;
use toolgate_core::port::store::Store;
use toolgate_core::upstream::CommandRule;
use toolgate_egress::{EgressClient, EgressPolicy};
use toolgate_upstream::{Settings, UpstreamPool};

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The hosts that may be reached.
pub(crate) struct Outside(pub(crate) Vec<String>);

impl Outside {
    pub(crate) fn open(self, store: &Arc<dyn Store>, clock: &Arc<dyn Clock>) -> Open {
        let allow = self.0.iter().map(|host| host.parse().unwrap()).collect();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let egress = EgressClient::new(EgressPolicy { allow, ..EgressPolicy::default() }).unwrap();
        let broker = Arc::new(SecretBroker::new(BrokerParts {
            store: Arc::clone(store),
            services: Arc::new(StoredServices::new(Arc::clone(store))),
            keyring: Keyring::from_texts(KEY, [], "the test").unwrap(),
            egress: egress.clone(),
            clock: Arc::clone(clock),
            clients: ClientRegistry::default(),
            public_url: None,
        }));
        let pool = UpstreamPool::new(Arc::clone(&broker) as _, egress, Settings::default());
        Open { broker, pool }
    }
}

/// The parts of it.
pub(crate) struct Open {
    broker: Arc<SecretBroker>,
    pool: UpstreamPool,
}

impl Open {
    pub(crate) fn join(&self, snapshots: Snapshots) -> Snapshots {
        snapshots.with_upstreams(Arc::new(self.pool.clone()), CommandRule::default())
    }

    pub(crate) fn gate(&self, connections: Connections) -> Connections {
        connections.with_accounts(Arc::clone(&self.broker) as _)
    }

    pub(crate) fn keep(self, app: App) -> App {
        app.with_broker(self.broker)
    }
}

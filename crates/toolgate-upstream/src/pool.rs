//! The servers of all tenants.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};
use toolgate_core::ToolOutput;
use toolgate_core::actor::Actor;
use toolgate_core::error::CallError;
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::port::connection::Credentials;
use toolgate_core::port::executor::{Account, Executor, Held, ToolFailure};
use toolgate_core::port::upstream::{Health, Listing, Upstreams};
use toolgate_core::runner::ClearedCall;
use toolgate_core::upstream::{Offer, Questions, Upstream, UpstreamAuth};
use toolgate_egress::EgressClient;

use crate::asking::ToPerson;
use crate::changes::Changes;
use crate::connection::{CallFault, Order};
use crate::fault::Fault;
use crate::interaction::Interaction;
use crate::server::{Rest, Server, World};
use crate::settings::Settings;

/// How often connections are looked over, at the least.
const SWEEP: Duration = Duration::from_secs(15);

type Key = (TenantId, Slug);

/// Connects to servers when they are needed and keeps the connections while they are. Cheap to clone.
#[derive(Clone)]
pub struct UpstreamPool(Arc<Inner>);

struct Inner {
    world: Arc<World>,
    servers: Mutex<HashMap<Key, Arc<Server>>>,
    changed: Arc<Mutex<Changes<Key>>>,
    swept: AtomicBool,
}

impl std::fmt::Debug for UpstreamPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamPool").finish_non_exhaustive()
    }
}

impl UpstreamPool {
    /// A pool without connections.
    #[must_use]
    pub fn new(credentials: Arc<dyn Credentials>, egress: EgressClient, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            world: Arc::new(World { credentials, egress, settings }),
            servers: Mutex::default(),
            changed: Arc::default(),
            swept: AtomicBool::new(false),
        }))
    }
}

impl Inner {
    /// The server this document describes. One that another document described ends.
    fn server(self: &Arc<Self>, tenant: &TenantId, name: &Slug, upstream: &Arc<Upstream>) -> Arc<Server> {
        let key = (tenant.clone(), name.clone());
        let (server, before) = {
            let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(server) = servers.get(&key)
                && (Arc::ptr_eq(&server.upstream, upstream) || server.upstream == *upstream)
            {
                return Arc::clone(server);
            }
            let server = Arc::new(self.made(&key, upstream));
            let before = servers.insert(key, Arc::clone(&server));
            (server, before)
        };
        if let Some(before) = before {
            before.close();
        }
        if !self.swept.swap(true, Ordering::Relaxed) {
            tokio::spawn(sweep(Arc::downgrade(self), SWEEP.min(self.world.settings.idle)));
        }
        server
    }

    fn made(&self, key: &Key, upstream: &Arc<Upstream>) -> Server {
        let (told, about) = (Arc::clone(&self.changed), key.clone());
        let changed = Arc::new(move || {
            told.lock().unwrap_or_else(PoisonError::into_inner).say(about.clone());
        });
        Server::new(key.0.clone(), key.1.clone(), Arc::clone(upstream), Arc::clone(&self.world), changed)
    }

    /// Closes what nobody uses, and of what is used the oldest where there is too much.
    fn close_unused(&self) {
        let servers: Vec<_> = {
            let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
            servers.values().cloned().collect()
        };
        let settings = &self.world.settings;
        let Some(mut since) = Instant::now().checked_sub(settings.idle) else { return };
        let mut uses: Vec<Instant> = servers.iter().flat_map(|server| server.uses()).collect();
        if let Some(over) = uses.len().checked_sub(settings.most_connections).filter(|over| *over > 0) {
            uses.sort_unstable();
            since = since.max(uses[over - 1]);
        }
        for server in servers {
            server.close_unused(since);
        }
    }
}

async fn sweep(pool: Weak<Inner>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        match pool.upgrade() {
            Some(pool) => pool.close_unused(),
            None => return,
        }
    }
}

#[async_trait]
impl Upstreams for UpstreamPool {
    fn executor(
        &self,
        tenant: &TenantId,
        name: &Slug,
        upstream: &Arc<Upstream>,
        accepted: &Offer,
    ) -> Arc<dyn Executor> {
        Arc::new(RemoteTool {
            pool: Arc::clone(&self.0),
            tenant: tenant.clone(),
            name: name.clone(),
            upstream: Arc::clone(upstream),
            tool: accepted.name.clone(),
            digest: accepted.digest(),
            account: account(name, &upstream.auth),
        })
    }

    async fn list(
        &self,
        tenant: &TenantId,
        name: &Slug,
        upstream: &Arc<Upstream>,
        person: Option<&PrincipalId>,
    ) -> Result<Listing, CallError> {
        let server = self.0.server(tenant, name, upstream);
        let person = person.filter(|_| upstream.auth == UpstreamAuth::PerUser);
        let within = Duration::from_millis(upstream.connect_timeout_ms);
        let connection = server.connection(person, Rest::Ignored).await?;
        let listed = match tokio::time::timeout(within, connection.list()).await {
            Ok(listed) => listed,
            Err(_) => {
                Err(Fault::NotSent(format!("it did not list its tools within {} ms", within.as_millis())))
            }
        };
        match listed {
            Ok(mut listing) => {
                server.listed(person);
                let named = Value::String(std::mem::take(&mut listing.server));
                if let Value::String(named) = server.secrets.hidden(named) {
                    listing.server = named;
                }
                listing.tools.retain(|offer| {
                    let repeats = server.secrets.within(&serde_json::to_string(offer).unwrap_or_default());
                    if repeats {
                        listing.problems.push("a tool that repeats a secret of ours was left out".to_owned());
                    }
                    !repeats
                });
                Ok(listing)
            }
            Err(fault) => {
                server.called(person, within, Some(&fault));
                Err(fault.into_error(name.as_str()))
            }
        }
    }

    fn health(&self, tenant: &TenantId, name: &Slug) -> Option<Health> {
        let servers = self.0.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.get(&(tenant.clone(), name.clone())).map(|server| server.health())
    }

    async fn forget(&self, tenant: &TenantId, name: &Slug) {
        let server = {
            let mut servers = self.0.servers.lock().unwrap_or_else(PoisonError::into_inner);
            servers.remove(&(tenant.clone(), name.clone()))
        };
        if let Some(server) = server {
            server.close();
        }
    }

    async fn renew(&self, tenant: &TenantId, name: &Slug, person: Option<&PrincipalId>) {
        let servers = self.0.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = servers.get(&(tenant.clone(), name.clone())) {
            server.renew(person);
        }
    }

    fn warnings(&self, offer: &Offer) -> Vec<String> {
        crate::suspicion::warnings(offer)
    }

    fn glance(&self, name: &str) -> String {
        crate::glance::glance(name)
    }

    fn take_changed(&self) -> Vec<(TenantId, Slug)> {
        let mut changed = self.0.changed.lock().unwrap_or_else(PoisonError::into_inner);
        changed.take(Instant::now())
    }
}

/// A tool of a server.
struct RemoteTool {
    pool: Arc<Inner>,
    tenant: TenantId,
    name: Slug,
    upstream: Arc<Upstream>,
    tool: String,
    /// What it was accepted as.
    digest: String,
    /// What calls go through, where the server wants to know who calls.
    account: Option<Account>,
}

#[async_trait]
impl Executor for RemoteTool {
    fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    async fn execute(&self, call: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        let (input, context) = call.into_parts();
        let arguments = match input {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let server = self.pool.server(&self.tenant, &self.name, &self.upstream);
        let person = person(&self.upstream.auth, &context.actor);
        let cancelled = context.cancelled.clone();
        let begun = async {
            let place = server.place().await?;
            server.connection(person, Rest::Respected).await.map(|connection| (place, connection))
        };
        let (_place, mut connection) = tokio::select! {
            biased;
            // Nothing was sent yet.
            () = cancelled.cancelled() => return Err(ToolFailure::Cancelled),
            begun = begun => begun.map_err(coded)?,
        };
        server.check(&connection, &self.tool, &self.digest).map_err(coded)?;
        let began = Instant::now();
        let asks = self.upstream.questions == Questions::Ask;
        let interaction = asks
            .then(|| Arc::new(ToPerson::new(Arc::clone(&server), context.clone())) as Arc<dyn Interaction>);
        let order = || Order {
            tool: &self.tool,
            arguments: &arguments,
            context: Some(&context),
            cancelled: context.cancelled.clone(),
            interaction: interaction.clone(),
        };
        let mut result = connection.call(order()).await;
        // One that ended while nobody looked is found out by the first who sends; nothing was sent, so once more.
        if let Err(CallFault::Fault(fault @ Fault::NotSent(_))) = &result
            && !connection.is_open()
        {
            server.called(person, began.elapsed(), Some(fault));
            connection = server.connection(person, Rest::Respected).await.map_err(coded)?;
            server.check(&connection, &self.tool, &self.digest).map_err(coded)?;
            result = connection.call(order()).await;
        }
        let fault = match &result {
            Err(CallFault::Fault(fault)) => Some(fault),
            Ok(_) | Err(CallFault::Failure(_)) => None,
        };
        server.called(person, began.elapsed(), fault);
        match result {
            Ok(output) => Ok(server.secrets.hidden_in_output(output)),
            Err(CallFault::Failure(failure)) => Err(server.secrets.hidden_in(failure)),
            Err(CallFault::Fault(fault)) => {
                Err(server.secrets.hidden_in(fault.into_failure(self.name.as_str())))
            }
        }
    }
}

fn account(server: &Slug, auth: &UpstreamAuth) -> Option<Account> {
    let held = match auth {
        UpstreamAuth::None => return None,
        UpstreamAuth::Shared => Held::ByAll,
        UpstreamAuth::PerUser => Held::ByEach,
    };
    Some(Account { service: format!("mcp:{server}"), held })
}

fn coded(error: CallError) -> ToolFailure {
    ToolFailure::Coded(Box::new(error))
}

/// Whose connection a call uses, where each has their own: that of the person who calls, or for whom it is called.
fn person<'a>(auth: &UpstreamAuth, actor: &'a Actor) -> Option<&'a PrincipalId> {
    match auth {
        UpstreamAuth::None | UpstreamAuth::Shared => None,
        UpstreamAuth::PerUser => Some(actor.subject_id().unwrap_or(&actor.principal)),
    }
}

//! What is in force in each tenant, in memory: tools, policies and everything else its managers decided.
//!
//! A snapshot is never changed. It is made anew when the tenant's generation, or the default tenant's word on tools, has
//! moved on: at once on the node that made the change, within a poll on the others. A tenant that moved on and can't be
//! read does not hold up the others, and does not go on under rules that may be gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::time::Instant;
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::limit::Limit;
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::tenant::Tenant;
use toolgate_core::tool_setting::{Enablement, ToolSetting};
use toolgate_core::upstream::CommandRule;
use toolgate_core::{BoundTool, Catalog};
use toolgate_policy::TenantGate;
use toolgate_policy::cedar::Policies;

use crate::reading::{Reading, ToolSettings, tool_settings};
use crate::upstream_reading::FromUpstreams;

/// How long a tenant that moved on may be unreadable before nobody of it gets in.
const PATIENCE: Duration = Duration::from_secs(5);

/// One tenant as it stands.
#[derive(Debug)]
pub struct Snapshot {
    /// The tenant, with the generation this was made from.
    pub(crate) tenant: Tenant,
    /// The default tenant's word on tools that this was made with.
    pub(crate) for_all: Arc<ToolSettings>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) gate: TenantGate,
    pub(crate) limits: Vec<(String, Limit)>,
    pub(crate) roles: HashMap<String, Vec<String>>,
    pub(crate) registry: Vec<RegistryEntry>,
    pub(crate) policy_revision: u64,
    pub(crate) policies: Arc<Policies>,
    /// The tools of MCP servers, by id, with the revisions they were made from.
    pub(crate) from_upstreams: FromUpstreams,
}

/// A tool of the server as it stands in a tenant, switched on or not.
#[derive(Debug, Clone)]
pub struct RegistryEntry {
    /// The tool.
    pub tool: Arc<BoundTool>,
    /// Whether it is on, and why.
    pub enablement: Enablement,
    /// The tenant's own word.
    pub tenant_row: Option<ToolSetting>,
    /// The default tenant's word, for all.
    pub default_row: Option<ToolSetting>,
}

impl Snapshot {
    /// The access rules of a role; none when there is no such role.
    pub(crate) fn role(&self, name: &str) -> Option<&[String]> {
        self.roles.get(name).map(Vec::as_slice)
    }

    /// Whether the policies can tell this principal from others by more than roles and rules.
    pub(crate) fn names(&self, principal: &PrincipalId) -> bool {
        self.policies.names_principal(principal)
    }

    /// Every tool of the server that the tenant may have, on or off.
    pub(crate) fn registry(&self) -> &[RegistryEntry] {
        &self.registry
    }
}

/// The default tenant's word on tools, which holds for all tenants.
#[derive(Debug)]
struct ForAll {
    /// The default tenant's generation that this was read under.
    generation: u64,
    settings: Arc<ToolSettings>,
}

/// The snapshots of all tenants that were asked for.
pub struct Snapshots {
    store: Arc<dyn Store>,
    tools: Vec<Arc<BoundTool>>,
    today: String,
    default_policies: Arc<Policies>,
    default_text: String,
    upstreams: Option<Arc<dyn Upstreams>>,
    commands: Arc<CommandRule>,
    loaded: ArcSwap<HashMap<TenantId, Arc<Snapshot>>>,
    /// One at a time, so that an older reading never takes the place of a newer one.
    loading: tokio::sync::Mutex<Option<ForAll>>,
    /// Since when a tenant in `loaded` can't be read any more.
    failing: Mutex<HashMap<TenantId, Instant>>,
    nothing: Arc<Catalog>,
    moves: AtomicU64,
}

impl std::fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshots").field("tenants", &self.loaded.load().len()).finish_non_exhaustive()
    }
}

impl Snapshots {
    /// Snapshots over a store and the server's tools. `default_text` holds the policies of tenants that saved none.
    ///
    /// # Errors
    /// What is wrong with the default policies.
    pub fn new(
        store: Arc<dyn Store>,
        tools: Vec<Arc<BoundTool>>,
        today: String,
        default_text: String,
    ) -> Result<Self, toolgate_policy::cedar::PolicyProblems> {
        let default_policies = Arc::new(Policies::load(&default_text)?);
        Ok(Self {
            store,
            tools,
            today,
            default_policies,
            default_text,
            upstreams: None,
            commands: Arc::default(),
            loaded: ArcSwap::default(),
            loading: tokio::sync::Mutex::default(),
            failing: Mutex::default(),
            nothing: Arc::default(),
            moves: AtomicU64::new(0),
        })
    }

    /// The same, with MCP servers whose accepted tools join each tenant's.
    #[must_use]
    pub fn with_upstreams(mut self, pool: Arc<dyn Upstreams>, commands: CommandRule) -> Self {
        (self.upstreams, self.commands) = (Some(pool), Arc::new(commands));
        self
    }

    /// Which programs may be started as MCP servers.
    pub(crate) fn commands(&self) -> &CommandRule {
        &self.commands
    }

    /// The MCP servers, where this process calls any.
    pub(crate) const fn upstreams(&self) -> Option<&Arc<dyn Upstreams>> {
        self.upstreams.as_ref()
    }

    /// The policies of tenants that saved none.
    pub(crate) fn default_text(&self) -> &str {
        &self.default_text
    }

    /// A tenant that was loaded before.
    #[must_use]
    pub fn get(&self, tenant: &TenantId) -> Option<Arc<Snapshot>> {
        self.loaded.load().get(tenant).cloned()
    }

    /// The tools of a tenant, or none before it was loaded.
    pub(crate) fn catalog(&self, tenant: &TenantId) -> Arc<Catalog> {
        self.loaded.load().get(tenant).map_or_else(|| Arc::clone(&self.nothing), |s| Arc::clone(&s.catalog))
    }

    /// A tenant, loaded now if need be; none when there is no such tenant.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn load(&self, tenant: &TenantId) -> Result<Option<Arc<Snapshot>>, StoreError> {
        if let Some(known) = self.get(tenant) {
            return Ok(Some(known));
        }
        let mut word = self.loading.lock().await;
        match self.get(tenant) {
            Some(known) => Ok(Some(known)),
            None => self.read(&mut word, tenant).await,
        }
    }

    /// Reads a tenant again, after a change. What the default tenant says of tools concerns all.
    ///
    /// # Errors
    /// When the tenant can't be read. Others that can't are left to [`Snapshots::refresh`].
    pub async fn reload(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let mut word = self.loading.lock().await;
        self.read(&mut word, tenant).await?;
        if *tenant == TenantId::default_tenant() {
            for other in self.heard_otherwise(&word) {
                // It was said and counted; the next refresh tries again.
                let _ = self.read(&mut word, &other).await;
            }
        }
        Ok(())
    }

    /// Reads again what has moved on since it was read. Returns how many tenants had. One that can't be read does not
    /// hold up the others; if it stays so, nobody of it gets in until it can be read.
    ///
    /// # Errors
    /// When the store can't say what has moved on, or what holds for all tenants can't be read for too long.
    pub async fn refresh(&self) -> Result<usize, StoreError> {
        let mut asked = self.tenants();
        if asked.is_empty() {
            return Ok(0);
        }
        let default = TenantId::default_tenant();
        if !asked.contains(&default) {
            asked.push(default.clone());
        }
        let now: HashMap<_, _> = self.store.generations(&asked).await?.into_iter().collect();
        let mut stale = self.moved(&now);
        {
            let mut word = self.loading.lock().await;
            let generation = now.get(&default).copied().unwrap_or_default();
            if word.as_ref().is_none_or(|word| word.generation != generation)
                && let Err(cause) = self.hear(&mut word).await
                && self.failed(&default, &cause) >= PATIENCE
            {
                // A tool that was switched off for all must not go on because nobody can read so.
                *word = None;
                asked.iter().for_each(|tenant| self.take_out(tenant));
                return Err(cause);
            }
            stale.extend(self.heard_otherwise(&word));
        }
        stale.sort();
        stale.dedup();
        for tenant in &stale {
            let mut word = self.loading.lock().await;
            let read = self.read(&mut word, tenant).await;
            if read.is_err() && self.failing_for(tenant) >= PATIENCE {
                self.take_out(tenant);
            }
        }
        Ok(stale.len())
    }

    fn tenants(&self) -> Vec<TenantId> {
        self.loaded.load().keys().cloned().collect()
    }

    /// The tenants whose generation is not the one they were read under.
    fn moved(&self, now: &HashMap<TenantId, u64>) -> Vec<TenantId> {
        let loaded = self.loaded.load();
        let moved = loaded.values().filter(|s| now.get(&s.tenant.id) != Some(&s.tenant.generation));
        moved.map(|snapshot| snapshot.tenant.id.clone()).collect()
    }

    /// The tenants that were made with another word on tools than this. Most changes in the default tenant leave it as
    /// it is, and then concern nobody else.
    fn heard_otherwise(&self, word: &Option<ForAll>) -> Vec<TenantId> {
        let Some(word) = word else { return Vec::new() };
        let loaded = self.loaded.load();
        let otherwise = loaded.values().filter(|s| !Arc::ptr_eq(&s.for_all, &word.settings));
        otherwise.map(|snapshot| snapshot.tenant.id.clone()).collect()
    }

    /// Brings the default tenant's word on tools up to date. Only what it says otherwise takes the place of what was.
    async fn hear(&self, word: &mut Option<ForAll>) -> Result<(), StoreError> {
        let default = TenantId::default_tenant();
        // Generations first: what is written in between is newer than they say, and so is read again.
        let generation = self.store.tenant(&default).await?.map_or(0, |row| row.generation);
        if word.as_ref().is_some_and(|word| word.generation == generation) {
            return Ok(());
        }
        let settings = tool_settings(&default, &self.store.documents(&default).await?);
        let same = word.take().map(|word| word.settings).filter(|before| **before == settings);
        *word = Some(ForAll { generation, settings: same.unwrap_or_else(|| Arc::new(settings)) });
        self.readable(&default);
        Ok(())
    }

    /// Reads a tenant and puts it in force, if it moved on. What fails is said and counted.
    async fn read(
        &self,
        word: &mut Option<ForAll>,
        tenant: &TenantId,
    ) -> Result<Option<Arc<Snapshot>>, StoreError> {
        let read = self.try_to_read(word, tenant).await;
        match &read {
            Ok(_) => self.readable(tenant),
            Err(cause) => {
                self.failed(tenant, cause);
            }
        }
        read
    }

    async fn try_to_read(
        &self,
        word: &mut Option<ForAll>,
        tenant: &TenantId,
    ) -> Result<Option<Arc<Snapshot>>, StoreError> {
        let heard = self.hear(word).await;
        let for_all = match (heard, word) {
            (_, Some(word)) => Arc::clone(&word.settings),
            (Err(cause), None) => return Err(cause),
            (Ok(()), None) => Arc::default(),
        };
        let Some(row) = self.store.tenant(tenant).await? else {
            self.put(tenant, None);
            return Ok(None);
        };
        let before = self.get(tenant);
        if let Some(known) = &before
            && known.tenant == row
            && Arc::ptr_eq(&known.for_all, &for_all)
        {
            return Ok(before);
        }
        let documents = self.store.documents(tenant).await?;
        let work = Reading {
            tools: self.tools.clone(),
            today: self.today.clone(),
            default_policies: Arc::clone(&self.default_policies),
            upstreams: self.upstreams.clone(),
            commands: Arc::clone(&self.commands),
            before,
        };
        // Compiling thousands of tools takes a while; the callers of other tenants should not wait for it.
        let snapshot = tokio::task::spawn_blocking(move || work.compile(row, for_all, &documents))
            .await
            .map_err(StoreError::unavailable)?;
        let snapshot = Arc::new(snapshot);
        self.put(tenant, Some(Arc::clone(&snapshot)));
        Ok(Some(snapshot))
    }

    /// Goes up whenever a snapshot takes the place of another: what was read from the store before may be stale after.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    /// Only under the `loading` lock.
    fn put(&self, tenant: &TenantId, snapshot: Option<Arc<Snapshot>>) {
        let mut all = HashMap::clone(&self.loaded.load());
        match snapshot {
            Some(snapshot) => all.insert(tenant.clone(), snapshot),
            None => all.remove(tenant),
        };
        self.moves.fetch_add(1, Ordering::AcqRel);
        self.loaded.store(Arc::new(all));
    }

    /// Nobody of this tenant gets in until it can be read: each who comes has it tried again.
    fn take_out(&self, tenant: &TenantId) {
        self.readable(tenant);
        if self.get(tenant).is_some() {
            tracing::error!(%tenant, "ALERT: a tenant moved on and can't be read; nobody of it gets in");
            self.put(tenant, None);
        }
    }

    /// Says and counts that a tenant can't be read, and returns for how long that has been so.
    fn failed(&self, tenant: &TenantId, cause: &StoreError) -> Duration {
        metrics::counter!("toolgate_snapshot_failures_total", "tenant" => tenant.to_string()).increment(1);
        let source = std::error::Error::source(cause).map(ToString::to_string);
        tracing::error!(%tenant, error = %cause, source, "a tenant can't be read");
        // Who is not in has nothing to be taken out of.
        if self.get(tenant).is_some() || *tenant == TenantId::default_tenant() {
            self.failures().entry(tenant.clone()).or_insert_with(Instant::now);
        }
        self.failing_for(tenant)
    }

    fn failing_for(&self, tenant: &TenantId) -> Duration {
        self.failures().get(tenant).map_or(Duration::ZERO, Instant::elapsed)
    }

    fn readable(&self, tenant: &TenantId) {
        self.failures().remove(tenant);
    }

    fn failures(&self) -> std::sync::MutexGuard<'_, HashMap<TenantId, Instant>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

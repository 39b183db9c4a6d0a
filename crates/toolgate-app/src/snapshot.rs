//! What is in force in each tenant, in memory: tools, policies and everything else its managers decided.
//!
//! A snapshot is never changed. It is made anew when the tenant's generation, or the default tenant's, has moved on:
//! at once on the node that made the change, within a poll on the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use serde::de::DeserializeOwned;
use toolgate_core::document::{Document, DocumentKind};
use toolgate_core::id::{Slug, TenantId};
use toolgate_core::limit::Limit;
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::role::{BUILT_IN, Role};
use toolgate_core::tenant::Tenant;
use toolgate_core::tool_setting::{Enablement, ToolSetting};
use toolgate_core::{BoundTool, Catalog};
use toolgate_policy::cedar::Policies;
use toolgate_policy::{Alarm, BoundProfile, TenantGate, TenantRules};

use crate::policy::PolicyDocument;

/// What keeps a tenant manageable whose saved policies can no longer be read: nobody calls, administrators manage.
const EMERGENCY: &str = r#"@id("the saved policies can't be read")
permit (principal, action == Toolgate::Action::"manage", resource) when { principal.rules.contains("*") };"#;

/// One tenant as it stands.
#[derive(Debug)]
pub struct Snapshot {
    /// The tenant, with the generation this was made from.
    pub(crate) tenant: Tenant,
    default_generation: u64,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) gate: TenantGate,
    pub(crate) limits: Vec<(String, Limit)>,
    roles: HashMap<String, Vec<String>>,
    registry: Vec<RegistryEntry>,
    policy_revision: u64,
    policies: Arc<Policies>,
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

    /// Every tool of the server that the tenant may have, on or off.
    pub(crate) fn registry(&self) -> &[RegistryEntry] {
        &self.registry
    }
}

/// The snapshots of all tenants that were asked for.
pub struct Snapshots {
    store: Arc<dyn Store>,
    tools: Vec<Arc<BoundTool>>,
    today: String,
    default_policies: Arc<Policies>,
    default_text: String,
    loaded: ArcSwap<HashMap<TenantId, Arc<Snapshot>>>,
    /// One at a time, so that an older reading never takes the place of a newer one.
    loading: tokio::sync::Mutex<()>,
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
            loaded: ArcSwap::default(),
            loading: tokio::sync::Mutex::default(),
            nothing: Arc::default(),
            moves: AtomicU64::new(0),
        })
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
        let _turn = self.loading.lock().await;
        match self.get(tenant) {
            Some(known) => Ok(Some(known)),
            None => self.read(tenant).await,
        }
    }

    /// Reads a tenant again, after a change. A change of the default tenant concerns all.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn reload(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let _turn = self.loading.lock().await;
        self.read(tenant).await?;
        if *tenant == TenantId::default_tenant() {
            for other in self.tenants() {
                if other != *tenant {
                    self.read(&other).await?;
                }
            }
        }
        Ok(())
    }

    /// Reads again what has moved on since it was read. Returns how many tenants had.
    ///
    /// # Errors
    /// When the store can't be read.
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
        let default_generation = now.get(&default).copied().unwrap_or_default();
        let stale = |snapshot: &Snapshot| {
            now.get(&snapshot.tenant.id) != Some(&snapshot.tenant.generation)
                || snapshot.default_generation != default_generation
        };
        let stale: Vec<TenantId> =
            self.loaded.load().values().filter(|s| stale(s)).map(|s| s.tenant.id.clone()).collect();
        for tenant in &stale {
            let _turn = self.loading.lock().await;
            self.read(tenant).await?;
        }
        Ok(stale.len())
    }

    fn tenants(&self) -> Vec<TenantId> {
        self.loaded.load().keys().cloned().collect()
    }

    /// Reads a tenant and puts it in force. Only under the `loading` lock.
    async fn read(&self, tenant: &TenantId) -> Result<Option<Arc<Snapshot>>, StoreError> {
        // Generations first: what is written in between is newer than they say, and so is read again.
        let default = TenantId::default_tenant();
        let default_generation = self.store.tenant(&default).await?.map_or(0, |row| row.generation);
        let found = self.store.tenant(tenant).await?;
        let Some(row) = found else {
            self.put(tenant, None);
            return Ok(None);
        };
        let documents = self.store.documents(tenant).await?;
        let for_all =
            if *tenant == default { documents.clone() } else { self.store.documents(&default).await? };
        let before = self.get(tenant);
        let work = Reading {
            tools: self.tools.clone(),
            today: self.today.clone(),
            default_policies: Arc::clone(&self.default_policies),
            before,
        };
        // Compiling thousands of tools takes a while; the callers of other tenants should not wait for it.
        let snapshot =
            tokio::task::spawn_blocking(move || work.compile(row, default_generation, &documents, &for_all))
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

    fn put(&self, tenant: &TenantId, snapshot: Option<Arc<Snapshot>>) {
        let mut all = HashMap::clone(&self.loaded.load());
        match snapshot {
            Some(snapshot) => all.insert(tenant.clone(), snapshot),
            None => all.remove(tenant),
        };
        self.moves.fetch_add(1, Ordering::AcqRel);
        self.loaded.store(Arc::new(all));
    }
}

/// What a snapshot is made from, beside what was read.
struct Reading {
    tools: Vec<Arc<BoundTool>>,
    today: String,
    default_policies: Arc<Policies>,
    before: Option<Arc<Snapshot>>,
}

impl Reading {
    fn compile(
        self,
        tenant: Tenant,
        default_generation: u64,
        documents: &[Document],
        for_all: &[Document],
    ) -> Snapshot {
        let own: HashMap<String, ToolSetting> = parsed(documents, DocumentKind::Tool).collect();
        // In the default tenant its own rows are the rows for all.
        let all: HashMap<String, ToolSetting> = parsed(for_all, DocumentKind::Tool).collect();
        let is_default = tenant.id == TenantId::default_tenant();
        let mut registry = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            let id = tool.contract.id.as_str();
            let tenant_row = own.get(id).filter(|_| !is_default).cloned();
            let default_row = all.get(id).cloned();
            let enabled = |row: &Option<ToolSetting>| row.as_ref().and_then(|row| row.enabled);
            let enablement = Enablement::resolve(
                tool.offered_to(&tenant.id),
                tool.contract.opt_in,
                enabled(&tenant_row),
                enabled(&default_row),
            );
            let asks = [&tenant_row, &default_row].into_iter().flatten().any(|row| row.approval.is_some());
            let tool =
                if asks && !tool.requires_approval { Arc::new(tool.asking()) } else { Arc::clone(tool) };
            if enablement != Enablement::NotForTenant {
                registry.push(RegistryEntry { tool, enablement, tenant_row, default_row });
            }
        }
        let on =
            registry.iter().filter(|entry| entry.enablement.is_on()).map(|entry| Arc::clone(&entry.tool));
        // A part of tools that fit together fits together.
        let catalog = Arc::new(Catalog::of(on, &self.today).unwrap_or_default());
        let (policies, policy_revision) = self.policies(&tenant.id, documents);
        let rules = TenantRules {
            toolsets: named(documents, DocumentKind::Toolset).collect(),
            profiles: named(documents, DocumentKind::Profile)
                .map(|(name, profile)| (name, bound(profile)))
                .collect(),
            assignments: parsed(documents, DocumentKind::Assignment)
                .map(|(_, assignment)| assignment)
                .collect(),
            kills: parsed(documents, DocumentKind::Kill).map(|(_, kill)| kill).collect(),
        };
        Snapshot {
            gate: TenantGate::new(&catalog, Arc::clone(&policies), rules, alarm(&tenant.id)),
            limits: parsed(documents, DocumentKind::Limit).collect(),
            roles: roles(documents),
            catalog,
            registry,
            policy_revision,
            policies,
            default_generation,
            tenant,
        }
    }

    fn policies(&self, tenant: &TenantId, documents: &[Document]) -> (Arc<Policies>, u64) {
        let saved = documents.iter().find(|document| document.kind == DocumentKind::Policy);
        let Some(saved) = saved else { return (Arc::clone(&self.default_policies), 0) };
        if let Some(before) = self.before.as_ref().filter(|before| before.policy_revision == saved.revision) {
            return (Arc::clone(&before.policies), saved.revision);
        }
        let text = serde_json::from_str::<PolicyDocument>(saved.body.as_str()).map(|document| document.text);
        let loaded = text.ok().and_then(|text| Policies::load(&text).ok());
        let policies = loaded.unwrap_or_else(|| {
            alarm(tenant)("the saved policies", "they can't be read; nobody may call anything");
            Policies::load(EMERGENCY).unwrap_or_default()
        });
        (Arc::new(policies), saved.revision)
    }
}

/// Documents of one kind that can be read; one that can't is left out and said.
fn parsed<T: DeserializeOwned>(
    documents: &[Document],
    kind: DocumentKind,
) -> impl Iterator<Item = (String, T)> {
    documents.iter().filter(move |document| document.kind == kind).filter_map(|document| {
        match serde_json::from_str(document.body.as_str()) {
            Ok(body) => Some((document.name.clone(), body)),
            Err(cause) => {
                tracing::error!(kind = document.kind.as_str(), name = document.name, error = %cause,
                    "a document can't be read and is left out");
                None
            }
        }
    })
}

fn named<T: DeserializeOwned>(documents: &[Document], kind: DocumentKind) -> impl Iterator<Item = (Slug, T)> {
    parsed(documents, kind).filter_map(|(name, body)| Some((name.parse().ok()?, body)))
}

fn bound(profile: toolgate_core::profile::Profile) -> BoundProfile {
    let arguments = profile.arguments.as_ref().map(|schema| {
        toolgate_schema::compile(schema, toolgate_schema::Role::Input).unwrap_or_else(|_| never_fits())
    });
    BoundProfile { profile, arguments }
}

/// Bounds that can no longer be compiled let nothing through.
fn never_fits() -> Arc<dyn toolgate_core::port::validator::Validator> {
    struct Never;
    impl toolgate_core::port::validator::Validator for Never {
        fn validate(
            &self,
            _: &serde_json::Value,
        ) -> Result<(), Vec<toolgate_core::port::validator::Violation>> {
            Err(Vec::new())
        }
    }
    Arc::new(Never)
}

fn roles(documents: &[Document]) -> HashMap<String, Vec<String>> {
    let built_in = BUILT_IN
        .iter()
        .map(|(name, _, rules)| ((*name).to_owned(), rules.iter().map(|&rule| rule.to_owned()).collect()));
    let own = parsed::<Role>(documents, DocumentKind::Role).map(|(name, role)| (name, role.rules));
    built_in.chain(own).collect()
}

fn alarm(tenant: &TenantId) -> Alarm {
    let tenant = tenant.clone();
    Arc::new(move |rule, fault| {
        metrics::counter!("toolgate_policy_faults_total", "tenant" => tenant.to_string()).increment(1);
        tracing::error!(%tenant, rule, fault, "ALERT: a policy could not be evaluated, which denies");
    })
}

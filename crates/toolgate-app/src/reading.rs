//! From documents to a snapshot. What can't be read counts as the strictest it could have said.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgate_core::assignment::Assignment;
use toolgate_core::document::{Document, DocumentKind};
use toolgate_core::grant::Grant;
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::kill::{Kill, KillKind};
use toolgate_core::limit::{Budget, Limit, Overrun, Per, Span};
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::port::validator::{Validator, Violation};
use toolgate_core::profile::Profile;
use toolgate_core::role::{BUILT_IN, Role};
use toolgate_core::tenant::Tenant;
use toolgate_core::tool_setting::{Enablement, ToolSetting};
use toolgate_core::toolset::Toolset;
use toolgate_core::upstream::CommandRule;
use toolgate_core::{BoundTool, Catalog};
use toolgate_policy::cedar::Policies;
use toolgate_policy::{Alarm, BoundGrant, BoundProfile, TenantGate, TenantRules};

use crate::policy::PolicyDocument;
use crate::snapshot::{RegistryEntry, Snapshot};
use crate::upstream_reading::FromUpstreams;

/// What keeps a tenant manageable whose saved policies can no longer be read: nobody calls, administrators manage.
const EMERGENCY: &str = r#"@id("the saved policies can't be read")
permit (principal, action == Toolgate::Action::"manage", resource) when { principal.rules.contains("*") };"#;

/// A tenant's word on tools, by their ids.
pub(crate) type ToolSettings = HashMap<String, ToolSetting>;

/// What a snapshot is made from, beside what was read.
pub(crate) struct Reading {
    pub(crate) tools: Vec<Arc<BoundTool>>,
    pub(crate) today: String,
    pub(crate) default_policies: Arc<Policies>,
    pub(crate) upstreams: Option<Arc<dyn Upstreams>>,
    pub(crate) commands: Arc<CommandRule>,
    pub(crate) before: Option<Arc<Snapshot>>,
}

impl Reading {
    pub(crate) fn compile(
        self,
        tenant: Tenant,
        for_all: Arc<ToolSettings>,
        documents: &[Document],
    ) -> Snapshot {
        // In the default tenant its own rows are the rows for all.
        let own = match tenant.id == TenantId::default_tenant() {
            true => ToolSettings::new(),
            false => tool_settings(&tenant.id, documents),
        };
        let from_upstreams = self.upstreams.as_ref().map_or_else(FromUpstreams::default, |pool| {
            let before = self.before.as_ref().map(|before| &before.from_upstreams);
            FromUpstreams::read(&tenant.id, documents, pool.as_ref(), &self.commands, before)
        });
        let registry = self.registry(&tenant.id, &from_upstreams, &own, &for_all);
        let on =
            registry.iter().filter(|entry| entry.enablement.is_on()).map(|entry| Arc::clone(&entry.tool));
        // A part of tools that fit together fits together.
        let catalog = Arc::new(Catalog::of(on, &self.today).unwrap_or_default());
        let (policies, policy_revision) = self.policies(&tenant.id, documents);
        let rules = rules(&tenant.id, documents);
        Snapshot {
            gate: TenantGate::new(&catalog, Arc::clone(&policies), rules, alarm(&tenant.id)),
            limits: limits(&tenant.id, documents),
            roles: roles(&tenant.id, documents),
            catalog,
            registry,
            policy_revision,
            policies,
            for_all,
            from_upstreams,
            tenant,
        }
    }

    fn registry(
        &self,
        tenant: &TenantId,
        upstreams: &FromUpstreams,
        own: &ToolSettings,
        all: &ToolSettings,
    ) -> Vec<RegistryEntry> {
        let mut registry = Vec::with_capacity(self.tools.len());
        // The names of servers' tools begin with `mcp__`, which no plugin may take: they can't meet others.
        let tools = self.tools.iter().filter(|tool| !upstreams.holds(&tool.contract.id));
        for tool in tools.chain(upstreams.tools()) {
            let id = tool.contract.id.as_str();
            let (tenant_row, default_row) = (own.get(id).cloned(), all.get(id).cloned());
            let enabled = |row: &Option<ToolSetting>| row.as_ref().and_then(|row| row.enabled);
            let enablement = Enablement::resolve(
                tool.offered_to(tenant),
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
        registry
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

/// A tenant's word on tools. One that can't be read switches its tool off.
pub(crate) fn tool_settings(tenant: &TenantId, documents: &[Document]) -> ToolSettings {
    let off = |name| (name, ToolSetting { enabled: Some(false), approval: None });
    parsed(tenant, documents, DocumentKind::Tool).map(|setting| setting.unwrap_or_else(off)).collect()
}

fn rules(tenant: &TenantId, documents: &[Document]) -> TenantRules {
    let stop = |what: &str, name: &str| Kill {
        kind: KillKind::Tenant,
        target: tenant.to_string(),
        reason: format!("the {what} `{name}` can't be read; write it again, or remove it"),
    };
    let mut kills = Vec::new();
    for kill in parsed(tenant, documents, DocumentKind::Kill) {
        // Whatever it stops, it is part of the tenant.
        kills.push(kill.map_or_else(|name| stop("kill switch", &name), |(_, kill)| kill));
    }
    let mut toolsets = HashMap::new();
    for toolset in named::<Toolset>(tenant, documents, DocumentKind::Toolset) {
        match toolset {
            Ok((name, toolset)) => drop(toolsets.insert(name, toolset)),
            // Policies may forbid its tools, and profiles may tighten them: which ones can't be known.
            Err(name) => kills.push(stop("toolset", &name)),
        }
    }
    let mut approval_rules = Vec::new();
    for rule in parsed(tenant, documents, DocumentKind::ApprovalRule) {
        match rule {
            Ok((_, rule)) => approval_rules.push(rule),
            // Whose word it asks for, and on what, can't be known.
            Err(name) => kills.push(stop("approval rule", &name)),
        }
    }
    // Without its grant a call asks again.
    let grants = parsed(tenant, documents, DocumentKind::Grant).filter_map(Result::ok);
    // An assignment whose profile is gone is no assignment any more, so a profile that can't be read is left out.
    let profiles = named(tenant, documents, DocumentKind::Profile).filter_map(Result::ok);
    TenantRules {
        toolsets,
        profiles: profiles.map(|(name, profile)| (name, bound(profile))).collect(),
        assignments: assignments(tenant, documents),
        kills,
        approval_rules,
        grants: grants.map(bound_grant).collect(),
    }
}

/// The assignments of those agents whose assignments can all be read: what one of them tightened can't be known.
fn assignments(tenant: &TenantId, documents: &[Document]) -> Vec<Assignment> {
    let (mut found, mut unknown, mut nobody) = (Vec::<Assignment>::new(), HashSet::new(), false);
    for assignment in parsed(tenant, documents, DocumentKind::Assignment) {
        match assignment {
            Ok((_, assignment)) => found.push(assignment),
            Err(name) => match name.split(' ').next().unwrap_or_default().parse::<PrincipalId>() {
                Ok(agent) => drop(unknown.insert(agent)),
                Err(_) => nobody = true,
            },
        }
    }
    found.retain(|assignment| !nobody && !unknown.contains(&assignment.agent));
    found
}

/// The limits. One that can't be read lets nothing through.
fn limits(tenant: &TenantId, documents: &[Document]) -> Vec<(String, Limit)> {
    let nothing = |name: String| {
        let limit = Limit {
            description: String::new(),
            principals: Vec::new(),
            tools: Vec::new(),
            per: Per::Tenant,
            rate_per_minute: None,
            concurrency: None,
            cost: Some(Budget { micros: 0, every: Span::Hour }),
            on_overrun: Overrun::Stop,
        };
        (format!("{name} can't be read"), limit)
    };
    parsed(tenant, documents, DocumentKind::Limit).map(|limit| limit.unwrap_or_else(nothing)).collect()
}

/// The roles. One that can't be read gives nothing.
fn roles(tenant: &TenantId, documents: &[Document]) -> HashMap<String, Vec<String>> {
    let built_in = BUILT_IN
        .iter()
        .map(|(name, _, rules)| ((*name).to_owned(), rules.iter().map(|&rule| rule.to_owned()).collect()));
    let own = parsed::<Role>(tenant, documents, DocumentKind::Role).filter_map(Result::ok);
    built_in.chain(own.map(|(name, role)| (name, role.rules))).collect()
}

/// Documents of one kind by name. Of one that can't be read there is the name alone, and someone is told.
pub(crate) fn parsed<T: DeserializeOwned>(
    tenant: &TenantId,
    documents: &[Document],
    kind: DocumentKind,
) -> impl Iterator<Item = Result<(String, T), String>> {
    documents.iter().filter(move |document| document.kind == kind).map(move |document| {
        let body = serde_json::from_str(document.body.as_str());
        body.map(|body| (document.name.clone(), body)).map_err(|cause| {
            unreadable(tenant, document, &cause.to_string());
            document.name.clone()
        })
    })
}

fn named<T: DeserializeOwned>(
    tenant: &TenantId,
    documents: &[Document],
    kind: DocumentKind,
) -> impl Iterator<Item = Result<(Slug, T), String>> {
    parsed(tenant, documents, kind).map(|document| {
        let (name, body) = document?;
        name.parse().map(|slug| (slug, body)).map_err(|_| name)
    })
}

fn unreadable(tenant: &TenantId, document: &Document, fault: &str) {
    metrics::counter!("toolgate_policy_faults_total", "tenant" => tenant.to_string()).increment(1);
    tracing::error!(%tenant, kind = document.kind.as_str(), name = document.name, fault,
        "ALERT: a document can't be read, which denies");
}

fn bound(profile: Profile) -> BoundProfile {
    BoundProfile { arguments: bounds_of(profile.arguments.as_ref()), profile }
}

fn bound_grant((name, grant): (String, Grant)) -> BoundGrant {
    BoundGrant { name, arguments: bounds_of(grant.arguments.as_ref()), grant }
}

fn bounds_of(schema: Option<&Value>) -> Option<Arc<dyn Validator>> {
    let compiled = |schema| toolgate_schema::compile(schema, toolgate_schema::Role::Output);
    schema.map(|schema| compiled(schema).unwrap_or_else(|_| never_fits()))
}

/// Bounds that can no longer be compiled let nothing through.
fn never_fits() -> Arc<dyn Validator> {
    struct Never;
    impl Validator for Never {
        fn validate(&self, _: &Value) -> Result<(), Vec<Violation>> {
            Err(Vec::new())
        }
    }
    Arc::new(Never)
}

fn alarm(tenant: &TenantId) -> Alarm {
    let tenant = tenant.clone();
    Arc::new(move |rule, fault| {
        metrics::counter!("toolgate_policy_faults_total", "tenant" => tenant.to_string()).increment(1);
        tracing::error!(%tenant, rule, fault, "ALERT: a policy could not be evaluated, which denies");
    })
}

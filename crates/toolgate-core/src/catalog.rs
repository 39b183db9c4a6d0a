//! Tools bound to their code, and the set of them a tenant has.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::contract::{ApprovalMode, BadContract, Binding, ContractVersion, Egress, ToolContract};
use crate::file_place::FilePlaces;
use crate::id::{TenantId, ToolName};
use crate::port::capability::Capability;
use crate::port::executor::{Account, Executor};
use crate::port::validator::Validator;
use crate::redaction::Redactor;

/// A contract with its compiled parts and its code.
pub struct BoundTool {
    /// What it promises.
    pub contract: Arc<ToolContract>,
    /// The contract's content address.
    pub version: ContractVersion,
    /// What it may reach.
    pub capabilities: Vec<Capability>,
    /// Whether every call waits for a person, as the database says.
    pub requires_approval: bool,
    /// Where its input names files.
    pub(crate) files: FilePlaces,
    pub(crate) input: Arc<dyn Validator>,
    pub(crate) output: Arc<dyn Validator>,
    pub(crate) redactor: Redactor,
    pub(crate) executor: Arc<dyn Executor>,
}

impl std::fmt::Debug for BoundTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundTool").field("id", &self.contract.id).finish_non_exhaustive()
    }
}

impl BoundTool {
    /// Binds a contract to its code, after checking everything but the schemas, which the validators stand for.
    ///
    /// # Errors
    /// What keeps the contract from being registered.
    pub fn bind(
        contract: ToolContract,
        input: Arc<dyn Validator>,
        output: Arc<dyn Validator>,
        capabilities: Vec<Capability>,
        executor: Arc<dyn Executor>,
    ) -> Result<Self, BadContract> {
        let redactor = contract.check()?;
        let version = contract.version();
        let requires_approval =
            contract.approval == ApprovalMode::AlwaysAsk || contract.egress == Egress::Write;
        // What an MCP server calls a file is its own business: it can't read ours.
        let files = match contract.execution {
            Binding::Mcp { .. } => FilePlaces::default(),
            _ => FilePlaces::of(&contract.input_schema.to_value()),
        };
        Ok(Self {
            contract: Arc::new(contract),
            version,
            capabilities,
            requires_approval,
            files,
            input,
            output,
            redactor,
            executor,
        })
    }

    /// The same tool where every call waits for a person.
    #[must_use]
    pub fn asking(&self) -> Self {
        Self {
            contract: Arc::clone(&self.contract),
            version: self.version.clone(),
            capabilities: self.capabilities.clone(),
            requires_approval: true,
            files: self.files.clone(),
            input: Arc::clone(&self.input),
            output: Arc::clone(&self.output),
            redactor: self.redactor.clone(),
            executor: Arc::clone(&self.executor),
        }
    }

    /// Whether the contract lets this tenant have the tool.
    #[must_use]
    pub fn offered_to(&self, tenant: &TenantId) -> bool {
        self.contract.tenants.is_empty() || self.contract.tenants.iter().any(|slug| slug == tenant.as_str())
    }

    /// The account at an outside service that its calls go through, where its binding has one.
    #[must_use]
    pub fn account(&self) -> Option<&Account> {
        self.executor.account()
    }

    /// Whether its calls go through an account of any kind.
    #[must_use]
    pub fn needs_connection(&self) -> bool {
        self.contract.connection.is_some() || self.account().is_some()
    }
}

/// A tool that cannot join a catalog.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{id}` is taken by another tool or alias")]
pub struct Collision {
    /// The id that is taken.
    pub id: ToolName,
}

/// The tools of a tenant, in a stable order. Lookups don't slow down with their number.
#[derive(Debug, Default)]
pub struct Catalog {
    by_id: HashMap<ToolName, Arc<BoundTool>>,
    ordered: Vec<Arc<BoundTool>>,
}

impl Catalog {
    /// A catalog of these tools, ordered by id. Aliases whose day is past `today` (`YYYY-MM-DD`) are left out.
    ///
    /// # Errors
    /// When two tools want the same id; nothing is ever overwritten.
    pub fn of(tools: impl IntoIterator<Item = Arc<BoundTool>>, today: &str) -> Result<Self, Collision> {
        let mut catalog = Self::default();
        for tool in tools {
            let aliases = tool.contract.aliases.iter().filter(|alias| alias.remove_by.as_str() >= today);
            for id in std::iter::once(&tool.contract.id).chain(aliases.map(|alias| &alias.id)) {
                match catalog.by_id.entry(id.clone()) {
                    Entry::Occupied(_) => return Err(Collision { id: id.clone() }),
                    Entry::Vacant(place) => place.insert(Arc::clone(&tool)),
                };
            }
            catalog.ordered.push(tool);
        }
        catalog.ordered.sort_by(|a, b| a.contract.id.cmp(&b.contract.id));
        Ok(catalog)
    }

    /// The tool with this id or alias.
    #[must_use]
    pub fn get(&self, id: &ToolName) -> Option<&Arc<BoundTool>> {
        self.by_id.get(id)
    }

    /// All tools, ordered by id.
    #[must_use]
    pub fn tools(&self) -> &[Arc<BoundTool>] {
        &self.ordered
    }
}

/// The catalogs in force.
pub trait Tools: Send + Sync {
    /// The tenant's tools now. The same `Arc` until something changes.
    fn of(&self, tenant: &TenantId) -> Arc<Catalog>;
}

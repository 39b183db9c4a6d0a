//! The registry: all tools of the server as they stand in a tenant, and the tenant's word on each.

use toolgate_core::Actor;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::ToolName;
use toolgate_core::tool_setting::ToolSetting;

use crate::snapshot::RegistryEntry;
use crate::stored::part_of;
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Tool;

impl App {
    /// The tools after `after`, ordered by id, and where the next part starts: those that are on, off, or all.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage tools.
    pub async fn list_registry(
        &self,
        actor: &Actor,
        enabled: Option<bool>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<RegistryEntry>, Option<String>), AppError> {
        self.require(actor, Area::Tools)?;
        let snapshot = self.as_it_stands(actor).await?;
        let wanted = |entry: &&RegistryEntry| enabled.is_none_or(|on| entry.enablement.is_on() == on);
        let mut entries: Vec<RegistryEntry> = snapshot.registry().iter().filter(wanted).cloned().collect();
        entries.sort_by(|a, b| a.tool.contract.id.cmp(&b.tool.contract.id));
        Ok(part_of(entries, |entry| entry.tool.contract.id.as_str(), after, limit))
    }

    /// One tool of the registry.
    ///
    /// # Errors
    /// As [`App::list_registry`], and "not found".
    pub async fn read_registry(&self, actor: &Actor, id: &ToolName) -> Result<RegistryEntry, AppError> {
        self.require(actor, Area::Tools)?;
        let snapshot = self.as_it_stands(actor).await?;
        let entry = snapshot.registry().iter().find(|entry| entry.tool.contract.id == *id);
        entry.cloned().ok_or(AppError::NotFound { what: "tool" })
    }

    /// Writes the tenant's word on a tool. In the default tenant it holds for all tenants.
    ///
    /// # Errors
    /// "Not found" for a tool that the tenant can't have.
    pub async fn put_tool_setting(
        &self,
        actor: &Actor,
        id: &ToolName,
        setting: ToolSetting,
    ) -> Result<RegistryEntry, AppError> {
        self.read_registry(actor, id).await?;
        if setting == ToolSetting::default() {
            return Err(AppError::invalid("a setting must say something")
                .with_hint("send `enabled` or `approval`, or `DELETE` the setting"));
        }
        self.put_stored(actor, KIND, id.as_str(), &setting, Expect::Anything).await?;
        self.read_registry(actor, id).await
    }

    /// Takes the tenant's word on a tool back.
    ///
    /// # Errors
    /// "Not found" when it said nothing.
    pub async fn delete_tool_setting(&self, actor: &Actor, id: &ToolName) -> Result<(), AppError> {
        self.read_registry(actor, id).await?;
        match self.remove_stored(actor, KIND, id.as_str(), Expect::Anything).await {
            Err(AppError::NotFound { .. }) => Err(AppError::NotFound { what: "setting of a tool" }),
            other => other,
        }
    }
}

//! Toolsets: named selections of tools.

use toolgate_core::Actor;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{Slug, ToolName};
use toolgate_core::toolset::Toolset;

use crate::assignment::Use;
use crate::bounds::{self, MAX_PATTERNS};
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Toolset;

/// A toolset and the tools of the tenant it holds now, in order.
#[derive(Debug, Clone)]
pub struct ToolsetWithTools {
    /// The toolset.
    pub toolset: Stored<Toolset>,
    /// The ids of its tools.
    pub tools: Vec<ToolName>,
}

impl App {
    /// The toolsets after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage toolsets.
    pub async fn list_toolsets(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<ToolsetWithTools>, Option<String>), AppError> {
        self.require(actor, Area::Toolsets)?;
        let all = self.stored(actor, KIND).await?;
        let (part, next) = part_of(all, |toolset: &Stored<Toolset>| &toolset.name, after, limit);
        Ok((part.into_iter().map(|toolset| self.with_tools(actor, toolset)).collect(), next))
    }

    /// One toolset.
    ///
    /// # Errors
    /// As [`App::list_toolsets`], and "not found".
    pub async fn read_toolset(&self, actor: &Actor, name: &Slug) -> Result<ToolsetWithTools, AppError> {
        self.require(actor, Area::Toolsets)?;
        let toolset = self.stored_one(actor, KIND, name.as_str()).await?;
        Ok(self.with_tools(actor, toolset))
    }

    /// Writes a toolset.
    ///
    /// # Errors
    /// A conflict when it does not stand as `expect` says.
    pub async fn put_toolset(
        &self,
        actor: &Actor,
        name: &Slug,
        toolset: Toolset,
        expect: Expect,
    ) -> Result<ToolsetWithTools, AppError> {
        self.require(actor, Area::Toolsets)?;
        bounds::at_most(&toolset.tools, MAX_PATTERNS, "tools")?;
        bounds::at_most(&toolset.exclude, MAX_PATTERNS, "exclude")?;
        bounds::at_most(&toolset.effects, 3, "effects")?;
        bounds::at_most(&toolset.egress, 3, "egress")?;
        if toolset.tools.is_empty() {
            return Err(AppError::invalid("`tools` must name at least one tool")
                .with_hint("name ids, or the start of ids and `*`; `*` alone is every tool"));
        }
        let toolset = Toolset {
            title: bounds::title(&toolset.title)?,
            description: bounds::description(&toolset.description)?,
            ..toolset
        };
        let written = self.put_stored(actor, KIND, name.as_str(), &toolset, expect).await?;
        Ok(self.with_tools(actor, written))
    }

    /// Takes a toolset away.
    ///
    /// # Errors
    /// A conflict while an assignment uses it.
    pub async fn delete_toolset(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Toolsets)?;
        self.is_unused(actor, &Use::Toolset(name)).await?;
        self.remove_stored(actor, KIND, name.as_str(), expect).await
    }

    /// A toolset as an endpoint that any caller may come to: what of it they see is asked tool by tool.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn endpoint_toolset(&self, actor: &Actor, name: &Slug) -> Result<Option<Toolset>, AppError> {
        let document = self.store().document(&actor.tenant, KIND, name.as_str()).await?;
        Ok(document.and_then(|document| serde_json::from_str(document.body.as_str()).ok()))
    }

    fn with_tools(&self, actor: &Actor, toolset: Stored<Toolset>) -> ToolsetWithTools {
        let catalog = self.runner.parts().tools.of(&actor.tenant);
        let held = catalog.tools().iter().filter(|tool| toolset.body.holds(&tool.contract));
        ToolsetWithTools { tools: held.map(|tool| tool.contract.id.clone()).collect(), toolset }
    }
}

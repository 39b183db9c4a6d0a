//! Limits: how often, how many at once and how dear.

use toolgate_core::Actor;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::Slug;
use toolgate_core::limit::{Budget, Limit};

use crate::bounds::{self, MAX_PATTERNS};
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Limit;

impl App {
    /// The limits after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage limits.
    pub async fn list_limits(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<Limit>>, Option<String>), AppError> {
        self.require(actor, Area::Limits)?;
        let all = self.stored(actor, KIND).await?;
        Ok(part_of(all, |limit: &Stored<Limit>| &limit.name, after, limit))
    }

    /// One limit.
    ///
    /// # Errors
    /// As [`App::list_limits`], and "not found".
    pub async fn read_limit(&self, actor: &Actor, name: &Slug) -> Result<Stored<Limit>, AppError> {
        self.require(actor, Area::Limits)?;
        self.stored_one(actor, KIND, name.as_str()).await
    }

    /// Writes a limit.
    ///
    /// # Errors
    /// What is wrong with it; a conflict when it does not stand as `expect` says.
    pub async fn put_limit(
        &self,
        actor: &Actor,
        name: &Slug,
        limit: Limit,
        expect: Expect,
    ) -> Result<Stored<Limit>, AppError> {
        self.require(actor, Area::Limits)?;
        bounds::at_most(&limit.principals, MAX_PATTERNS, "principals")?;
        bounds::at_most(&limit.tools, MAX_PATTERNS, "tools")?;
        check_measures(limit.rate_per_minute, limit.concurrency, limit.cost.as_ref())?;
        limit.check().map_err(|bad| AppError::invalid(bad.to_string()))?;
        let limit = Limit { description: bounds::description(&limit.description)?, ..limit };
        self.put_stored(actor, KIND, name.as_str(), &limit, expect).await
    }

    /// Takes a limit away.
    ///
    /// # Errors
    /// "Not found", or a conflict when it does not stand as `expect` says.
    pub async fn delete_limit(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Limits)?;
        self.remove_stored(actor, KIND, name.as_str(), expect).await
    }
}

/// Refuses measures that nothing could pass by mistake: a stop has a switch of its own.
pub(crate) fn check_measures(
    rate_per_minute: Option<u32>,
    concurrency: Option<u32>,
    cost: Option<&Budget>,
) -> Result<(), AppError> {
    for (value, field) in [(rate_per_minute, "rate_per_minute"), (concurrency, "concurrency")] {
        if value == Some(0) {
            return Err(AppError::invalid(format!("`{field}` must be at least 1"))
                .with_hint("to stop all calls, throw a kill switch with `POST /api/v1/kills`"));
        }
    }
    if cost.is_some_and(|cost| cost.micros < 0) {
        return Err(AppError::invalid("`cost.micros` must be at least 0"));
    }
    Ok(())
}

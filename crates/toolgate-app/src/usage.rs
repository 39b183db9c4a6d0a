//! How often tools were called, how it ended, and what it cost: one's own, or everyone's for those who read the record.

use std::time::Duration;

use toolgate_core::document::Area;
use toolgate_core::id::ToolName;
use toolgate_core::port::usage::{UsageQuery, UsageRow};
use toolgate_core::{Actor, Timestamp};

use crate::{App, AppError};

/// The longest time that can be asked about.
const LONGEST: Duration = Duration::from_secs(92 * 86_400);
/// What is shown when nothing is said.
const USUAL: Duration = Duration::from_secs(30 * 86_400);
/// The most rows of one answer.
const MOST: u32 = 10_000;

impl App {
    /// The counts by tool, day and status, the largest first.
    ///
    /// # Errors
    /// When more time is asked about than can be, or the store can't be asked.
    pub async fn usage(
        &self,
        actor: &Actor,
        tool: Option<ToolName>,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Vec<UsageRow>, AppError> {
        let until = until.unwrap_or_else(|| self.now().plus(Duration::from_secs(1)));
        let since = since.unwrap_or_else(|| until.minus(USUAL));
        if since >= until || since < until.minus(LONGEST) {
            return Err(AppError::invalid("`since` must be before `until`, by at most 92 days")
                .with_hint("ask for a shorter time, several times if need be"));
        }
        // A narrowed credential sees the calls it could have made; which those were is not counted here.
        let everything = self.require(actor, Area::Audit).is_ok();
        if !everything && actor.scopes.narrow_tools() {
            return Err(AppError::forbidden("this key's scopes do not let it count calls")
                .with_hint("use a key without tool scopes, or one with the scope `manage:audit`"));
        }
        let visible_to = (!everything).then(|| actor.acting());
        let query = UsageQuery { tool, visible_to, since, until, limit: MOST };
        Ok(self.store().usage(&actor.tenant, &query).await?)
    }
}

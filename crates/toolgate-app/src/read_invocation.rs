//! Calls as they stand: one, with its events, or many.

use std::time::{Duration, Instant};

use toolgate_core::document::Area;
use toolgate_core::event::Event;
use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::port::input_search::InputSearch;
use toolgate_core::port::store::{InvocationFilter, Page};
use toolgate_core::{Actor, Invocation, Status, Timestamp};

use crate::{App, AppError};

/// How many calls one list looks at, however few of them are the caller's to see.
const MOST_READ: usize = 5_000;

/// How many calls one search of inputs looks at.
const MOST_SEARCHED: u32 = 20_000;

/// A part of the calls, newest first.
#[derive(Debug)]
pub struct InvocationPart {
    /// The calls.
    pub invocations: Vec<Invocation>,
    /// After which the next part starts; none when this is the last.
    pub next: Option<InvocationId>,
    /// How far a search of inputs went; none where nothing was searched for.
    pub searched: Option<SearchedInputs>,
}

/// How far a search of inputs went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchedInputs {
    /// How many calls were looked at in this part.
    pub calls: u64,
    /// When the oldest of them was made.
    pub back_to: Option<Timestamp>,
}

/// Which calls to list.
#[derive(Debug, Clone, Default)]
pub struct InvocationQuery {
    /// Narrowed how.
    pub filter: InvocationFilter,
    /// Whose input holds this text, whatever its case.
    pub text: Option<String>,
    /// After which.
    pub after: Option<InvocationId>,
    /// How many.
    pub limit: u32,
}

impl App {
    /// One call the caller may see.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what is someone else's.
    pub async fn read_invocation(&self, actor: &Actor, id: InvocationId) -> Result<Invocation, AppError> {
        let found = self.store().get(&actor.tenant, id).await?;
        let row = found.ok_or(AppError::NotFound { what: "invocation" })?;
        if self.shows(actor, &row) || self.decides_on(actor, &row).await {
            return Ok(row);
        }
        Err(AppError::NotFound { what: "invocation" })
    }

    /// Whether a call is this caller's to see: their own, within reach of their credential, or anyone's for those who
    /// read the record.
    fn shows(&self, actor: &Actor, row: &Invocation) -> bool {
        let opened = &row.opened;
        let theirs = actor.may_see(&opened.tenant, &opened.actor, opened.subject.as_ref());
        (theirs && self.within_reach(actor, row)) || self.require(actor, Area::Audit).is_ok()
    }

    /// The same, but not before it is settled or `wait` is over.
    ///
    /// # Errors
    /// As [`App::read_invocation`].
    pub async fn await_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        wait: Duration,
    ) -> Result<Invocation, AppError> {
        let invocation = self.read_invocation(actor, id).await?;
        Ok(self.runner.follow(invocation, Instant::now() + wait).await?)
    }

    /// A call's events, oldest first.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn invocation_events(&self, invocation: &Invocation) -> Result<Vec<Event>, AppError> {
        Ok(self.store().invocation_events(invocation).await?)
    }

    /// The calls the caller may see, newest first. A part may be short, or empty, and still not be the last.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn list_invocations(
        &self,
        actor: &Actor,
        query: InvocationQuery,
    ) -> Result<InvocationPart, AppError> {
        let mut filter = query.filter;
        let everything = self.require(actor, Area::Audit).is_ok() || actor.is_admin();
        // What waits for a decision may wait for this person's, whoever asked for it.
        let decides = filter.status == Some(Status::Pending) && actor.principal.kind() == PrincipalKind::User;
        if !everything && !decides {
            filter.visible_to = Some(actor.acting());
        }
        let limit = query.limit as usize;
        let (mut shown, mut after, mut read) = (Vec::new(), query.after, 0);
        if let Some(text) = &query.text {
            let page = Page { after, limit: query.limit };
            let search = InputSearch { filter: &filter, text, page, most: MOST_SEARCHED };
            let found = self.store().search_inputs(&actor.tenant, search).await?;
            for row in found.invocations {
                if everything || self.shows(actor, &row) || (decides && self.may_approve(actor, &row).await) {
                    shown.push(row);
                }
            }
            let searched = SearchedInputs { calls: found.looked_at, back_to: found.end.map(|(_, at)| at) };
            let next = found.end.map(|(id, _)| id).filter(|_| found.more);
            return Ok(InvocationPart { invocations: shown, next, searched: Some(searched) });
        }
        loop {
            let page = Page { after, limit: query.limit + 1 };
            let found = self.store().list(&actor.tenant, &filter, page).await?;
            let full = found.len() > limit;
            read += found.len();
            for row in found {
                after = Some(row.id());
                if everything || self.shows(actor, &row) || (decides && self.may_approve(actor, &row).await) {
                    shown.push(row);
                    if shown.len() > limit {
                        break;
                    }
                }
            }
            if shown.len() > limit || !full || read >= MOST_READ {
                let more = shown.len() > limit;
                shown.truncate(limit);
                let next = if more { shown.last().map(Invocation::id) } else { after.filter(|_| full) };
                return Ok(InvocationPart { invocations: shown, next, searched: None });
            }
        }
    }
}

//! Checks the record: every chain, every anchor, every row against its events.

use toolgate_core::Invocation;
use toolgate_core::change::{fold, recorded};
use toolgate_core::document::Area;
use toolgate_core::event::{ChainHash, ChainHead, EventKind};
use toolgate_core::id::{InvocationId, SessionId, TenantId};
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::{Actor, event::Event};

use crate::{App, AppError};

const PAGE: u32 = 500;

/// What checking found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Sessions checked.
    pub sessions: u64,
    /// Events checked.
    pub events: u64,
    /// Anchors checked.
    pub anchors: u64,
    /// Rows compared with their events.
    pub invocations: u64,
    /// The first thing that is wrong.
    pub first_broken: Option<BrokenRecord>,
}

/// Something wrong in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRecord {
    /// In which session, where one can be named.
    pub session: Option<SessionId>,
    /// At which event or anchor.
    pub seq: i64,
    /// Of which call, where one can be named.
    pub invocation: Option<InvocationId>,
    /// What.
    pub what: String,
}

/// Checks the whole record of a store, part by part, and stops at the first thing that is wrong.
///
/// # Errors
/// When the store can't be read.
pub async fn verify(store: &dyn Store) -> Result<AuditReport, StoreError> {
    let mut report = AuditReport::default();
    let broken = match check_sessions(store, &mut report).await? {
        Some(broken) => Some(broken),
        None => match check_anchors(store, &mut report).await? {
            Some(broken) => Some(broken),
            None => check_rows(store, &mut report).await?,
        },
    };
    report.first_broken = broken;
    Ok(report)
}

async fn check_sessions(
    store: &dyn Store,
    report: &mut AuditReport,
) -> Result<Option<BrokenRecord>, StoreError> {
    let mut after = None;
    loop {
        let sessions = store.sessions_after(after, PAGE).await?;
        for session in &sessions {
            report.sessions += 1;
            let mut head = ChainHead::EMPTY;
            loop {
                let events = store.session_events(*session, head.seq, PAGE).await?;
                for event in &events {
                    if opens_a_call(event)
                        && store.get(&event.draft.tenant, event.draft.invocation).await?.is_none()
                    {
                        return Ok(Some(BrokenRecord {
                            session: Some(*session),
                            seq: event.seq,
                            invocation: Some(event.draft.invocation),
                            what: "the row of this call was removed".to_owned(),
                        }));
                    }
                    match event.verify(head) {
                        Ok(next) => head = next,
                        Err(broken) => {
                            return Ok(Some(BrokenRecord {
                                session: Some(*session),
                                seq: event.seq,
                                invocation: Some(event.draft.invocation),
                                what: broken.to_string(),
                            }));
                        }
                    }
                }
                report.events += events.len() as u64;
                if events.len() < PAGE as usize {
                    break;
                }
            }
        }
        if sessions.len() < PAGE as usize {
            return Ok(None);
        }
        after = sessions.last().copied();
    }
}

/// A call's first event carries what was asked for.
fn opens_a_call(event: &Event) -> bool {
    event.draft.kind != EventKind::AdminChanged && event.draft.data.as_str().starts_with(r#"{"call":"#)
}

async fn check_anchors(
    store: &dyn Store,
    report: &mut AuditReport,
) -> Result<Option<BrokenRecord>, StoreError> {
    let (mut seq, mut prev) = (0, ChainHash::GENESIS);
    loop {
        let anchors = store.anchors_after(seq, 50).await?;
        let full = anchors.len() == 50;
        for anchor in anchors {
            report.anchors += 1;
            let at = |session, what: &str| BrokenRecord {
                session,
                seq: anchor.seq,
                invocation: None,
                what: format!("anchor {}: {what}", anchor.seq),
            };
            if !anchor.is_intact(seq + 1, prev) {
                return Ok(Some(at(None, "it, or the one before it, was changed or removed")));
            }
            for (session, head) in &anchor.heads {
                let events = store.session_events(*session, head.seq - 1, 1).await?;
                match events.first() {
                    None => return Ok(Some(at(Some(*session), "the session, or its end, was removed"))),
                    Some(event) if event.head() != *head => {
                        return Ok(Some(at(Some(*session), "the session was rewritten")));
                    }
                    Some(_) => {}
                }
            }
            (seq, prev) = (anchor.seq, anchor.hash);
        }
        if !full {
            return Ok(None);
        }
    }
}

async fn check_rows(store: &dyn Store, report: &mut AuditReport) -> Result<Option<BrokenRecord>, StoreError> {
    let mut after = None;
    loop {
        let rows = store.invocations_after(after, PAGE).await?;
        for row in &rows {
            report.invocations += 1;
            if let Some(what) = compare(store, row).await? {
                return Ok(Some(BrokenRecord {
                    session: Some(row.opened.session),
                    seq: row.seqs.1,
                    invocation: Some(row.id()),
                    what,
                }));
            }
        }
        if rows.len() < PAGE as usize {
            return Ok(None);
        }
        after = rows.last().map(Invocation::id);
    }
}

async fn compare(store: &dyn Store, row: &Invocation) -> Result<Option<String>, StoreError> {
    let mut row = row.clone();
    // A call that moves while it is looked at is looked at again.
    for _ in 0..5 {
        let events = store.invocation_events(&row).await?;
        let what = match fold(&events) {
            Ok(folded) if folded == recorded(&row) => return Ok(None),
            Ok(_) => "the row says other than its events".to_owned(),
            Err(cause) => format!("the row's events can't be followed: {cause}"),
        };
        match store.get(&row.opened.tenant, row.id()).await? {
            Some(current) if current.revision != row.revision => row = current,
            _ => return Ok(Some(what)),
        }
    }
    Ok(None)
}

impl App {
    /// Checks the whole record, of all tenants.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not run the server: the report speaks of every tenant's sessions.
    pub async fn verify_audit(&self, actor: &Actor) -> Result<AuditReport, AppError> {
        if actor.tenant != TenantId::default_tenant() {
            return Err(AppError::forbidden("only those who run the server may check the whole record"));
        }
        self.require(actor, Area::Audit)?;
        Ok(verify(self.store().as_ref()).await?)
    }

    /// One part of the record for export: the events of the next sessions of this tenant after `after`.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage the tenant.
    pub async fn export_audit(
        &self,
        actor: &Actor,
        after: Option<SessionId>,
    ) -> Result<(Vec<Event>, Option<SessionId>), AppError> {
        self.require(actor, Area::Audit)?;
        let sessions = self.store().sessions_after(after, 10).await?;
        let mut events = Vec::new();
        for session in &sessions {
            let mut after = 0;
            loop {
                let part = self.store().session_events(*session, after, PAGE).await?;
                let full = part.len() == PAGE as usize;
                after = part.last().map_or(after, |event| event.seq);
                events.extend(part.into_iter().filter(|event| event.draft.tenant == actor.tenant));
                if !full {
                    break;
                }
            }
        }
        Ok((events, sessions.last().copied()))
    }
}

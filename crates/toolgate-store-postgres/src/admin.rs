//! Changes by those who manage tenants: all writes, the generation and the event, or nothing.

use async_trait::async_trait;
use deadpool_postgres::Object;
use toolgate_core::administration::{AdminChange, Write, administration_session};
use toolgate_core::document::{Document, DocumentKind, DocumentVersion, Expect};
use toolgate_core::event::{ChainHead, EventDraft};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::{AdminStore, StoreError};
use toolgate_core::tenant::Tenant;

use crate::PostgresStore;
use crate::connect::ANSWER_WITHIN;
use crate::error::Fault;
use crate::row::{Cells, EVENT_COLUMNS};
use crate::work::Work;
use crate::{connection, document, identity, invocation, key, oauth, principal, share, tenant, tenant_link};

#[async_trait]
impl AdminStore for PostgresStore {
    async fn change(&self, change: AdminChange) -> Result<u64, StoreError> {
        let _turn = self.changes.acquire().await.map_err(StoreError::unavailable)?;
        let mut client = self.pool.get().await.map_err(Fault::from)?;
        let answer = tokio::time::timeout(ANSWER_WITHIN, make(&mut client, &change)).await;
        answer.unwrap_or_else(|_| {
            // Whatever this connection still waits for, nobody else should wait behind it.
            drop(Object::take(client));
            Err(Fault::Slow.into())
        })
    }

    async fn tenant(&self, id: &TenantId) -> Result<Option<Tenant>, StoreError> {
        tenant::find(self, id).await
    }

    async fn tenants(&self, after: Option<&TenantId>, limit: u32) -> Result<Vec<Tenant>, StoreError> {
        tenant::list(self, after.map_or("", TenantId::as_str), limit).await
    }

    async fn generations(&self, tenants: &[TenantId]) -> Result<Vec<(TenantId, u64)>, StoreError> {
        tenant::generations(self, tenants).await
    }

    async fn documents(&self, tenant: &TenantId) -> Result<Vec<Document>, StoreError> {
        document::all(self, tenant).await
    }

    async fn document(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Document>, StoreError> {
        document::find(self, tenant, kind, name).await
    }

    async fn document_versions(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<DocumentVersion>, StoreError> {
        document::versions(self, tenant, (kind, name), before, limit).await
    }
}

async fn make(client: &mut Object, change: &AdminChange) -> Result<u64, StoreError> {
    let work = Work::begin(client, change).await?;
    // Invariant: whoever changes a tenant holds its row, so its generations and its chain are written one by one. Who
    // makes a tenant holds the row it makes.
    let makes_it = matches!(change.writes.first(), Some(Write::PutTenant { expect: Expect::Absent, .. }));
    if !tenant::lock(&work).await? && !makes_it {
        return Err(StoreError::NotFound);
    }
    key::lock_ending(&work).await?;
    let mut told = vec![change.event()];
    for write in &change.writes {
        apply(&work, write, &mut told).await?;
    }
    let generation = tenant::bump(&work).await?;
    append_events(&work, told).await?;
    work.commit().await?;
    Ok(generation)
}

/// Makes one write; `told` gets what the record says of it beside the change's own event.
async fn apply(work: &Work<'_>, write: &Write, told: &mut Vec<EventDraft>) -> Result<(), StoreError> {
    match write {
        Write::PutDocument { kind, name, body, expect } => {
            document::write(work, (*kind, name), Some(body), *expect).await
        }
        Write::RemoveDocument { kind, name, expect } => {
            document::write(work, (*kind, name), None, *expect).await
        }
        Write::PutTenant { title, disabled, expect } => tenant::put(work, title, *disabled, *expect).await,
        Write::PutPrincipal { principal, expect } => principal::put(work, principal, *expect).await,
        Write::SetPassword { principal, hash } => {
            identity::set_password(work, principal, hash.as_deref()).await
        }
        Write::LinkIdentity { issuer, sub, principal } => {
            identity::link(work, (issuer, sub), principal).await
        }
        Write::PutKey(key) => key::put(work, key).await,
        Write::EndKey { id, at } => key::end(work, *id, *at).await,
        Write::EndKeyLine { id } => key::end_line(work, *id).await,
        Write::PutConnection(made) => connection::put(work, &made.0, &made.1).await,
        Write::RemoveConnection { id } => connection::remove(work, *id).await,
        Write::PutOauthGrant(grant) => oauth::put_grant(work, grant).await,
        Write::RevokeOauthGrant { id } => oauth::revoke(work, *id).await,
        Write::RevokeOauthGrantsOf { client_id } => oauth::revoke_all(work, client_id).await,
        Write::PutShare(share) => share::put(work, share).await,
        Write::RevokeShare { id } => share::revoke(work, *id).await,
        Write::LinkTenant(link) => tenant_link::put(work, link).await,
        Write::UnlinkTenant { id } => tenant_link::end(work, *id).await,
        Write::Advance(step) => invocation::advance_within(work, step).await,
        Write::UnlinkTenants { principal, proof } => {
            let ended = tenant_link::end_proved(work, principal, proof).await?;
            told.extend(ended.iter().map(|link| work.change.unlinked(link)));
            Ok(())
        }
    }
}

/// Where a session's chain ends.
pub(crate) async fn head_of(work: &Work<'_>, session: &str) -> Result<ChainHead, StoreError> {
    let sql = "SELECT seq, hash FROM events WHERE session_id = $1 ORDER BY seq DESC LIMIT 1";
    let Some(row) = work.first(sql, &[&session]).await? else { return Ok(ChainHead::EMPTY) };
    let mut cells = Cells::of(&row);
    Ok(ChainHead { seq: cells.get()?, hash: cells.hash()? })
}

async fn append_events(work: &Work<'_>, drafts: Vec<EventDraft>) -> Result<(), StoreError> {
    let session = administration_session(&work.change.tenant).to_string();
    let mut head = head_of(work, &session).await?;
    let sql =
        format!("INSERT INTO events ({EVENT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
    for draft in drafts {
        let event = draft.seal(head);
        head = event.head();
        work.execute(
            &sql,
            &[
                &session,
                &event.seq,
                &event.draft.tenant.as_str(),
                &event.draft.invocation.to_string(),
                &event.draft.kind.as_str(),
                &event.draft.actor.as_str(),
                &event.draft.at.as_micros(),
                &event.draft.data.as_str(),
                &event.prev.0.as_slice(),
                &event.hash.0.as_slice(),
            ],
        )
        .await?;
    }
    Ok(())
}

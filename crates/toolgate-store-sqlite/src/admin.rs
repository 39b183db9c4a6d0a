//! Changes by those who manage tenants: all writes, the generation and the event, or nothing.

use async_trait::async_trait;
use rusqlite::Connection;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Document, DocumentKind, DocumentVersion, Expect};
use toolgate_core::event::EventDraft;
use toolgate_core::id::TenantId;
use toolgate_core::port::store::{AdminStore, StoreError};
use toolgate_core::tenant::Tenant;

use crate::SqliteStore;
use crate::database::Fault;
use crate::event::{append, session_head};
use crate::writer::Commit;
use crate::{connection, document, identity, invocation, key, oauth, principal, share, tenant, tenant_link};

#[async_trait]
impl AdminStore for SqliteStore {
    async fn change(&self, change: AdminChange) -> Result<u64, StoreError> {
        // The writing thread takes one piece of work after the other, each in a savepoint.
        self.database.write(Commit::Other, move |connection| make(connection, &change)).await
    }

    async fn tenant(&self, id: &TenantId) -> Result<Option<Tenant>, StoreError> {
        let id = id.clone();
        self.database.read(move |connection| tenant::find(connection, &id)).await
    }

    async fn tenants(&self, after: Option<&TenantId>, limit: u32) -> Result<Vec<Tenant>, StoreError> {
        let after = after.map_or_else(String::new, ToString::to_string);
        self.database.read(move |connection| tenant::list(connection, &after, limit)).await
    }

    async fn generations(&self, tenants: &[TenantId]) -> Result<Vec<(TenantId, u64)>, StoreError> {
        let tenants = tenants.to_vec();
        self.database
            .read(move |connection| {
                let mut found = Vec::with_capacity(tenants.len());
                for id in tenants {
                    if let Some(generation) = tenant::generation(connection, &id)? {
                        found.push((id, generation));
                    }
                }
                Ok(found)
            })
            .await
    }

    async fn documents(&self, tenant: &TenantId) -> Result<Vec<Document>, StoreError> {
        let tenant = tenant.clone();
        self.database.read(move |connection| document::all(connection, &tenant)).await
    }

    async fn document(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Document>, StoreError> {
        let (tenant, name) = (tenant.clone(), name.to_owned());
        self.database.read(move |connection| document::find(connection, &tenant, kind, &name)).await
    }

    async fn document_versions(
        &self,
        tenant: &TenantId,
        kind: DocumentKind,
        name: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<DocumentVersion>, StoreError> {
        let (tenant, name) = (tenant.clone(), name.to_owned());
        self.database
            .read(move |connection| document::versions(connection, &tenant, (kind, &name), before, limit))
            .await
    }
}

fn make(connection: &Connection, change: &AdminChange) -> Result<u64, Fault> {
    let makes_it = matches!(change.writes.first(), Some(Write::PutTenant { expect: Expect::Absent, .. }));
    if !makes_it && tenant::generation(connection, &change.tenant)?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let mut told = vec![change.event()];
    for write in &change.writes {
        apply(connection, change, write, &mut told)?;
    }
    let generation = tenant::bump(connection, &change.tenant)?;
    let head = session_head(connection, &told[0].session.to_string())?;
    append(connection, head, &told)?;
    Ok(generation)
}

/// Makes one write; `told` gets what the record says of it beside the change's own event.
fn apply(
    connection: &Connection,
    change: &AdminChange,
    write: &Write,
    told: &mut Vec<EventDraft>,
) -> Result<(), Fault> {
    match write {
        Write::PutDocument { kind, name, body, expect } => {
            document::write(connection, change, (*kind, name), Some(body), *expect)
        }
        Write::RemoveDocument { kind, name, expect } => {
            document::write(connection, change, (*kind, name), None, *expect)
        }
        Write::PutTenant { title, disabled, expect } => {
            tenant::put(connection, change, title, *disabled, *expect)
        }
        Write::PutPrincipal { principal, expect } => principal::put(connection, change, principal, *expect),
        Write::SetPassword { principal, hash } => {
            identity::set_password(connection, change, principal, hash.as_deref())
        }
        Write::LinkIdentity { issuer, sub, principal } => {
            identity::link(connection, change, (issuer, sub), principal)
        }
        Write::PutKey(key) => key::put(connection, change, key),
        Write::EndKey { id, at } => key::end(connection, change, *id, *at),
        Write::EndKeyLine { id } => key::end_line(connection, change, *id),
        Write::PutConnection(made) => connection::put(connection, change, &made.0, &made.1),
        Write::RemoveConnection { id } => connection::remove(connection, change, *id),
        Write::PutOauthGrant(grant) => oauth::put_grant(connection, change, grant),
        Write::RevokeOauthGrant { id } => oauth::revoke(connection, change, *id),
        Write::RevokeOauthGrantsOf { client_id } => oauth::revoke_all(connection, change, client_id),
        Write::PutShare(share) => share::put(connection, change, share),
        Write::RevokeShare { id } => share::revoke(connection, change, *id),
        Write::LinkTenant(link) => tenant_link::put(connection, change, link),
        Write::UnlinkTenant { id } => tenant_link::end(connection, change, *id),
        Write::Advance(step) => {
            if step.next().opened.tenant != change.tenant {
                return Err(StoreError::Refused("the call is of another tenant".to_owned()).into());
            }
            invocation::advance(connection, step).map(drop)
        }
        Write::UnlinkTenants { principal, proof } => {
            let ended = tenant_link::end_proved(connection, change, principal, proof)?;
            told.extend(ended.iter().map(|link| change.unlinked(link)));
            Ok(())
        }
    }
}

//! Principals: who may act.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::Timestamp;
use toolgate_core::administration::AdminChange;
use toolgate_core::document::Expect;
use toolgate_core::id::{ApiKeyId, PrincipalId, PrincipalKind, TenantId};
use toolgate_core::port::store::{PrincipalStore, StoreError};
use toolgate_core::principal::{ApiKey, KeyHolder, Principal};

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells};
use crate::writer::Commit;
use crate::{identity, key};

pub(crate) const COLUMNS: &str = "tenant_id, id, title, rules, roles, acts_for, disabled, created_at";

#[async_trait]
impl PrincipalStore for SqliteStore {
    async fn principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<Principal>, StoreError> {
        let (tenant, id) = (tenant.clone(), principal.clone());
        self.database.read(move |connection| find(connection, &tenant, &id)).await
    }

    async fn principals(
        &self,
        tenant: &TenantId,
        kind: Option<PrincipalKind>,
        after: Option<&PrincipalId>,
        limit: u32,
    ) -> Result<Vec<Principal>, StoreError> {
        let (tenant, after) = (tenant.to_string(), after.map_or_else(String::new, ToString::to_string));
        let (from, to) = span(kind);
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM principals
                     WHERE tenant_id = ?1 AND id > ?2 AND id >= ?3 AND id < ?4 ORDER BY id LIMIT ?5"
                );
                row::all(connection, &sql, &[&tenant, &after, &from, &to, &limit], principal)
            })
            .await
    }

    async fn password(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<String>, StoreError> {
        let (tenant, id) = (tenant.clone(), principal.clone());
        self.database.read(move |connection| identity::password(connection, &tenant, &id)).await
    }

    async fn anyone_signs_in(&self, tenant: &TenantId) -> Result<bool, StoreError> {
        let tenant = tenant.clone();
        self.database.read(move |connection| identity::anyone(connection, &tenant)).await
    }

    async fn principal_by_identity(
        &self,
        tenant: &TenantId,
        issuer: &str,
        sub: &str,
    ) -> Result<Option<Principal>, StoreError> {
        let (tenant, issuer, sub) = (tenant.clone(), issuer.to_owned(), sub.to_owned());
        self.database.read(move |connection| identity::principal(connection, &tenant, (&issuer, &sub))).await
    }

    async fn any_key(&self) -> Result<bool, StoreError> {
        self.database.read(key::any).await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyHolder>, StoreError> {
        let hash = *hash;
        self.database.read(move |connection| key::holder(connection, &hash)).await
    }

    async fn key(&self, tenant: &TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let tenant = tenant.clone();
        self.database.read(move |connection| key::find(connection, &tenant, id)).await
    }

    async fn keys(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let (tenant, principal) = (tenant.clone(), principal.cloned());
        self.database
            .read(move |connection| key::list(connection, &tenant, principal.as_ref(), after, limit))
            .await
    }

    async fn touch_keys(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        let uses = uses.to_vec();
        self.database.write(Commit::Other, move |connection| key::touch(connection, &uses)).await
    }
}

pub(crate) fn put(
    connection: &Connection,
    change: &AdminChange,
    principal: &Principal,
    expect: Expect,
) -> Result<(), Fault> {
    if principal.tenant != change.tenant {
        return Err(StoreError::Refused("the principal is of another tenant".to_owned()).into());
    }
    let there = find(connection, &change.tenant, &principal.id)?.is_some();
    match expect {
        Expect::Anything => {}
        Expect::Absent if !there => {}
        // A principal has no revision, so the one expected is never there.
        Expect::Absent | Expect::Revision(_) => return Err(StoreError::Conflict.into()),
    }
    connection.execute(
        "INSERT INTO principals (tenant_id, id, title, rules, roles, acts_for, disabled, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (tenant_id, id) DO UPDATE SET title = excluded.title, rules = excluded.rules,
             roles = excluded.roles, acts_for = excluded.acts_for, disabled = excluded.disabled",
        params![
            principal.tenant.as_str(),
            principal.id.as_str(),
            principal.title,
            row::json_text(&principal.rules)?,
            row::json_text(&principal.roles)?,
            row::json_text(&principal.acts_for)?,
            principal.disabled,
            principal.created_at.as_micros()
        ],
    )?;
    Ok(())
}

/// The id, if there is such a principal.
pub(crate) fn known<'a>(
    connection: &Connection,
    tenant: &TenantId,
    id: &'a PrincipalId,
) -> Result<&'a str, Fault> {
    let sql = "SELECT 1 FROM principals WHERE tenant_id = ?1 AND id = ?2";
    let found = row::first(connection, sql, &[&tenant.as_str(), &id.as_str()], |_| Ok(()))?;
    found.map(|()| id.as_str()).ok_or(StoreError::NotFound.into())
}

pub(crate) fn principal(row: &Row<'_>) -> Result<Principal, Fault> {
    read(&mut Cells::of(row))
}

/// Reads the columns of a principal, wherever in a row they stand.
pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Principal, Fault> {
    Ok(Principal {
        tenant: cells.parse("tenant")?,
        id: cells.parse("principal")?,
        title: cells.get()?,
        rules: cells.json("list of rules")?,
        roles: cells.json("list of roles")?,
        acts_for: cells.json("list of patterns")?,
        disabled: cells.get()?,
        created_at: cells.time()?,
    })
}

fn find(connection: &Connection, tenant: &TenantId, id: &PrincipalId) -> Result<Option<Principal>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM principals WHERE tenant_id = ?1 AND id = ?2");
    row::first(connection, &sql, &[&tenant.as_str(), &id.as_str()], principal)
}

/// The ids of one kind, or of all, stand from the first text up to the second.
const fn span(kind: Option<PrincipalKind>) -> (&'static str, &'static str) {
    match kind {
        None => ("", "~"),
        // `;` is the character after `:`.
        Some(PrincipalKind::User) => ("user:", "user;"),
        Some(PrincipalKind::Agent) => ("agent:", "agent;"),
        Some(PrincipalKind::Service) => ("service:", "service;"),
    }
}

//! People signed in with browsers.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::{Row, params};
use toolgate_core::Timestamp;
use toolgate_core::id::{PrincipalId, SignInId, TenantId};
use toolgate_core::port::store::{EndSignIns, SignInStore, StoreError};
use toolgate_core::principal::{OneTimeToken, Principal, SignIn, SwitchedFrom};

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells};
use crate::writer::Commit;
use crate::{principal, token};

const COLUMNS: &str = "id, hash, tenant_id, principal, method, user_agent, created_at, last_seen_at, expires_at, \
     from_tenant, from_principal, link_id";

/// A person's own: as themselves, or switched to another tenant from here.
const OWN: &str = "((tenant_id = ?1 AND principal = ?2) OR (from_tenant = ?1 AND from_principal = ?2))";

// Asked with every request of a browser, so it is put together once.
static BY_HASH: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM sign_ins i
         JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal WHERE i.hash = ?1",
        row::of_table("i", COLUMNS),
        row::of_table("p", principal::COLUMNS)
    )
});

#[async_trait]
impl SignInStore for SqliteStore {
    async fn put_sign_in(&self, sign_in: SignIn) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let sql = format!(
                    "INSERT INTO sign_ins ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
                );
                let from = sign_in.switched.as_ref();
                connection.prepare_cached(&sql)?.execute(params![
                    sign_in.id.to_string(),
                    sign_in.hash,
                    sign_in.tenant.as_str(),
                    sign_in.principal.as_str(),
                    sign_in.method,
                    sign_in.user_agent,
                    sign_in.created_at.as_micros(),
                    sign_in.last_seen_at.as_micros(),
                    sign_in.expires_at.as_micros(),
                    from.map(|from| from.tenant.to_string()),
                    from.map(|from| from.principal.to_string()),
                    from.map(|from| from.link.to_string())
                ])?;
                Ok(())
            })
            .await
    }

    async fn sign_in_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(SignIn, Principal)>, StoreError> {
        let hash = *hash;
        self.database
            .read(move |connection| {
                row::first(connection, &BY_HASH, &[&hash], |row| {
                    let mut cells = Cells::of(row);
                    Ok((read(&mut cells)?, principal::read(&mut cells)?))
                })
            })
            .await
    }

    async fn sign_ins(&self, tenant: &TenantId, principal: &PrincipalId) -> Result<Vec<SignIn>, StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.to_string());
        self.database
            .read(move |connection| {
                let sql =
                    format!("SELECT {COLUMNS} FROM sign_ins WHERE {OWN} ORDER BY created_at DESC, id DESC");
                row::all(connection, &sql, &[&tenant, &principal], sign_in)
            })
            .await
    }

    async fn touch_sign_in(
        &self,
        id: SignInId,
        seen: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let mut update = connection.prepare_cached(
                    "UPDATE sign_ins SET last_seen_at = max(last_seen_at, ?2), expires_at = max(expires_at, ?3)
                     WHERE id = ?1",
                )?;
                update.execute(params![id.to_string(), seen.as_micros(), expires_at.as_micros()])?;
                Ok(())
            })
            .await
    }

    async fn end_sign_ins(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        which: EndSignIns,
    ) -> Result<(), StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.to_string());
        self.database
            .write(Commit::Other, move |connection| {
                let all = format!("DELETE FROM sign_ins WHERE {OWN}");
                match which {
                    EndSignIns::All => connection.execute(&all, params![tenant, principal])?,
                    EndSignIns::One(id) => connection
                        .execute(&format!("{all} AND id = ?3"), params![tenant, principal, id.to_string()])?,
                    EndSignIns::AllBut(id) => connection.execute(
                        &format!("{all} AND id <> ?3"),
                        params![tenant, principal, id.to_string()],
                    )?,
                };
                Ok(())
            })
            .await
    }

    async fn put_token(&self, token: OneTimeToken, now: Timestamp) -> Result<(), StoreError> {
        self.database.write(Commit::Other, move |connection| token::put(connection, &token, now)).await
    }

    async fn take_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError> {
        let (hash, purpose) = (*hash, purpose.to_owned());
        self.database
            .write(Commit::Other, move |connection| token::take(connection, &hash, &purpose, now))
            .await
    }

    async fn void_tokens(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        purpose: &str,
    ) -> Result<(), StoreError> {
        let (tenant, principal, purpose) = (tenant.to_string(), principal.to_string(), purpose.to_owned());
        self.database
            .write(Commit::Other, move |connection| token::void(connection, &tenant, &principal, &purpose))
            .await
    }

    async fn read_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError> {
        let (hash, purpose) = (*hash, purpose.to_owned());
        self.database.read(move |connection| token::read(connection, &hash, &purpose, now)).await
    }

    async fn forget_sign_ins(&self, now: Timestamp) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                connection.execute("DELETE FROM sign_ins WHERE expires_at <= ?1", [now.as_micros()])?;
                Ok(())
            })
            .await
    }
}

fn sign_in(row: &Row<'_>) -> Result<SignIn, Fault> {
    read(&mut Cells::of(row))
}

fn read(cells: &mut Cells<'_>) -> Result<SignIn, Fault> {
    Ok(SignIn {
        id: cells.parse("sign-in")?,
        hash: cells.hash()?.0,
        tenant: cells.parse("tenant")?,
        principal: cells.parse("principal")?,
        method: cells.get()?,
        user_agent: cells.get()?,
        created_at: cells.time()?,
        last_seen_at: cells.time()?,
        expires_at: cells.time()?,
        switched: switched(cells)?,
    })
}

fn switched(cells: &mut Cells<'_>) -> Result<Option<SwitchedFrom>, Fault> {
    let (tenant, principal) = (cells.parse_opt("tenant")?, cells.parse_opt("principal")?);
    Ok(match (tenant, principal, cells.parse_opt("link")?) {
        (Some(tenant), Some(principal), Some(link)) => Some(SwitchedFrom { tenant, principal, link }),
        _ => None,
    })
}

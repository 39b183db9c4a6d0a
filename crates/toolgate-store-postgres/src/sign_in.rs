//! People signed in with browsers.

use std::sync::LazyLock;

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::id::{PrincipalId, SignInId, TenantId};
use toolgate_core::port::store::{EndSignIns, SignInStore, StoreError};
use toolgate_core::principal::{OneTimeToken, Principal, SignIn, SwitchedFrom};

use crate::PostgresStore;
use crate::row::{self, Cells};
use crate::{principal, token};

const COLUMNS: &str = "id, hash, tenant_id, principal, method, user_agent, created_at, last_seen_at, expires_at, \
     from_tenant, from_principal, link_id";

/// A person's own: as themselves, or switched to another tenant from here.
const OWN: &str = "((tenant_id = $1 AND principal = $2) OR (from_tenant = $1 AND from_principal = $2))";

// Asked with every request of a browser, so it is put together once.
static BY_HASH: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM sign_ins i
         JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal WHERE i.hash = $1",
        row::of_table("i", COLUMNS),
        row::of_table("p", principal::COLUMNS)
    )
});

#[async_trait]
impl SignInStore for PostgresStore {
    async fn put_sign_in(&self, sign_in: SignIn) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO sign_ins ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
        );
        let from = sign_in.switched.as_ref();
        self.query(
            &sql,
            &[
                &sign_in.id.to_string(),
                &sign_in.hash.as_slice(),
                &sign_in.tenant.as_str(),
                &sign_in.principal.as_str(),
                &sign_in.method,
                &sign_in.user_agent,
                &sign_in.created_at.as_micros(),
                &sign_in.last_seen_at.as_micros(),
                &sign_in.expires_at.as_micros(),
                &from.map(|from| from.tenant.as_str()),
                &from.map(|from| from.principal.as_str()),
                &from.map(|from| from.link.to_string()),
            ],
        )
        .await
        .map(drop)
    }

    async fn sign_in_by_hash(&self, hash: &[u8; 32]) -> Result<Option<(SignIn, Principal)>, StoreError> {
        row::first(self.query_first(&BY_HASH, &[&hash.as_slice()]).await?.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok((read(&mut cells)?, principal::read(&mut cells)?))
        })
    }

    async fn sign_ins(&self, tenant: &TenantId, principal: &PrincipalId) -> Result<Vec<SignIn>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sign_ins WHERE {OWN} ORDER BY created_at DESC, id DESC");
        row::all(&self.query(&sql, &[&tenant.as_str(), &principal.as_str()]).await?, sign_in)
    }

    async fn touch_sign_in(
        &self,
        id: SignInId,
        seen: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE sign_ins SET last_seen_at = greatest(last_seen_at, $2),
             expires_at = greatest(expires_at, $3) WHERE id = $1";
        self.query(sql, &[&id.to_string(), &seen.as_micros(), &expires_at.as_micros()]).await.map(drop)
    }

    async fn end_sign_ins(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        which: EndSignIns,
    ) -> Result<(), StoreError> {
        let (tenant, principal) = (tenant.as_str(), principal.as_str());
        let all = format!("DELETE FROM sign_ins WHERE {OWN}");
        match which {
            EndSignIns::All => self.query(&all, &[&tenant, &principal]).await,
            EndSignIns::One(id) => {
                self.query(&format!("{all} AND id = $3"), &[&tenant, &principal, &id.to_string()]).await
            }
            EndSignIns::AllBut(id) => {
                self.query(&format!("{all} AND id <> $3"), &[&tenant, &principal, &id.to_string()]).await
            }
        }
        .map(drop)
    }

    async fn put_token(&self, token: OneTimeToken, now: Timestamp) -> Result<(), StoreError> {
        token::put(self, &token, now).await
    }

    async fn take_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError> {
        token::take(self, hash, purpose, now).await
    }

    async fn void_tokens(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        purpose: &str,
    ) -> Result<(), StoreError> {
        token::void(self, tenant.as_str(), principal.as_str(), purpose).await
    }

    async fn read_token(
        &self,
        hash: &[u8; 32],
        purpose: &str,
        now: Timestamp,
    ) -> Result<Option<OneTimeToken>, StoreError> {
        token::read(self, hash, purpose, now).await
    }

    async fn forget_sign_ins(&self, now: Timestamp) -> Result<(), StoreError> {
        self.query("DELETE FROM sign_ins WHERE expires_at <= $1", &[&now.as_micros()]).await.map(drop)
    }
}

fn sign_in(row: &Row) -> Result<SignIn, StoreError> {
    read(&mut Cells::of(row))
}

fn read(cells: &mut Cells<'_>) -> Result<SignIn, StoreError> {
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

fn switched(cells: &mut Cells<'_>) -> Result<Option<SwitchedFrom>, StoreError> {
    let (tenant, principal) = (cells.parse_opt("tenant")?, cells.parse_opt("principal")?);
    Ok(match (tenant, principal, cells.parse_opt("link")?) {
        (Some(tenant), Some(principal), Some(link)) => Some(SwitchedFrom { tenant, principal, link }),
        _ => None,
    })
}

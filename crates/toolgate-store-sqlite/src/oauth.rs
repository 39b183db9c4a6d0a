//! What people let applications do, and the tokens that stand for it.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{OauthGrantId, PrincipalId, TenantId};
use toolgate_core::oauth::{OauthGrant, OauthHolder, OauthRegistration, OauthToken, OauthTokenKind};
use toolgate_core::port::oauth::OauthStore;
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::SqliteStore;
use crate::database::Fault;
use crate::principal;
use crate::row::{self, Cells};
use crate::writer::Commit;

const GRANT: &str = "id, tenant_id, principal, client_id, client_name, scopes, resource, created_at, last_used_at, \
     expires_at, revoked_at";
const TOKEN: &str = "hash, grant_id, kind, scopes, data, expires_at, used_at";

// Asked with every request by token, so it is put together once.
static HOLDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {} FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
         JOIN principals p ON p.tenant_id = g.tenant_id AND p.id = g.principal WHERE t.hash = ?1",
        row::of_table("t", TOKEN),
        row::of_table("g", GRANT),
        row::of_table("p", principal::COLUMNS),
    )
});

#[async_trait]
impl OauthStore for SqliteStore {
    async fn put_oauth_token(&self, token: OauthToken) -> Result<(), StoreError> {
        self.database.write(Commit::Other, move |connection| put_token(connection, &token)).await
    }

    async fn oauth_token(&self, hash: &[u8; 32]) -> Result<Option<OauthHolder>, StoreError> {
        let hash = *hash;
        self.database
            .read(move |connection| {
                row::first(connection, &HOLDER, &[&hash], |row| {
                    let mut cells = Cells::of(row);
                    Ok(OauthHolder {
                        token: read_token(&mut cells)?,
                        grant: read_grant(&mut cells)?,
                        principal: principal::read(&mut cells)?,
                    })
                })
            })
            .await
    }

    async fn exchange_oauth_token(
        &self,
        hash: &[u8; 32],
        at: Timestamp,
        new: Vec<OauthToken>,
        ends: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = *hash;
        self.database
            .write(Commit::Other, move |connection| exchange(connection, &hash, at, &new, ends))
            .await
    }

    async fn oauth_grant(
        &self,
        tenant: &TenantId,
        id: OauthGrantId,
    ) -> Result<Option<OauthGrant>, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .read(move |connection| {
                let sql = format!("SELECT {GRANT} FROM oauth_grants WHERE id = ?1 AND tenant_id = ?2");
                row::first(connection, &sql, &[&id, &tenant], grant)
            })
            .await
    }

    async fn oauth_grants(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        now: Timestamp,
        after: Option<OauthGrantId>,
        limit: u32,
    ) -> Result<Vec<OauthGrant>, StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.map(ToString::to_string));
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.database
            .read(move |connection| {
                let part = |more: &str| {
                    format!(
                        "SELECT {GRANT} FROM oauth_grants WHERE tenant_id = ?1 AND id > ?2 AND revoked_at IS NULL
                         AND expires_at > ?3{more} ORDER BY id LIMIT ?4"
                    )
                };
                let now = now.as_micros();
                match &principal {
                    None => row::all(connection, &part(""), &[&tenant, &after, &now, &limit], grant),
                    Some(id) => {
                        let sql = part(" AND principal = ?5");
                        row::all(connection, &sql, &[&tenant, &after, &now, &limit, id], grant)
                    }
                }
            })
            .await
    }

    async fn touch_oauth_grants(&self, uses: &[(OauthGrantId, Timestamp)]) -> Result<(), StoreError> {
        let uses = uses.to_vec();
        self.database
            .write(Commit::Other, move |connection| {
                let mut update = connection.prepare_cached(
                    "UPDATE oauth_grants SET last_used_at = ?2
                     WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
                )?;
                for (id, at) in &uses {
                    update.execute(params![id.to_string(), at.as_micros()])?;
                }
                Ok(())
            })
            .await
    }

    async fn put_oauth_registration(
        &self,
        registration: OauthRegistration,
        most: u32,
    ) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let count: u32 =
                    connection.query_row("SELECT count(*) FROM oauth_registrations", [], |row| row.get(0))?;
                if count >= most {
                    return Err(StoreError::Conflict.into());
                }
                connection.execute(
                    "INSERT INTO oauth_registrations (client_id, client, created_at, last_used_at, seen_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        registration.client_id,
                        row::json_text(&registration.client)?,
                        registration.created_at.as_micros(),
                        registration.last_used_at.map(Timestamp::as_micros),
                        registration.last_used_at.unwrap_or(registration.created_at).as_micros()
                    ],
                )?;
                Ok(())
            })
            .await
    }

    async fn oauth_registration(&self, client_id: &str) -> Result<Option<OauthRegistration>, StoreError> {
        let client_id = client_id.to_owned();
        self.database
            .read(move |connection| {
                let sql = "SELECT client_id, client, created_at, last_used_at FROM oauth_registrations
                     WHERE client_id = ?1";
                row::first(connection, sql, &[&client_id], |row| {
                    let mut cells = Cells::of(row);
                    Ok(OauthRegistration {
                        client_id: cells.get()?,
                        client: cells.json("application")?,
                        created_at: cells.time()?,
                        last_used_at: cells.time_opt()?,
                    })
                })
            })
            .await
    }

    async fn touch_oauth_registration(&self, client_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let client_id = client_id.to_owned();
        self.database
            .write(Commit::Other, move |connection| {
                connection.execute(
                    "UPDATE oauth_registrations SET last_used_at = max(coalesce(last_used_at, ?2), ?2),
                     seen_at = max(seen_at, ?2) WHERE client_id = ?1",
                    params![client_id, at.as_micros()],
                )?;
                Ok(())
            })
            .await
    }

    async fn forget_oauth(&self, ended: Timestamp, unseen: Timestamp) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let (ended, unseen) = ([ended.as_micros()], [unseen.as_micros()]);
                connection.execute("DELETE FROM oauth_tokens WHERE expires_at < ?1", ended)?;
                connection.execute("DELETE FROM oauth_grants WHERE expires_at < ?1", ended)?;
                connection.execute("DELETE FROM oauth_grants WHERE revoked_at < ?1", ended)?;
                connection.execute("DELETE FROM oauth_registrations WHERE seen_at < ?1", unseen)?;
                Ok(())
            })
            .await
    }
}

pub(crate) fn put_grant(
    connection: &Connection,
    change: &AdminChange,
    grant: &OauthGrant,
) -> Result<(), Fault> {
    if grant.tenant != change.tenant {
        return Err(StoreError::Refused("the grant is of another tenant".to_owned()).into());
    }
    principal::known(connection, &change.tenant, &grant.principal)?;
    let sql =
        format!("INSERT INTO oauth_grants ({GRANT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    connection.execute(
        &sql,
        params![
            grant.id.to_string(),
            grant.tenant.as_str(),
            grant.principal.as_str(),
            grant.client_id,
            grant.client_name,
            row::json_text(&grant.scopes)?,
            grant.resource,
            grant.created_at.as_micros(),
            grant.last_used_at.map(Timestamp::as_micros),
            grant.expires_at.as_micros(),
            grant.revoked_at.map(Timestamp::as_micros),
        ],
    )?;
    Ok(())
}

pub(crate) fn revoke(connection: &Connection, change: &AdminChange, id: OauthGrantId) -> Result<(), Fault> {
    let sql =
        "UPDATE oauth_grants SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND tenant_id = ?2";
    let ended =
        connection.execute(sql, params![id.to_string(), change.tenant.as_str(), change.at.as_micros()])?;
    if ended == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

pub(crate) fn revoke_all(
    connection: &Connection,
    change: &AdminChange,
    client_id: &str,
) -> Result<(), Fault> {
    let sql = "UPDATE oauth_grants SET revoked_at = ?3
         WHERE client_id = ?1 AND tenant_id = ?2 AND revoked_at IS NULL";
    connection.execute(sql, params![client_id, change.tenant.as_str(), change.at.as_micros()])?;
    Ok(())
}

fn put_token(connection: &Connection, token: &OauthToken) -> Result<(), Fault> {
    let sql = format!("INSERT INTO oauth_tokens ({TOKEN}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    connection.prepare_cached(&sql)?.execute(params![
        token.hash,
        token.grant.to_string(),
        token.kind.as_str(),
        row::json_text(&token.scopes)?,
        token.data.as_ref().map(JsonText::as_str),
        token.expires_at.as_micros(),
        token.used_at.map(Timestamp::as_micros),
    ])?;
    Ok(())
}

fn exchange(
    connection: &Connection,
    hash: &[u8; 32],
    at: Timestamp,
    new: &[OauthToken],
    ends: Timestamp,
) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM oauth_tokens WHERE hash = ?1";
    if row::first(connection, sql, &[hash], |_| Ok(()))?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let used = connection.execute(
        "UPDATE oauth_tokens SET used_at = ?2 WHERE hash = ?1 AND used_at IS NULL AND expires_at > ?2
         AND EXISTS (SELECT 1 FROM oauth_grants g
             WHERE g.id = oauth_tokens.grant_id AND g.revoked_at IS NULL AND g.expires_at > ?2)",
        params![hash, at.as_micros()],
    )?;
    if used == 0 {
        return Err(StoreError::Conflict.into());
    }
    connection.execute(
        "UPDATE oauth_grants SET expires_at = max(expires_at, ?2)
         WHERE id = (SELECT grant_id FROM oauth_tokens WHERE hash = ?1)",
        params![hash, ends.as_micros()],
    )?;
    new.iter().try_for_each(|token| put_token(connection, token))
}

fn grant(row: &Row<'_>) -> Result<OauthGrant, Fault> {
    read_grant(&mut Cells::of(row))
}

fn read_grant(cells: &mut Cells<'_>) -> Result<OauthGrant, Fault> {
    Ok(OauthGrant {
        id: cells.parse("grant")?,
        tenant: cells.parse("tenant")?,
        principal: cells.parse("principal")?,
        client_id: cells.get()?,
        client_name: cells.get()?,
        scopes: cells.json("list of scopes")?,
        resource: cells.get()?,
        created_at: cells.time()?,
        last_used_at: cells.time_opt()?,
        expires_at: cells.time()?,
        revoked_at: cells.time_opt()?,
    })
}

fn read_token(cells: &mut Cells<'_>) -> Result<OauthToken, Fault> {
    Ok(OauthToken {
        hash: cells.hash()?.0,
        grant: cells.parse("grant")?,
        kind: cells.word("kind of token", OauthTokenKind::from_text)?,
        scopes: cells.json("list of scopes")?,
        data: cells.get::<Option<String>>()?.map(JsonText::from_store),
        expires_at: cells.time()?,
        used_at: cells.time_opt()?,
    })
}

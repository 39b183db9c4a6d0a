//! Accounts at outside services and their sealed secrets.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::{Connection as Sqlite, params};
use toolgate_core::Timestamp;
use toolgate_core::administration::AdminChange;
use toolgate_core::connection::{Connection, ConnectionState, KeyCheck, Owner, SealedSecret};
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::connection_store::{ConnectionStore, Renewal, StoredSecret};
use toolgate_core::port::store::StoreError;

use crate::SqliteStore;
use crate::database::Fault;
use crate::principal;
use crate::row::{self, Cells};
use crate::writer::Commit;

const COLUMNS: &str =
    "id, tenant_id, service, owner, kind, place, state, created_at, updated_at, last_used_at";
const SECRET: &str = "version, key_id, wrapped, sealed";

// Asked with every call to a service that wants a secret, so it is put together once.
static WITH_SECRET: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM connections c JOIN connection_secrets s ON s.connection_id = c.id
         WHERE c.tenant_id = ?1 AND c.service = ?2 AND c.owner = ?3",
        row::of_table("c", COLUMNS),
        row::of_table("s", SECRET),
    )
});

#[async_trait]
impl ConnectionStore for SqliteStore {
    async fn connection(
        &self,
        tenant: &TenantId,
        service: &str,
        owner: &Owner,
    ) -> Result<Option<(Connection, SealedSecret)>, StoreError> {
        let (tenant, service, owner) = (tenant.to_string(), service.to_owned(), owner.as_str().to_owned());
        self.database
            .read(move |sqlite| {
                row::first(sqlite, &WITH_SECRET, &[&tenant, &service, &owner], |row| {
                    let mut cells = Cells::of(row);
                    Ok((read(&mut cells)?, read_secret(&mut cells)?))
                })
            })
            .await
    }

    async fn connections(
        &self,
        tenant: &TenantId,
        owners: Option<&[Owner]>,
        after: Option<ConnectionId>,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let tenant = tenant.to_string();
        let owners: Option<Vec<&str>> = owners.map(|owners| owners.iter().map(Owner::as_str).collect());
        let owners = owners.map(|owners| row::json_text(&owners)).transpose().map_err(StoreError::from)?;
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.database
            .read(move |sqlite| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM connections WHERE tenant_id = ?1 AND id > ?2
                     AND (?3 IS NULL OR owner IN (SELECT value FROM json_each(?3))) ORDER BY id LIMIT ?4"
                );
                row::all(sqlite, &sql, &[&tenant, &after, &owners, &limit], |row| read(&mut Cells::of(row)))
            })
            .await
    }

    async fn claim_renewal(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let tenant = tenant.to_string();
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "UPDATE connections SET renewing_until = ?5 WHERE id = ?1 AND tenant_id = ?2
                     AND (renewing_until IS NULL OR renewing_until <= ?4)
                     AND EXISTS (SELECT 1 FROM connection_secrets WHERE connection_id = ?1 AND version = ?3)";
                let (now, until) = (now.as_micros(), until.as_micros());
                Ok(sqlite.execute(sql, params![id.to_string(), tenant, row::signed(seen), now, until])? == 1)
            })
            .await
    }

    async fn renew_connection(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        renewal: Renewal,
    ) -> Result<(), StoreError> {
        let tenant = tenant.to_string();
        self.database.write(Commit::Other, move |sqlite| renew(sqlite, &tenant, id, seen, &renewal)).await
    }

    async fn touch_connections(&self, uses: &[(ConnectionId, Timestamp)]) -> Result<(), StoreError> {
        let uses = uses.to_vec();
        self.database
            .write(Commit::Other, move |sqlite| {
                let mut update = sqlite.prepare_cached(
                    "UPDATE connections SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?1",
                )?;
                for (id, at) in &uses {
                    update.execute(params![id.to_string(), at.as_micros()])?;
                }
                Ok(())
            })
            .await
    }

    async fn secrets_not_under(&self, key_id: &str, limit: u32) -> Result<Vec<StoredSecret>, StoreError> {
        let key_id = key_id.to_owned();
        self.database
            .read(move |sqlite| {
                let sql = format!(
                    "SELECT c.tenant_id, c.id, {} FROM connections c
                     JOIN connection_secrets s ON s.connection_id = c.id WHERE s.key_id <> ?1 ORDER BY c.id LIMIT ?2",
                    row::of_table("s", SECRET)
                );
                row::all(sqlite, &sql, &[&key_id, &limit], |row| {
                    let mut cells = Cells::of(row);
                    Ok(StoredSecret {
                        tenant: cells.parse("tenant")?,
                        connection: cells.parse("connection")?,
                        secret: read_secret(&mut cells)?,
                    })
                })
            })
            .await
    }

    async fn rewrap_secret(&self, rewrapped: &StoredSecret) -> Result<(), StoreError> {
        let StoredSecret { connection, secret, .. } = rewrapped.clone();
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "UPDATE connection_secrets SET key_id = ?3, wrapped = ?4
                     WHERE connection_id = ?1 AND version = ?2";
                let version = row::signed(secret.version);
                sqlite
                    .execute(sql, params![connection.to_string(), version, secret.key_id, secret.wrapped])?;
                Ok(())
            })
            .await
    }

    async fn key_check(&self) -> Result<Option<KeyCheck>, StoreError> {
        self.database.read(find_check).await
    }

    async fn set_key_check(&self, seen: Option<&str>, check: KeyCheck) -> Result<(), StoreError> {
        let seen = seen.map(ToOwned::to_owned);
        self.database
            .write(Commit::Other, move |sqlite| {
                if find_check(sqlite)?.map(|check| check.key_id) != seen {
                    return Err(StoreError::Conflict.into());
                }
                let sql = "INSERT INTO master_key (only_row, key_id, value) VALUES (1, ?1, ?2)
                     ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id, value = excluded.value";
                sqlite.execute(sql, params![check.key_id, check.value])?;
                Ok(())
            })
            .await
    }
}

/// Makes a connection, or puts another in the place of its owner's at that service.
pub(crate) fn put(
    sqlite: &Sqlite,
    change: &AdminChange,
    connection: &Connection,
    secret: &SealedSecret,
) -> Result<(), Fault> {
    if connection.tenant != change.tenant {
        return Err(StoreError::Refused("the connection is of another tenant".to_owned()).into());
    }
    if let Owner::Person(person) = &connection.owner {
        principal::known(sqlite, &change.tenant, person)?;
    }
    let (id, tenant, owner) = (connection.id.to_string(), change.tenant.as_str(), connection.owner.as_str());
    let sql = "DELETE FROM connection_secrets WHERE connection_id IN
         (SELECT id FROM connections WHERE tenant_id = ?1 AND service = ?2 AND owner = ?3)";
    sqlite.execute(sql, params![tenant, connection.service, owner])?;
    let sql = "DELETE FROM connections WHERE tenant_id = ?1 AND service = ?2 AND owner = ?3";
    sqlite.execute(sql, params![tenant, connection.service, owner])?;
    let sql = format!("INSERT INTO connections ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    sqlite.execute(
        &sql,
        params![
            id,
            tenant,
            connection.service,
            owner,
            row::json_text(&connection.kind)?,
            connection.place,
            connection.state.as_str(),
            connection.created_at.as_micros(),
            connection.updated_at.as_micros(),
            connection.last_used_at.map(Timestamp::as_micros),
        ],
    )?;
    put_secret(sqlite, &id, secret)
}

/// Removes a connection and its secret.
pub(crate) fn remove(sqlite: &Sqlite, change: &AdminChange, id: ConnectionId) -> Result<(), Fault> {
    let (id, tenant) = (id.to_string(), change.tenant.as_str());
    let sql = "DELETE FROM connection_secrets WHERE connection_id IN
         (SELECT id FROM connections WHERE id = ?1 AND tenant_id = ?2)";
    sqlite.execute(sql, params![id, tenant])?;
    let sql = "DELETE FROM connections WHERE id = ?1 AND tenant_id = ?2";
    let removed = sqlite.execute(sql, params![id, tenant])?;
    if removed == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

fn renew(sqlite: &Sqlite, tenant: &str, id: ConnectionId, seen: u64, renewal: &Renewal) -> Result<(), Fault> {
    let id = id.to_string();
    let sql = "SELECT s.version FROM connection_secrets s JOIN connections c ON c.id = s.connection_id
         WHERE c.id = ?1 AND c.tenant_id = ?2";
    let version = row::first(sqlite, sql, &[&id, &tenant], |row| Cells::of(row).count("version"))?;
    match version {
        None => return Err(StoreError::NotFound.into()),
        Some(version) if version != seen => return Err(StoreError::Conflict.into()),
        Some(_) => {}
    }
    let sql = "UPDATE connections SET state = ?2, updated_at = ?3, renewing_until = NULL WHERE id = ?1";
    sqlite.execute(sql, params![id, renewal.state.as_str(), renewal.at.as_micros()])?;
    match &renewal.secret {
        Some(secret) => put_secret(sqlite, &id, secret),
        None => Ok(()),
    }
}

fn put_secret(sqlite: &Sqlite, id: &str, secret: &SealedSecret) -> Result<(), Fault> {
    let sql = format!(
        "INSERT OR REPLACE INTO connection_secrets (connection_id, {SECRET}) VALUES (?1, ?2, ?3, ?4, ?5)"
    );
    let version = row::signed(secret.version);
    sqlite.execute(&sql, params![id, version, secret.key_id, secret.wrapped, secret.sealed])?;
    Ok(())
}

fn find_check(sqlite: &Sqlite) -> Result<Option<KeyCheck>, Fault> {
    row::first(sqlite, "SELECT key_id, value FROM master_key", &[], |row| {
        let mut cells = Cells::of(row);
        Ok(KeyCheck { key_id: cells.get()?, value: cells.get()? })
    })
}

fn read(cells: &mut Cells<'_>) -> Result<Connection, Fault> {
    Ok(Connection {
        id: cells.parse("connection")?,
        tenant: cells.parse("tenant")?,
        service: cells.get()?,
        owner: cells.parse("owner")?,
        kind: cells.json("kind of connection")?,
        place: cells.get()?,
        state: cells.word("state", ConnectionState::from_text)?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        last_used_at: cells.time_opt()?,
    })
}

fn read_secret(cells: &mut Cells<'_>) -> Result<SealedSecret, Fault> {
    Ok(SealedSecret {
        version: cells.count("version")?,
        key_id: cells.get()?,
        wrapped: cells.get()?,
        sealed: cells.get()?,
    })
}

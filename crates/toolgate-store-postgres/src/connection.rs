//! Accounts at outside services and their sealed secrets.

use std::sync::LazyLock;

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::connection::{Connection, ConnectionState, KeyCheck, Owner, SealedSecret};
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::connection_store::{ConnectionStore, Renewal, StoredSecret};
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;
use crate::principal;
use crate::row::{self, Cells};
use crate::work::Work;

const COLUMNS: &str =
    "id, tenant_id, service, owner, kind, place, state, created_at, updated_at, last_used_at";
const SECRET: &str = "version, key_id, wrapped, sealed";

// Asked with every call to a service that wants a secret, so it is put together once.
static WITH_SECRET: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM connections c JOIN connection_secrets s ON s.connection_id = c.id
         WHERE c.tenant_id = $1 AND c.service = $2 AND c.owner = $3",
        row::of_table("c", COLUMNS),
        row::of_table("s", SECRET),
    )
});

// The connection's row is locked before its secret is looked at again, so of two who saw the same version one writes.
const RENEW: &str = "
    WITH seen AS MATERIALIZED (
        SELECT c.id FROM connections c WHERE c.id = $1 AND c.tenant_id = $2 FOR UPDATE
    ), renewed AS (
        UPDATE connection_secrets s SET version = coalesce($6, s.version), key_id = coalesce($7, s.key_id),
            wrapped = coalesce($8, s.wrapped), sealed = coalesce($9, s.sealed)
        FROM seen WHERE s.connection_id = seen.id AND s.version = $3
        RETURNING s.connection_id
    ), noted AS (
        UPDATE connections c SET state = $4, updated_at = $5, renewing_until = NULL
        FROM renewed WHERE c.id = renewed.connection_id
    )
    SELECT EXISTS (SELECT 1 FROM renewed), EXISTS (SELECT 1 FROM seen)";

// Locked in order of id, so that those who note several uses at once can't wait for each other.
const TOUCH: &str = "
    WITH given AS MATERIALIZED (
        SELECT id, max(at) AS at FROM unnest($1::text[], $2::int8[]) AS g (id, at) GROUP BY id
    ), later AS (
        SELECT c.id, given.at FROM given JOIN connections c ON c.id = given.id
        WHERE c.last_used_at IS NULL OR c.last_used_at < given.at ORDER BY c.id FOR UPDATE OF c
    )
    UPDATE connections c SET last_used_at = later.at FROM later WHERE c.id = later.id";

#[async_trait]
impl ConnectionStore for PostgresStore {
    async fn connection(
        &self,
        tenant: &TenantId,
        service: &str,
        owner: &Owner,
    ) -> Result<Option<(Connection, SealedSecret)>, StoreError> {
        let found = self.query_first(&WITH_SECRET, &[&tenant.as_str(), &service, &owner.as_str()]).await?;
        row::first(found.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok((read(&mut cells)?, read_secret(&mut cells)?))
        })
    }

    async fn connections(
        &self,
        tenant: &TenantId,
        owners: Option<&[Owner]>,
        after: Option<ConnectionId>,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let owners: Option<Vec<&str>> = owners.map(|owners| owners.iter().map(Owner::as_str).collect());
        let after = after.map_or_else(String::new, |id| id.to_string());
        let sql = format!(
            "SELECT {COLUMNS} FROM connections WHERE tenant_id = $1 AND id > $2
             AND ($3::text[] IS NULL OR owner = ANY ($3)) ORDER BY id LIMIT $4"
        );
        let rows = self.query(&sql, &[&tenant.as_str(), &after, &owners, &i64::from(limit)]).await?;
        row::all(&rows, connection)
    }

    async fn claim_renewal(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE connections SET renewing_until = $5 WHERE id = $1 AND tenant_id = $2
             AND (renewing_until IS NULL OR renewing_until <= $4)
             AND EXISTS (SELECT 1 FROM connection_secrets WHERE connection_id = $1 AND version = $3)
             RETURNING 1";
        let (seen, now, until) = (row::signed(seen), now.as_micros(), until.as_micros());
        let taken = self.query_first(sql, &[&id.to_string(), &tenant.as_str(), &seen, &now, &until]).await?;
        Ok(taken.is_some())
    }

    async fn renew_connection(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        renewal: Renewal,
    ) -> Result<(), StoreError> {
        let secret = renewal.secret.as_ref();
        let answer = self
            .query_first(
                RENEW,
                &[
                    &id.to_string(),
                    &tenant.as_str(),
                    &row::signed(seen),
                    &renewal.state.as_str(),
                    &renewal.at.as_micros(),
                    &secret.map(|secret| row::signed(secret.version)),
                    &secret.map(|secret| secret.key_id.as_str()),
                    &secret.map(|secret| secret.wrapped.as_slice()),
                    &secret.map(|secret| secret.sealed.as_slice()),
                ],
            )
            .await?;
        let answer = row::first(answer.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok((cells.get::<bool>()?, cells.get::<bool>()?))
        })?;
        match answer {
            Some((true, _)) => Ok(()),
            Some((false, true)) => Err(StoreError::Conflict),
            Some((false, false)) | None => Err(StoreError::NotFound),
        }
    }

    async fn touch_connections(&self, uses: &[(ConnectionId, Timestamp)]) -> Result<(), StoreError> {
        let (ids, times): (Vec<String>, Vec<i64>) =
            uses.iter().map(|(id, at)| (id.to_string(), at.as_micros())).unzip();
        self.query(TOUCH, &[&ids, &times]).await.map(drop)
    }

    async fn secrets_not_under(&self, key_id: &str, limit: u32) -> Result<Vec<StoredSecret>, StoreError> {
        let sql = format!(
            "SELECT c.tenant_id, c.id, {} FROM connections c JOIN connection_secrets s ON s.connection_id = c.id
             WHERE s.key_id <> $1 ORDER BY c.id LIMIT $2",
            row::of_table("s", SECRET)
        );
        row::all(&self.query(&sql, &[&key_id, &i64::from(limit)]).await?, |row| {
            let mut cells = Cells::of(row);
            Ok(StoredSecret {
                tenant: cells.parse("tenant")?,
                connection: cells.parse("connection")?,
                secret: read_secret(&mut cells)?,
            })
        })
    }

    async fn rewrap_secret(&self, rewrapped: &StoredSecret) -> Result<(), StoreError> {
        let sql = "UPDATE connection_secrets SET key_id = $3, wrapped = $4
             WHERE connection_id = $1 AND version = $2";
        let (id, secret) = (rewrapped.connection.to_string(), &rewrapped.secret);
        self.query(sql, &[&id, &row::signed(secret.version), &secret.key_id, &secret.wrapped]).await.map(drop)
    }

    async fn key_check(&self) -> Result<Option<KeyCheck>, StoreError> {
        let found = self.query_first("SELECT key_id, value FROM master_key", &[]).await?;
        row::first(found.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok(KeyCheck { key_id: cells.get()?, value: cells.get()? })
        })
    }

    async fn set_key_check(&self, seen: Option<&str>, check: KeyCheck) -> Result<(), StoreError> {
        let written = match seen {
            None => {
                let sql = "INSERT INTO master_key (only_row, key_id, value) VALUES (1, $1, $2)
                     ON CONFLICT (only_row) DO NOTHING RETURNING 1";
                self.query_first(sql, &[&check.key_id, &check.value]).await?
            }
            Some(seen) => {
                let sql = "UPDATE master_key SET key_id = $1, value = $2 WHERE key_id = $3 RETURNING 1";
                self.query_first(sql, &[&check.key_id, &check.value, &seen]).await?
            }
        };
        written.map(drop).ok_or(StoreError::Conflict)
    }
}

/// Makes a connection, or puts another in the place of its owner's at that service.
pub(crate) async fn put(
    work: &Work<'_>,
    connection: &Connection,
    secret: &SealedSecret,
) -> Result<(), StoreError> {
    if connection.tenant != work.change.tenant {
        return Err(StoreError::Refused("the connection is of another tenant".to_owned()));
    }
    if let Owner::Person(person) = &connection.owner {
        principal::known(work, person).await?;
    }
    let (id, tenant, owner) =
        (connection.id.to_string(), work.change.tenant.as_str(), connection.owner.as_str());
    let sql = "DELETE FROM connections WHERE tenant_id = $1 AND service = $2 AND owner = $3";
    work.execute(sql, &[&tenant, &connection.service, &owner]).await?;
    let sql = format!("INSERT INTO connections ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
    work.execute(
        &sql,
        &[
            &id,
            &tenant,
            &connection.service,
            &owner,
            &row::json_text(&connection.kind)?,
            &connection.place,
            &connection.state.as_str(),
            &connection.created_at.as_micros(),
            &connection.updated_at.as_micros(),
            &connection.last_used_at.map(Timestamp::as_micros),
        ],
    )
    .await?;
    let sql = format!("INSERT INTO connection_secrets (connection_id, {SECRET}) VALUES ($1, $2, $3, $4, $5)");
    let version = row::signed(secret.version);
    work.execute(&sql, &[&id, &version, &secret.key_id, &secret.wrapped, &secret.sealed]).await?;
    Ok(())
}

/// Removes a connection; its secret goes with it.
pub(crate) async fn remove(work: &Work<'_>, id: ConnectionId) -> Result<(), StoreError> {
    let sql = "DELETE FROM connections WHERE id = $1 AND tenant_id = $2";
    let removed = work.execute(sql, &[&id.to_string(), &work.change.tenant.as_str()]).await?;
    if removed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

fn connection(row: &Row) -> Result<Connection, StoreError> {
    read(&mut Cells::of(row))
}

fn read(cells: &mut Cells<'_>) -> Result<Connection, StoreError> {
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

fn read_secret(cells: &mut Cells<'_>) -> Result<SealedSecret, StoreError> {
    Ok(SealedSecret {
        version: cells.count("version")?,
        key_id: cells.get()?,
        wrapped: cells.get()?,
        sealed: cells.get()?,
    })
}

//! What people let applications do, and the tokens that stand for it.

use std::sync::LazyLock;

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::id::{OauthGrantId, PrincipalId, TenantId};
use toolgate_core::oauth::{OauthGrant, OauthHolder, OauthRegistration, OauthToken, OauthTokenKind};
use toolgate_core::port::oauth::OauthStore;
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::PostgresStore;
use crate::principal;
use crate::row::{self, Cells};
use crate::work::Work;

const GRANT: &str = "id, tenant_id, principal, client_id, client_name, scopes, resource, created_at, last_used_at, \
     expires_at, revoked_at";
const TOKEN: &str = "hash, grant_id, kind, scopes, data, expires_at, used_at";

// Asked with every request by token, so it is put together once.
static HOLDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {} FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
         JOIN principals p ON p.tenant_id = g.tenant_id AND p.id = g.principal WHERE t.hash = $1",
        row::of_table("t", TOKEN),
        row::of_table("g", GRANT),
        row::of_table("p", principal::COLUMNS),
    )
});

// Who waits for the row of a token that another uses up sees it used, and writes nothing.
const EXCHANGE: &str = "
    WITH used AS (
        UPDATE oauth_tokens t SET used_at = $2 FROM oauth_grants g
        WHERE t.hash = $1 AND t.used_at IS NULL AND t.expires_at > $2
          AND g.id = t.grant_id AND g.revoked_at IS NULL AND g.expires_at > $2
        RETURNING t.grant_id
    ), kept AS (
        UPDATE oauth_grants g SET expires_at = greatest(g.expires_at, $3) FROM used WHERE g.id = used.grant_id
    ), made AS (
        INSERT INTO oauth_tokens (hash, grant_id, kind, scopes, data, expires_at)
        SELECT n.hash, n.grant_id, n.kind, n.scopes, n.data, n.expires_at
        FROM used, unnest($4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int8[])
            AS n (hash, grant_id, kind, scopes, data, expires_at)
    )
    SELECT EXISTS (SELECT 1 FROM used), EXISTS (SELECT 1 FROM oauth_tokens WHERE hash = $1)";

// Locked in order of id, so that those who note several uses at once can't wait for each other.
const TOUCH: &str = "
    WITH given AS MATERIALIZED (
        SELECT id, max(at) AS at FROM unnest($1::text[], $2::int8[]) AS g (id, at) GROUP BY id
    ), later AS (
        SELECT o.id, given.at FROM given JOIN oauth_grants o ON o.id = given.id
        WHERE o.last_used_at IS NULL OR o.last_used_at < given.at ORDER BY o.id FOR UPDATE OF o
    )
    UPDATE oauth_grants o SET last_used_at = later.at FROM later WHERE o.id = later.id";

#[async_trait]
impl OauthStore for PostgresStore {
    async fn put_oauth_token(&self, token: OauthToken) -> Result<(), StoreError> {
        let sql = format!("INSERT INTO oauth_tokens ({TOKEN}) VALUES ($1, $2, $3, $4, $5, $6, $7)");
        self.query(
            &sql,
            &[
                &token.hash.as_slice(),
                &token.grant.to_string(),
                &token.kind.as_str(),
                &row::json_text(&token.scopes)?,
                &token.data.as_ref().map(JsonText::as_str),
                &token.expires_at.as_micros(),
                &token.used_at.map(Timestamp::as_micros),
            ],
        )
        .await
        .map(drop)
    }

    async fn oauth_token(&self, hash: &[u8; 32]) -> Result<Option<OauthHolder>, StoreError> {
        row::first(self.query_first(&HOLDER, &[&hash.as_slice()]).await?.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok(OauthHolder {
                token: read_token(&mut cells)?,
                grant: read_grant(&mut cells)?,
                principal: principal::read(&mut cells)?,
            })
        })
    }

    async fn exchange_oauth_token(
        &self,
        hash: &[u8; 32],
        at: Timestamp,
        new: Vec<OauthToken>,
        ends: Timestamp,
    ) -> Result<(), StoreError> {
        let hashes: Vec<&[u8]> = new.iter().map(|token| token.hash.as_slice()).collect();
        let grants: Vec<String> = new.iter().map(|token| token.grant.to_string()).collect();
        let kinds: Vec<&str> = new.iter().map(|token| token.kind.as_str()).collect();
        let scopes: Vec<String> =
            new.iter().map(|token| row::json_text(&token.scopes)).collect::<Result<_, _>>()?;
        let data: Vec<Option<&str>> =
            new.iter().map(|token| token.data.as_ref().map(JsonText::as_str)).collect();
        let ends_at: Vec<i64> = new.iter().map(|token| token.expires_at.as_micros()).collect();
        let answer = self
            .query_first(
                EXCHANGE,
                &[
                    &hash.as_slice(),
                    &at.as_micros(),
                    &ends.as_micros(),
                    &hashes,
                    &grants,
                    &kinds,
                    &scopes,
                    &data,
                    &ends_at,
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

    async fn oauth_grant(
        &self,
        tenant: &TenantId,
        id: OauthGrantId,
    ) -> Result<Option<OauthGrant>, StoreError> {
        let sql = format!("SELECT {GRANT} FROM oauth_grants WHERE id = $1 AND tenant_id = $2");
        row::first(self.query_first(&sql, &[&id.to_string(), &tenant.as_str()]).await?.as_ref(), grant)
    }

    async fn oauth_grants(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        now: Timestamp,
        after: Option<OauthGrantId>,
        limit: u32,
    ) -> Result<Vec<OauthGrant>, StoreError> {
        let (after, limit) = (after.map_or_else(String::new, |id| id.to_string()), i64::from(limit));
        let (tenant, now) = (tenant.as_str(), now.as_micros());
        let part = |more: &str| {
            format!(
                "SELECT {GRANT} FROM oauth_grants WHERE tenant_id = $1 AND id > $2 AND revoked_at IS NULL
                 AND expires_at > $3{more} ORDER BY id LIMIT $4"
            )
        };
        let rows = match principal {
            None => self.query(&part(""), &[&tenant, &after, &now, &limit]).await?,
            Some(id) => {
                let sql = part(" AND principal = $5");
                self.query(&sql, &[&tenant, &after, &now, &limit, &id.as_str()]).await?
            }
        };
        row::all(&rows, grant)
    }

    async fn touch_oauth_grants(&self, uses: &[(OauthGrantId, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let (ids, times): (Vec<String>, Vec<i64>) =
            uses.iter().map(|(id, at)| (id.to_string(), at.as_micros())).unzip();
        self.query(TOUCH, &[&ids, &times]).await.map(drop)
    }

    async fn put_oauth_registration(
        &self,
        registration: OauthRegistration,
        most: u32,
    ) -> Result<(), StoreError> {
        // Nodes that write at once may go over by one each; the number only has to stay bounded.
        let sql = "INSERT INTO oauth_registrations (client_id, client, created_at, last_used_at, seen_at)
             SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM oauth_registrations) < $6 RETURNING 1";
        let written = self
            .query_first(
                sql,
                &[
                    &registration.client_id,
                    &row::json_text(&registration.client)?,
                    &registration.created_at.as_micros(),
                    &registration.last_used_at.map(Timestamp::as_micros),
                    &registration.last_used_at.unwrap_or(registration.created_at).as_micros(),
                    &i64::from(most),
                ],
            )
            .await?;
        written.map(drop).ok_or(StoreError::Conflict)
    }

    async fn oauth_registration(&self, client_id: &str) -> Result<Option<OauthRegistration>, StoreError> {
        let sql = "SELECT client_id, client, created_at, last_used_at FROM oauth_registrations
             WHERE client_id = $1";
        row::first(self.query_first(sql, &[&client_id]).await?.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok(OauthRegistration {
                client_id: cells.get()?,
                client: cells.json("application")?,
                created_at: cells.time()?,
                last_used_at: cells.time_opt()?,
            })
        })
    }

    async fn touch_oauth_registration(&self, client_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE oauth_registrations SET last_used_at = greatest(last_used_at, $2),
             seen_at = greatest(seen_at, $2) WHERE client_id = $1";
        self.query(sql, &[&client_id, &at.as_micros()]).await.map(drop)
    }

    async fn forget_oauth(&self, ended: Timestamp, unseen: Timestamp) -> Result<(), StoreError> {
        for (sql, before) in [
            ("DELETE FROM oauth_tokens WHERE expires_at < $1", ended),
            ("DELETE FROM oauth_grants WHERE expires_at < $1", ended),
            ("DELETE FROM oauth_grants WHERE revoked_at < $1", ended),
            ("DELETE FROM oauth_registrations WHERE seen_at < $1", unseen),
        ] {
            self.query(sql, &[&before.as_micros()]).await?;
        }
        Ok(())
    }
}

pub(crate) async fn put_grant(work: &Work<'_>, grant: &OauthGrant) -> Result<(), StoreError> {
    if grant.tenant != work.change.tenant {
        return Err(StoreError::Refused("the grant is of another tenant".to_owned()));
    }
    principal::known(work, &grant.principal).await?;
    let sql =
        format!("INSERT INTO oauth_grants ({GRANT}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    work.execute(
        &sql,
        &[
            &grant.id.to_string(),
            &grant.tenant.as_str(),
            &grant.principal.as_str(),
            &grant.client_id,
            &grant.client_name,
            &row::json_text(&grant.scopes)?,
            &grant.resource,
            &grant.created_at.as_micros(),
            &grant.last_used_at.map(Timestamp::as_micros),
            &grant.expires_at.as_micros(),
            &grant.revoked_at.map(Timestamp::as_micros),
        ],
    )
    .await?;
    Ok(())
}

pub(crate) async fn revoke(work: &Work<'_>, id: OauthGrantId) -> Result<(), StoreError> {
    let sql =
        "UPDATE oauth_grants SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND tenant_id = $2";
    let tenant = work.change.tenant.as_str();
    let ended = work.execute(sql, &[&id.to_string(), &tenant, &work.change.at.as_micros()]).await?;
    if ended == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

pub(crate) async fn revoke_all(work: &Work<'_>, client_id: &str) -> Result<(), StoreError> {
    // Locked in order of id, like the grants whose use is noted.
    let sql = "WITH ending AS (
            SELECT id FROM oauth_grants WHERE client_id = $1 AND tenant_id = $2 AND revoked_at IS NULL
            ORDER BY id FOR UPDATE
        )
        UPDATE oauth_grants o SET revoked_at = $3 FROM ending WHERE o.id = ending.id";
    let tenant = work.change.tenant.as_str();
    work.execute(sql, &[&client_id, &tenant, &work.change.at.as_micros()]).await.map(drop)
}

fn grant(row: &Row) -> Result<OauthGrant, StoreError> {
    read_grant(&mut Cells::of(row))
}

fn read_grant(cells: &mut Cells<'_>) -> Result<OauthGrant, StoreError> {
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

fn read_token(cells: &mut Cells<'_>) -> Result<OauthToken, StoreError> {
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

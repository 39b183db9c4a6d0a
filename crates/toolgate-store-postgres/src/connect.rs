//! Reaching the database.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::sync::Semaphore;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};
use toolgate_core::port::gate::SharedMeters;
use toolgate_core::port::store::{Store, StoreError};

use crate::error::Fault;
use crate::writer::Writers;
use crate::{migrate, tls};

/// How long a connection may take to come about, and to come free.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// How long an answer is waited for. The server gives up first (`SESSION`), so this is for one that fell silent.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// Changes under way at once. They may wait for each other, each on a connection that calls then do not have.
const CHANGES: usize = 4;

/// What holds on every connection. Accepted means durable, so a server that is set up to answer before it has written
/// is overruled; stricter settings stay. Every query here has its index and touches few rows: the planner is kept from
/// thinking otherwise, which it would for tables that were small when the plan was made.
const SESSION: &str = "
    SET statement_timeout = '15s';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '30s';
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// How a store uses its database.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Connections at most.
    pub connections: usize,
    /// Tasks that write calls. Each has one statement under way at a time, and a session always goes to the same one.
    pub writers: usize,
    /// Calls that one statement writes at most.
    pub batch: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { connections: 16, writers: 4, batch: 256 }
    }
}

/// Everything in one Postgres database, which many nodes may share.
#[derive(Debug)]
pub struct PostgresStore {
    pub(crate) pool: Pool,
    pub(crate) writers: Writers,
    pub(crate) changes: Semaphore,
}

impl PostgresStore {
    /// Connects, and brings the schema up to date. Several nodes may do this at once.
    ///
    /// # Errors
    /// When the database can't be reached, or its schema is not one this build can work with.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, Options::default()).await
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: Options) -> Result<Self, StoreError> {
        let pool = pool(url, options.connections.max(1))?;
        migrate::run(&pool).await?;
        let writers = Writers::spawn(&pool, options);
        let store = Self { pool, writers, changes: Semaphore::new(CHANGES) };
        if store.query_first("SELECT 1 WHERE current_setting('fsync') = 'off'", &[]).await?.is_some() {
            tracing::warn!(
                "the database runs with fsync off: a crash of its machine can lose accepted calls"
            );
        }
        Ok(store)
    }

    pub(crate) async fn query(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        Ok(query(&self.pool, sql, params).await?)
    }

    pub(crate) async fn query_first(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn engine(&self) -> &'static str {
        "postgres"
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.query("SELECT 1", &[]).await.map(drop)
    }

    fn shared_meters(&self) -> Option<&dyn SharedMeters> {
        Some(self)
    }
}

/// One statement, prepared once per connection.
pub(crate) async fn query(pool: &Pool, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Fault> {
    let client = pool.get().await?;
    let answer = async {
        let statement = client.prepare_cached(sql).await?;
        client.query(&statement, params).await
    };
    let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await;
    match answer {
        Ok(rows) => Ok(rows?),
        Err(_) => {
            // Whatever this connection still waits for, nobody else should wait behind it.
            drop(Object::take(client));
            Err(Fault::Slow)
        }
    }
}

fn pool(url: &str, connections: usize) -> Result<Pool, StoreError> {
    let (url, roots) = tls::take_words(url);
    let mut config: Config = url.parse().map_err(StoreError::unavailable)?;
    config.connect_timeout(CONNECT_WITHIN);
    config.keepalives_idle(Duration::from_secs(30));
    config.tcp_user_timeout(ANSWER_WITHIN);
    if config.get_application_name().is_none() {
        config.application_name("toolgate");
    }
    if config.get_hosts().len() > 1 {
        // After a failover, the one that takes writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    let connector = tls::connector(config.get_ssl_mode(), roots.as_deref())?;
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    Pool::builder(Manager::from_config(config, connector, recycling))
        .max_size(connections)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_WITHIN))
        .create_timeout(Some(CONNECT_WITHIN))
        .recycle_timeout(Some(CONNECT_WITHIN))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(StoreError::unavailable)
}

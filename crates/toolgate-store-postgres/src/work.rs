//! The transaction of one change. Whatever goes wrong in it, or when nobody waits for it any more, it is taken back.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row};
use toolgate_core::administration::AdminChange;
use toolgate_core::port::store::StoreError;

use crate::error::Fault;

type Param<'a> = &'a (dyn ToSql + Sync);

/// A change and its transaction.
pub(crate) struct Work<'a> {
    pub(crate) change: &'a AdminChange,
    transaction: Transaction<'a>,
}

impl<'a> Work<'a> {
    /// Begins. Each statement sees what was committed before it, whatever the server's own setting: who waited for a
    /// lock must see what its holder wrote.
    pub(crate) async fn begin(client: &'a mut Object, change: &'a AdminChange) -> Result<Self, StoreError> {
        let builder = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
        let transaction = builder.start().await.map_err(Fault::from)?;
        Ok(Self { change, transaction })
    }

    pub(crate) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(self.rows(sql, params).await?)
    }

    /// The same, with what went wrong as the database says it.
    pub(crate) async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        let statement = self.transaction.prepare_cached(sql).await?;
        Ok(self.transaction.query(&statement, params).await?)
    }

    pub(crate) async fn first(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// Returns how many rows were written.
    pub(crate) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let statement = self.transaction.prepare_cached(sql).await.map_err(Fault::from)?;
        Ok(self.transaction.execute(&statement, params).await.map_err(Fault::from)?)
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        Ok(self.transaction.commit().await.map_err(Fault::from)?)
    }
}

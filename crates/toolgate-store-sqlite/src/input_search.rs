//! Finding calls by what they were called with.

use async_trait::async_trait;
use rusqlite::{Connection, ToSql};
use toolgate_core::Timestamp;
use toolgate_core::id::TenantId;
use toolgate_core::port::input_search::{InputSearch, InputSearchStore, LONGEST_SEARCHED, Searched, holds};
use toolgate_core::port::store::{Page, StoreError};

use crate::SqliteStore;
use crate::database::Fault;
use crate::invocation::{Values, list_query};
use crate::row;

#[async_trait]
impl InputSearchStore for SqliteStore {
    async fn search_inputs(
        &self,
        tenant: &TenantId,
        InputSearch { filter, text, page, most }: InputSearch<'_>,
    ) -> Result<Searched, StoreError> {
        // What is too long is not even read: its length stands before it.
        let columns = format!(
            "id, created_at, CASE WHEN octet_length(input) <= {LONGEST_SEARCHED} THEN input ELSE '' END"
        );
        let (sql, values) = list_query(&columns, tenant, filter, Page { after: page.after, limit: most });
        let wanted = text.to_lowercase();
        self.database
            .read(move |connection| search(connection, &sql, &values, &wanted, page.limit, most))
            .await
    }
}

fn search(
    connection: &Connection,
    sql: &str,
    values: &Values,
    wanted: &str,
    limit: u32,
    most: u32,
) -> Result<Searched, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let values: Vec<&dyn ToSql> = values.iter().map(|value| &**value as &dyn ToSql).collect();
    let mut rows = statement.query(values.as_slice())?;
    let (mut ids, mut end, mut looked_at) = (Vec::new(), None, 0);
    while (ids.len() as u64) < u64::from(limit)
        && let Some(row) = rows.next()?
    {
        looked_at += 1;
        let input = row.get_ref(2)?.as_str().map_err(|_| row::damaged("input"))?;
        let id: String = row.get(0)?;
        if holds(input, wanted) {
            ids.push(id.clone());
        }
        end = Some((id, row.get(1)?));
    }
    let whole = format!("SELECT {} FROM invocations WHERE id = ?1", row::listed_columns());
    let mut invocations = Vec::with_capacity(ids.len());
    for id in &ids {
        invocations.extend(row::first(connection, &whole, &[id], row::invocation)?);
    }
    let end = match end {
        None => None,
        Some((id, at)) => {
            let id = id.parse().map_err(|_| row::damaged("id"))?;
            Some((id, Timestamp::from_micros(at)))
        }
    };
    let more = looked_at == u64::from(most) || ids.len() as u64 == u64::from(limit);
    Ok(Searched { invocations, looked_at, end, more })
}

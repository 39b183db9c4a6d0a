//! Finding calls by what they were called with.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;
use toolgate_core::Timestamp;
use toolgate_core::id::TenantId;
use toolgate_core::port::input_search::{InputSearch, InputSearchStore, LONGEST_SEARCHED, Searched};
use toolgate_core::port::store::{Page, StoreError};

use crate::PostgresStore;
use crate::invocation::ListQuery;
use crate::row::{self, Cells};

#[async_trait]
impl InputSearchStore for PostgresStore {
    async fn search_inputs(
        &self,
        tenant: &TenantId,
        InputSearch { filter, text, page, most }: InputSearch<'_>,
    ) -> Result<Searched, StoreError> {
        // What is too long is not even read: its length stands before it.
        let columns = format!(
            "id, created_at, CASE WHEN octet_length(input) <= {LONGEST_SEARCHED} THEN input ELSE '' END AS input"
        );
        let after = Page { after: page.after, limit: most };
        let mut query = ListQuery::of(&columns, tenant, filter, after);
        let holds = query.condition("input ~", pattern(text));
        let limit = query.condition("LIMIT", i64::from(page.limit));
        // The inputs stay where they are: what is kept of each is whether it fits.
        let sql = format!(
            "WITH looked AS MATERIALIZED (
                 SELECT id, created_at, {holds} AS fits, row_number() OVER (ORDER BY id DESC) AS at
                 FROM ({}) AS newest
             ), found AS MATERIALIZED (SELECT id, at FROM looked WHERE fits ORDER BY at {limit})
             SELECT id, created_at, at, ARRAY(SELECT id FROM found ORDER BY at) FROM looked
             WHERE (SELECT count(*) FROM found) < {} OR at <= (SELECT max(at) FROM found)
             ORDER BY at DESC LIMIT 1",
            query.sql, page.limit
        );
        let params: Vec<&(dyn ToSql + Sync)> = query.params.iter().map(|param| &**param as _).collect();
        let Some(row) = self.query_first(&sql, &params).await? else {
            return Ok(Searched { invocations: Vec::new(), looked_at: 0, end: None, more: false });
        };
        let mut cells = Cells::of(&row);
        let (last, at) = (cells.parse("id")?, Timestamp::from_micros(cells.get()?));
        let looked_at = cells.get::<i64>()?.cast_unsigned();
        let ids: Vec<String> = cells.get()?;
        let whole =
            format!("SELECT {} FROM invocations WHERE id = ANY($1) ORDER BY id DESC", row::listed_columns());
        let invocations = match ids.is_empty() {
            true => Vec::new(),
            false => row::all(&self.query(&whole, &[&ids]).await?, row::invocation)?,
        };
        let more = looked_at == u64::from(most) || ids.len() as u64 == u64::from(page.limit);
        Ok(Searched { invocations, looked_at, end: Some((last, at)), more })
    }
}

/// A pattern for a text in any case. What `lower` does to letters beyond ASCII depends on how a database was made; this
/// does not.
fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        let cases: Vec<char> = [one(c.to_lowercase()), one(c.to_uppercase())].into_iter().flatten().collect();
        match cases.as_slice() {
            [small, large] if small != large => pattern.extend(['[', *small, *large, ']']),
            // No text in a database holds it, and none can be asked for.
            _ if c == '\0' => pattern.push('\u{fffd}'),
            _ if c.is_ascii_punctuation() => pattern.extend(['\\', c]),
            _ => pattern.push(c),
        }
    }
    pattern
}

fn one(mut cases: impl Iterator<Item = char>) -> Option<char> {
    cases.next().filter(|_| cases.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_its_text_and_nothing_else() {
        assert_eq!(pattern("aÄ1"), "[aA][äÄ]1");
        assert_eq!(pattern("{\"*.\\]"), "\\{\\\"\\*\\.\\\\\\]");
        assert_eq!(pattern("ß漢 "), "ß漢 ");
    }
}

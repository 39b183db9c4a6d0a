//! Documents by their meaning: what the store keeps as JSON, as the type it spells.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgate_core::administration::Write;
use toolgate_core::document::{Document, DocumentKind, Expect};
use toolgate_core::id::PrincipalId;
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, JsonText, Timestamp};

use crate::{App, AppError};

/// The most documents of one kind in a tenant: all of them are held in memory and compiled together.
const MOST: usize = 2_000;
/// Assignments are smaller and many.
const MOST_ASSIGNMENTS: usize = 20_000;
/// Up to this many bytes the record shows what was written; past it, its hash. The document's history has all of it.
const SHOWN_BYTES: usize = 4_096;

/// A document as it stands.
#[derive(Debug, Clone)]
pub struct Stored<T> {
    /// What it is called.
    pub name: String,
    /// What it says.
    pub body: T,
    /// How often it was written.
    pub revision: u64,
    /// Who wrote it last.
    pub by: PrincipalId,
    /// When.
    pub at: Timestamp,
}

impl<T: DeserializeOwned> Stored<T> {
    pub(crate) fn of(document: Document) -> Result<Self, AppError> {
        let body = serde_json::from_str(document.body.as_str())
            .map_err(|cause| AppError::Store(StoreError::unavailable(cause)))?;
        Ok(Self { name: document.name, body, revision: document.revision, by: document.by, at: document.at })
    }
}

impl App {
    /// All documents of one kind, ordered by name.
    pub(crate) async fn stored<T: DeserializeOwned>(
        &self,
        actor: &Actor,
        kind: DocumentKind,
    ) -> Result<Vec<Stored<T>>, AppError> {
        let mut all = self.documents(actor, kind).await?;
        // Databases have orders of their own; pages are cut in this one.
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.into_iter().map(Stored::of).collect()
    }

    /// One document.
    pub(crate) async fn stored_one<T: DeserializeOwned>(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Stored<T>, AppError> {
        Stored::of(self.document(actor, kind, name, kind.as_str()).await?)
    }

    /// Writes a document and returns it as it stands then.
    pub(crate) async fn put_stored<T: Serialize + DeserializeOwned>(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
        body: &T,
        expect: Expect,
    ) -> Result<Stored<T>, AppError> {
        self.put_stored_along(actor, kind, name, body, expect, Vec::new()).await?;
        self.stored_one(actor, kind, name).await
    }

    /// Writes a document and, before it in the same change, something else.
    pub(crate) async fn put_stored_along<T: Serialize>(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
        body: &T,
        expect: Expect,
        mut writes: Vec<Write>,
    ) -> Result<(), AppError> {
        self.has_room(actor, kind, name).await?;
        let body = JsonText::from_serialize(body)
            .map_err(|cause| AppError::Store(StoreError::unavailable(cause)))?;
        let summary =
            json!({ "action": format!("{}.put", kind.as_str()), "name": name, "body": shown(&body) });
        writes.push(Write::PutDocument { kind, name: name.to_owned(), body, expect });
        self.change(actor, summary, writes).await.map_err(|cause| met(cause, kind, expect))
    }

    /// Takes a document away.
    pub(crate) async fn remove_stored(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
        expect: Expect,
    ) -> Result<(), AppError> {
        let summary = json!({ "action": format!("{}.removed", kind.as_str()), "name": name });
        let write = Write::RemoveDocument { kind, name: name.to_owned(), expect };
        self.change(actor, summary, vec![write]).await.map_err(|cause| met(cause, kind, expect))
    }

    pub(crate) async fn has_room(
        &self,
        actor: &Actor,
        kind: DocumentKind,
        name: &str,
    ) -> Result<(), AppError> {
        let most = if kind == DocumentKind::Assignment { MOST_ASSIGNMENTS } else { MOST };
        let there = self.documents(actor, kind).await?;
        if there.len() < most || there.iter().any(|document| document.name == name) {
            return Ok(());
        }
        Err(AppError::Conflict {
            message: format!(
                "the tenant has {most} documents of the kind `{}`, the most there may be",
                kind.as_str()
            ),
        })
    }
}

/// A part of a list ordered by name: what comes after `after`, and where the next part starts.
pub(crate) fn part_of<T>(
    all: Vec<T>,
    name: impl Fn(&T) -> &str,
    after: Option<&str>,
    limit: usize,
) -> (Vec<T>, Option<String>) {
    let mut part: Vec<T> =
        all.into_iter().filter(|item| after.is_none_or(|after| name(item) > after)).take(limit + 1).collect();
    let more = part.len() > limit;
    part.truncate(limit);
    let next = part.last().filter(|_| more).map(|item| name(item).to_owned());
    (part, next)
}

fn shown(body: &JsonText) -> Value {
    if body.as_str().len() <= SHOWN_BYTES {
        return body.to_value();
    }
    json!({ "sha256": to_hex(&digest(body.as_str().as_bytes())), "bytes": body.as_str().len() })
}

/// The store's "no" in words that fit what was asked of it.
fn met(cause: AppError, kind: DocumentKind, expect: Expect) -> AppError {
    let kind = kind.as_str();
    match (cause, expect) {
        (AppError::Conflict { .. }, Expect::Absent) => {
            AppError::Conflict { message: format!("there is a {kind} of this name already") }
        }
        (AppError::Conflict { .. }, Expect::Revision(seen)) => AppError::Conflict {
            message: format!(
                "the {kind} does not stand at revision {seen} any more; read it again, then decide"
            ),
        },
        (AppError::NotFound { .. }, _) => AppError::NotFound { what: kind },
        (other, _) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_leave_nothing_out() {
        let all = ["a", "b", "c", "d", "e"];
        let part = |after, limit| part_of(all.to_vec(), |item| item, after, limit);
        assert_eq!(part(None, 2), (vec!["a", "b"], Some("b".to_owned())));
        assert_eq!(part(Some("b"), 2), (vec!["c", "d"], Some("d".to_owned())));
        assert_eq!(part(Some("d"), 2), (vec!["e"], None));
        assert_eq!(part(Some("a~"), 9), (vec!["b", "c", "d", "e"], None));
    }
}

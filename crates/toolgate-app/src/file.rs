//! Files: listed, read and removed by whoever they belong to, and seen through the calls that name them.

use serde_json::{Value, json};
use toolgate_core::document::Area;
use toolgate_core::file::{File, owner_of};
use toolgate_core::id::{FileId, InvocationId, PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Invocation};

use crate::{App, AppError};

/// How many parts of a removed file go in one turn, so that calls do not wait long behind it.
const PARTS_A_TURN: u32 = 8;

impl App {
    /// A file the caller may read.
    ///
    /// # Errors
    /// "Not found" for what is not there, what is over, and what is someone else's.
    pub async fn read_file(&self, actor: &Actor, id: FileId) -> Result<File, AppError> {
        may_use_files(actor)?;
        let file = self.living_file(&actor.tenant, id).await?;
        let readable = file.as_ref().is_some_and(|file| file.is_of(actor)) || self.manages_files(actor);
        file.filter(|_| readable).ok_or_else(missing)
    }

    /// The caller's files, newest first; those of `owner`, or of all, for who manages files.
    ///
    /// # Errors
    /// When the caller may not see them.
    pub async fn list_files(
        &self,
        actor: &Actor,
        whose: FilesOf,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<(Vec<File>, Option<FileId>), AppError> {
        may_use_files(actor)?;
        let owner = match whose {
            FilesOf::Caller => Some(owner_of(actor).clone()),
            FilesOf::Principal(owner) if owner == *owner_of(actor) => Some(owner),
            FilesOf::Principal(owner) => {
                self.require(actor, Area::Files)?;
                Some(owner)
            }
            FilesOf::All => {
                self.require(actor, Area::Files)?;
                None
            }
        };
        let mut found = self.store().files(&actor.tenant, owner.as_ref(), after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|file| file.id);
        let now = self.now();
        found.retain(|file| file.expires_at > now);
        Ok((found, next))
    }

    /// One part of a file that was read a moment ago; none when it is gone by now.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn file_part(&self, file: &File, part: u32) -> Result<Option<Vec<u8>>, AppError> {
        Ok(self.store().file_part(&file.tenant, file.id, part).await?)
    }

    /// Takes a file away for good, though a call that waits may name it: that call will then fail.
    ///
    /// # Errors
    /// "Not found", as for reading it.
    pub async fn remove_file(&self, actor: &Actor, id: FileId) -> Result<(), AppError> {
        let file = self.read_file(actor, id).await?;
        if !file.is_of(actor) {
            // What is done to others' files is on the record; its name is theirs and stays out of it.
            let summary = json!({ "action": "file.removed", "id": id, "owner": file.owner });
            self.change(actor, summary, Vec::new()).await?;
        }
        self.store().remove_file(&actor.tenant, id).await.map_err(|cause| match cause {
            StoreError::NotFound => missing(),
            other => other.into(),
        })?;
        // The room should be there when the next file comes; what fails here is done by the sweep.
        if let Err(cause) = self.purge_files().await {
            tracing::warn!(error = %cause, "a removed file's parts are not gone yet");
        }
        Ok(())
    }

    /// The files that a call names, for whoever may see the call.
    ///
    /// # Errors
    /// "Not found" for a call the caller may not see.
    pub async fn invocation_files(&self, actor: &Actor, call: InvocationId) -> Result<Vec<File>, AppError> {
        let row = self.read_invocation(actor, call).await?;
        let ids = files_named(&row);
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.now();
        let mut found = self.store().files_by_id(&actor.tenant, &ids).await?;
        found.retain(|file| file.expires_at > now && is_of_caller(file, &row));
        Ok(found)
    }

    /// One file that a call names, for whoever may see the call.
    ///
    /// # Errors
    /// "Not found" for a call the caller may not see, and a file that it does not name.
    pub async fn invocation_file(
        &self,
        actor: &Actor,
        call: InvocationId,
        id: FileId,
    ) -> Result<File, AppError> {
        let row = self.read_invocation(actor, call).await?;
        if !files_named(&row).contains(&id) {
            return Err(missing());
        }
        let file = self.living_file(&actor.tenant, id).await?;
        file.filter(|file| is_of_caller(file, &row)).ok_or_else(missing)
    }

    async fn living_file(&self, tenant: &TenantId, id: FileId) -> Result<Option<File>, AppError> {
        let now = self.now();
        let found = self.store().files_by_id(tenant, &[id]).await?;
        Ok(found.into_iter().find(|file| file.expires_at > now))
    }

    fn manages_files(&self, actor: &Actor) -> bool {
        self.require(actor, Area::Files).is_ok()
    }

    /// Takes away what is left of removed files.
    pub(crate) async fn purge_files(&self) -> Result<(), StoreError> {
        while self.store().purge_files(PARTS_A_TURN).await? {}
        Ok(())
    }
}

/// Whose files to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesOf {
    /// The caller's own.
    Caller,
    /// This principal's.
    Principal(PrincipalId),
    /// Everybody's.
    All,
}

/// A key that is only for deciding or managing other things has no business with files.
pub(crate) fn may_use_files(actor: &Actor) -> Result<(), AppError> {
    let scopes = &actor.scopes;
    if scopes.narrow_tools() || scopes.may_manage(Area::Files) {
        return Ok(());
    }
    Err(AppError::Forbidden {
        message: "this key's scopes do not let it use files".to_owned(),
        rule: Some("key scopes".to_owned()),
        hint: Some("use a key that may call tools, or one with the scope `manage:files`".to_owned()),
    })
}

// Invariant: naming someone else's file in a call of one's own opens nothing. What a call shows are files of whoever
// made it, or of the person it was made for.
fn is_of_caller(file: &File, row: &Invocation) -> bool {
    let opened = &row.opened;
    file.tenant == opened.tenant
        && (file.owner == opened.actor || Some(&file.owner) == opened.subject.as_ref())
}

/// The ids of files anywhere in what went into a call or came out of it.
fn files_named(row: &Invocation) -> Vec<FileId> {
    let edited = row.review.as_ref().and_then(|review| review.input.as_ref());
    let mut ids = Vec::new();
    for text in [Some(&row.opened.input), edited, row.output.as_ref()].into_iter().flatten() {
        // Most calls name none, and are not parsed.
        if !text.as_str().contains(FileId::PREFIX) {
            continue;
        }
        let value = text.to_value();
        let mut rest = vec![&value];
        while let Some(value) = rest.pop() {
            match value {
                Value::String(text) => ids.extend(text.parse::<FileId>()),
                Value::Array(items) => rest.extend(items),
                Value::Object(fields) => rest.extend(fields.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids.truncate(100);
    ids
}

fn missing() -> AppError {
    AppError::NotFound { what: "file" }
}

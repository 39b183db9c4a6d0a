//! Where files are kept, in parts, so that none is ever held whole in memory.
//!
//! A file arrives part by part and can be read only once it is finished; what was begun and never finished is found by
//! the time it was given. A file that is removed can't be read from that moment on, and its parts go a few at a time.

use async_trait::async_trait;

use crate::file::{File, Picture};
use crate::id::{FileId, PrincipalId, TenantId};
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// A file that begins to arrive.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Its id.
    pub id: FileId,
    /// In which tenant.
    pub tenant: TenantId,
    /// Whose it is.
    pub owner: PrincipalId,
    /// Who sends it.
    pub sent_by: PrincipalId,
    /// What it is called.
    pub name: String,
    /// What its sender says it is.
    pub media_type: String,
    /// When.
    pub created_at: Timestamp,
    /// When it counts as given up, unless it is finished by then.
    pub given_up_at: Timestamp,
}

/// What is known of a file once it is whole.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The kind of picture it is, if it is one.
    pub picture: Option<Picture>,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// When it goes.
    pub expires_at: Timestamp,
}

/// Whether there was room in a tenant's total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There was, and it is taken.
    Taken,
    /// There was not; nothing was written.
    Full,
}

/// A file whose time is over, or nearly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndingFile {
    /// Its id.
    pub id: FileId,
    /// When its time is over.
    pub expires_at: Timestamp,
    /// Whether the input of a call that is not settled names it.
    pub named: bool,
}

/// Files and their parts.
#[async_trait]
pub trait FileStore: Send + Sync {
    /// Begins a file, if its tenant's total with it stays within `most` bytes: each file counts
    /// [`COUNTED_BYTES`](crate::file::COUNTED_BYTES) beside its own.
    async fn begin_file(&self, file: NewFile, most: u64) -> Result<Room, StoreError>;

    /// Adds the next part of a file that is not finished, if its tenant's total with it stays within `most`. Parts count
    /// from 0. Racing parts of one tenant never take more room than there is. [`StoreError::NotFound`] when the file was
    /// given up, or is not this tenant's.
    async fn append_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
        bytes: Vec<u8>,
        most: u64,
    ) -> Result<Room, StoreError>;

    /// Finishes a file: from now on it can be read. [`StoreError::NotFound`] when it was given up.
    async fn finish_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        finished: Finished,
    ) -> Result<File, StoreError>;

    /// Those of these files that are finished and not removed, in order of id.
    async fn files_by_id(&self, tenant: &TenantId, ids: &[FileId]) -> Result<Vec<File>, StoreError>;

    /// Finished files of this owner (or all) after `after`, newest first.
    async fn files(
        &self,
        tenant: &TenantId,
        owner: Option<&PrincipalId>,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<File>, StoreError>;

    /// One part of a finished file; none past its end, and none of one that was removed in the meantime.
    async fn file_part(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// Removes a file, finished or not: it can't be read any more. Its room comes back when its parts are gone.
    async fn remove_file(&self, tenant: &TenantId, id: FileId) -> Result<(), StoreError>;

    /// Takes away up to `limit` parts of removed files, and those files that have none left, which gives their room back.
    /// Answers whether there was anything to take away.
    async fn purge_files(&self, limit: u32) -> Result<bool, StoreError>;

    /// Files of all tenants whose time is over before `before`, unfinished ones too, in order of that time, after the one
    /// given.
    async fn ending_files(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, FileId)>,
        limit: u32,
    ) -> Result<Vec<EndingFile>, StoreError>;

    /// Keeps these files until this moment at least.
    async fn keep_files(&self, ids: &[FileId], until: Timestamp) -> Result<(), StoreError>;

    /// Removes those of these files whose time is over before `before`, as [`remove_file`](Self::remove_file) does.
    async fn end_files(&self, ids: &[FileId], before: Timestamp) -> Result<(), StoreError>;
}

//! Files are never lost on the way.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::file::File;
use toolgate_core::id::{FileId, PrincipalId, TenantId};
use toolgate_core::port::file::{EndingFile, FileStore, Finished, NewFile, Room};

use super::{Answer, Losing};

#[async_trait]
impl FileStore for Losing {
    async fn begin_file(&self, file: NewFile, most: u64) -> Answer<Room> {
        self.store.begin_file(file, most).await
    }
    async fn append_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
        bytes: Vec<u8>,
        most: u64,
    ) -> Answer<Room> {
        self.store.append_file(tenant, id, part, bytes, most).await
    }
    async fn finish_file(&self, tenant: &TenantId, id: FileId, finished: Finished) -> Answer<File> {
        self.store.finish_file(tenant, id, finished).await
    }
    async fn files_by_id(&self, tenant: &TenantId, ids: &[FileId]) -> Answer<Vec<File>> {
        self.store.files_by_id(tenant, ids).await
    }
    async fn files(
        &self,
        tenant: &TenantId,
        owner: Option<&PrincipalId>,
        after: Option<FileId>,
        limit: u32,
    ) -> Answer<Vec<File>> {
        self.store.files(tenant, owner, after, limit).await
    }
    async fn file_part(&self, tenant: &TenantId, id: FileId, part: u32) -> Answer<Option<Vec<u8>>> {
        self.store.file_part(tenant, id, part).await
    }
    async fn remove_file(&self, tenant: &TenantId, id: FileId) -> Answer<()> {
        self.store.remove_file(tenant, id).await
    }
    async fn purge_files(&self, limit: u32) -> Answer<bool> {
        self.store.purge_files(limit).await
    }
    async fn ending_files(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, FileId)>,
        limit: u32,
    ) -> Answer<Vec<EndingFile>> {
        self.store.ending_files(before, after, limit).await
    }
    async fn keep_files(&self, ids: &[FileId], until: Timestamp) -> Answer<()> {
        self.store.keep_files(ids, until).await
    }
    async fn end_files(&self, ids: &[FileId], before: Timestamp) -> Answer<()> {
        self.store.end_files(ids, before).await
    }
}

//! No files.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::file::File;
use toolgate_core::id::{FileId, PrincipalId, TenantId};
use toolgate_core::port::file::{EndingFile, FileStore, Finished, NewFile, Room};
use toolgate_core::port::store::StoreError;

use crate::Forgetful;

type Answer<T> = Result<T, StoreError>;

#[async_trait]
impl FileStore for Forgetful {
    async fn begin_file(&self, _: NewFile, _: u64) -> Answer<Room> {
        Ok(Room::Full)
    }
    async fn append_file(&self, _: &TenantId, _: FileId, _: u32, _: Vec<u8>, _: u64) -> Answer<Room> {
        Err(StoreError::NotFound)
    }
    async fn finish_file(&self, _: &TenantId, _: FileId, _: Finished) -> Answer<File> {
        Err(StoreError::NotFound)
    }
    async fn files_by_id(&self, _: &TenantId, _: &[FileId]) -> Answer<Vec<File>> {
        Ok(Vec::new())
    }
    async fn files(
        &self,
        _: &TenantId,
        _: Option<&PrincipalId>,
        _: Option<FileId>,
        _: u32,
    ) -> Answer<Vec<File>> {
        Ok(Vec::new())
    }
    async fn file_part(&self, _: &TenantId, _: FileId, _: u32) -> Answer<Option<Vec<u8>>> {
        Ok(None)
    }
    async fn remove_file(&self, _: &TenantId, _: FileId) -> Answer<()> {
        Err(StoreError::NotFound)
    }
    async fn purge_files(&self, _: u32) -> Answer<bool> {
        Ok(false)
    }
    async fn ending_files(
        &self,
        _: Timestamp,
        _: Option<(Timestamp, FileId)>,
        _: u32,
    ) -> Answer<Vec<EndingFile>> {
        Ok(Vec::new())
    }
    async fn keep_files(&self, _: &[FileId], _: Timestamp) -> Answer<()> {
        Ok(())
    }
    async fn end_files(&self, _: &[FileId], _: Timestamp) -> Answer<()> {
        Ok(())
    }
}

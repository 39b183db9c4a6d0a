//! The caller's own files as entities, newest first.

use toolgate_core::Actor;
use toolgate_core::file::File;
use toolgate_core::id::FileId;
use toolgate_core::search::Typed;

use crate::entity::{Entity, bad_start};
use crate::file::FilesOf;
use crate::{App, AppError};

/// How many files one search looks at.
const MOST: usize = 2_000;
const PART: u32 = 500;

impl App {
    /// Those with these ids.
    pub(crate) async fn named_files(&self, actor: &Actor, ids: &[String]) -> Result<Vec<Entity>, AppError> {
        let mut found = Vec::new();
        for id in ids.iter().filter_map(|id| id.parse::<FileId>().ok()) {
            match self.read_file(actor, id).await {
                Ok(file) if file.is_of(actor) => found.push(entity(&file)),
                Ok(_) | Err(AppError::NotFound { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(found)
    }

    /// Those whose name fits what was typed, with how well.
    pub(crate) async fn fitting_files(
        &self,
        actor: &Actor,
        typed: &Typed,
    ) -> Result<Vec<(u32, Entity)>, AppError> {
        let (mut after, mut looked, mut found) = (None, 0, Vec::new());
        while looked < MOST {
            let (part, next) = self.list_files(actor, FilesOf::Caller, after, PART).await?;
            looked += part.len();
            found.extend(part.iter().map(|file| (typed.fit(&file.name, &file.id.to_string()), entity(file))));
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(found)
    }

    /// Those after this one, newest first.
    pub(crate) async fn files_after(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Entity>, Option<String>), AppError> {
        let after = after.map(|id| id.parse().map_err(|_| bad_start())).transpose()?;
        let limit = u32::try_from(limit).unwrap_or(PART);
        let (files, next) = self.list_files(actor, FilesOf::Caller, after, limit).await?;
        Ok((files.iter().map(entity).collect(), next.map(|id| id.to_string())))
    }
}

fn entity(file: &File) -> Entity {
    Entity {
        id: file.id.to_string(),
        title: file.name.clone(),
        detail: Some(format!("{}, {} bytes", file.media_type, file.size)),
    }
}

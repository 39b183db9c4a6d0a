//! Files on their way in: sent part by part, in bounds of size, room and number.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};
use toolgate_core::accept::Accept;
use toolgate_core::file::{File, PART_BYTES, Picture, clean_media_type, clean_name, owner_of};
use toolgate_core::id::{FileId, PrincipalId, TenantId};
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::file::{Finished, NewFile, Room};
use toolgate_core::{Actor, CallError, ErrorCode};

use crate::attempts::Attempts;
use crate::file::may_use_files;
use crate::{App, AppError};

/// How long a file may take to arrive before it counts as given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(15 * 60);
/// Files on their way at once: from one principal, of one tenant, and in all. Each holds a part in memory.
const MOST_FROM_ONE: usize = 8;
const MOST_OF_TENANT: usize = 48;
const MOST_AT_ONCE: usize = 128;
const TOO_MANY: &str = "you sent as many files as you may in a while";

/// What the operator decides about files.
#[derive(Debug, Clone, Copy)]
pub struct FileSettings {
    /// The largest file, in bytes.
    pub max_bytes: u64,
    /// What all files of a tenant may take, in bytes.
    pub tenant_bytes: u64,
    /// How long a file is kept.
    pub keep: Duration,
    /// How many files a principal may send a minute.
    pub per_minute: NonZeroU32,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            max_bytes: 25 << 20,
            tenant_bytes: 2 << 30,
            keep: Duration::from_secs(30 * 24 * 60 * 60),
            per_minute: NonZeroU32::MIN.saturating_add(119),
        }
    }
}

/// Files on their way, and how many may be.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) settings: FileSettings,
    rate: Attempts,
    arriving: Arc<Arriving>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new(FileSettings::default())
    }
}

impl Files {
    pub(crate) fn new(settings: FileSettings) -> Self {
        let rate =
            Attempts::new(settings.per_minute.get(), Duration::from_secs(60) / settings.per_minute.get());
        Self { settings, rate, arriving: Arc::default() }
    }
}

#[derive(Debug, Default)]
struct Arriving(Mutex<HashMap<(TenantId, PrincipalId), usize>>);

/// One file's place among those on their way. Dropping it gives the place back.
#[derive(Debug)]
struct Place {
    arriving: Arc<Arriving>,
    who: (TenantId, PrincipalId),
}

impl Arriving {
    fn take(self: &Arc<Self>, tenant: &TenantId, principal: &PrincipalId) -> Result<Place, AppError> {
        let who = (tenant.clone(), principal.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get(&who).copied().unwrap_or_default();
        let of_tenant: usize = all.iter().filter(|((tenant, _), _)| *tenant == who.0).map(|(_, n)| n).sum();
        let used_up = own >= MOST_FROM_ONE || of_tenant >= MOST_OF_TENANT;
        if used_up || all.values().sum::<usize>() >= MOST_AT_ONCE {
            return Err(too_many("as many files are on their way as may be at once", Duration::ZERO));
        }
        all.insert(who.clone(), own + 1);
        drop(all);
        Ok(Place { arriving: Arc::clone(self), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.arriving.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.who);
            }
        }
    }
}

/// A file on its way. What is dropped before it is finished can't be read, and is swept.
#[derive(Debug)]
pub struct Upload {
    app: App,
    tenant: TenantId,
    id: FileId,
    part: Vec<u8>,
    parts: u32,
    size: u64,
    hasher: Sha256,
    picture: Option<Picture>,
    _place: Place,
}

impl Upload {
    /// Takes in what came next.
    ///
    /// # Errors
    /// When it is too large, or the tenant's files take up all they may.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), AppError> {
        self.size += bytes.len() as u64;
        let most = self.app.files.settings.max_bytes;
        if self.size > most {
            return Err(AppError::TooLarge { most });
        }
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PART_BYTES - self.part.len()));
            self.part.extend_from_slice(now);
            bytes = rest;
            if self.part.len() == PART_BYTES {
                self.flush().await?;
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), AppError> {
        let part = std::mem::take(&mut self.part);
        if self.parts == 0 {
            self.picture = Picture::of(&part);
        }
        self.hasher.update(&part);
        let most = self.app.files.settings.tenant_bytes;
        let room = self.app.store().append_file(&self.tenant, self.id, self.parts, part, most).await?;
        self.parts += 1;
        if room == Room::Full { Err(full()) } else { Ok(()) }
    }

    /// Makes it a file that can be read.
    ///
    /// # Errors
    /// As [`Upload::write`].
    pub async fn finish(&mut self) -> Result<File, AppError> {
        if !self.part.is_empty() {
            self.flush().await?;
        }
        let finished = Finished {
            picture: self.picture,
            sha256: to_hex(&self.hasher.finalize_reset()),
            expires_at: self.app.now().plus(self.app.files.settings.keep),
        };
        Ok(self.app.store().finish_file(&self.tenant, self.id, finished).await?)
    }

    /// Takes away what came of it so far. Without this, it goes when its time is over.
    pub async fn give_up(self) {
        let removed = self.app.store().remove_file(&self.tenant, self.id).await;
        if let Err(cause) =
            removed.map_err(AppError::from).and(self.app.purge_files().await.map_err(AppError::from))
        {
            tracing::warn!(error = %cause, "a file that was given up could not be taken away; it will be swept");
        }
    }
}

impl App {
    /// The same app with these rules for files.
    #[must_use]
    pub fn with_files(mut self, settings: FileSettings) -> Self {
        self.files = Arc::new(Files::new(settings));
        self
    }

    /// The rules for files.
    #[must_use]
    pub fn file_settings(&self) -> FileSettings {
        self.files.settings
    }

    /// Begins to take in a file of so many bytes, if its sender says how many, and of these kinds, if they say which.
    ///
    /// # Errors
    /// When it is too large, of another kind or has no name, there is no room, or the caller sends too many.
    pub async fn begin_upload(
        &self,
        actor: &Actor,
        name: &str,
        media_type: &str,
        length: Option<u64>,
        accept: Option<Accept>,
    ) -> Result<Upload, AppError> {
        may_use_files(actor)?;
        let settings = self.files.settings;
        if length.is_some_and(|length| length > settings.max_bytes) {
            return Err(AppError::TooLarge { most: settings.max_bytes });
        }
        let name = clean_name(name).ok_or_else(|| {
            AppError::invalid("the file has no name that could be shown")
                .with_hint("give one such as `q3.csv`")
        })?;
        let media_type = clean_media_type(media_type);
        if let Some(accept) = accept.filter(|accept| !accept.takes(&name, &media_type, None)) {
            return Err(AppError::WrongKind { accept });
        }
        self.runner.parts().limiter.knock(actor).map_err(AppError::Call)?;
        self.take_rate(actor).await?;
        let place = self.files.arriving.take(&actor.tenant, &actor.principal)?;
        let now = self.now();
        let file = NewFile {
            id: FileId::generate(),
            tenant: actor.tenant.clone(),
            owner: owner_of(actor).clone(),
            sent_by: actor.principal.clone(),
            name,
            media_type,
            created_at: now,
            given_up_at: now.plus(GIVEN_UP_AFTER),
        };
        let id = file.id;
        if self.store().begin_file(file, settings.tenant_bytes).await? == Room::Full {
            return Err(full());
        }
        Ok(Upload {
            app: self.clone(),
            tenant: actor.tenant.clone(),
            id,
            part: Vec::new(),
            parts: 0,
            size: 0,
            hasher: Sha256::new(),
            picture: None,
            _place: place,
        })
    }

    /// Counts a file against what its sender may send: for all nodes, where they share a store.
    async fn take_rate(&self, actor: &Actor) -> Result<(), AppError> {
        let who = format!("files {} {}", actor.tenant, actor.principal);
        match self.store().shared_meters() {
            None => match self.files.rate.take(&digest(who.as_bytes())) {
                Err(AppError::TooMany { retry_after_seconds }) => {
                    Err(too_many(TOO_MANY, Duration::from_secs(retry_after_seconds)))
                }
                taken => taken,
            },
            Some(shared) => shared
                .take(&who, self.files.settings.per_minute)
                .await?
                .map_err(|wait| too_many(TOO_MANY, wait)),
        }
    }
}

fn too_many(message: &str, wait: Duration) -> AppError {
    let seconds = wait.as_secs().max(1);
    let error = CallError::new(ErrorCode::RateLimited, message).hint("wait, then send it again");
    AppError::Call(error.details(json!({ "retry_after_seconds": seconds })))
}

fn full() -> AppError {
    AppError::StorageFull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_all_places() {
        let arriving = Arc::new(Arriving::default());
        let take = |tenant: &str, n: usize| {
            arriving.take(&tenant.parse().unwrap(), &format!("user:u{n}").parse().unwrap())
        };
        let one: Vec<Place> = (0..MOST_FROM_ONE).map(|_| take("a", 0).unwrap()).collect();
        assert!(take("a", 0).is_err(), "one principal");
        let all: Vec<Place> = (one.len()..MOST_OF_TENANT).map(|n| take("a", n).unwrap()).collect();
        assert!(take("a", 1000).is_err(), "one tenant");
        let other = take("b", 0).unwrap();
        drop(all);
        take("a", 1000).unwrap();
        drop((one, other));
        assert!(arriving.0.lock().unwrap().is_empty(), "places are given back");
    }
}

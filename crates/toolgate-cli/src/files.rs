//! What the operator says about files.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use toolgate_app::FileSettings;

/// `[files]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FileConfig {
    /// The largest file, in bytes.
    pub(crate) max_bytes: Option<u64>,
    /// What all files of one tenant may take, in bytes.
    pub(crate) tenant_bytes: Option<u64>,
    /// How many days a file is kept.
    pub(crate) keep_days: Option<NonZeroU32>,
    /// How many files a principal may send a minute.
    pub(crate) uploads_per_minute: Option<NonZeroU32>,
}

/// The settings, with what is usual where nothing is said.
pub(crate) fn settings(config: &FileConfig) -> FileSettings {
    let usual = FileSettings::default();
    let days = |days: NonZeroU32| Duration::from_secs(u64::from(days.get()) * 24 * 60 * 60);
    FileSettings {
        max_bytes: config.max_bytes.unwrap_or(usual.max_bytes),
        tenant_bytes: config.tenant_bytes.unwrap_or(usual.tenant_bytes),
        keep: config.keep_days.map_or(usual.keep, days),
        per_minute: config.uploads_per_minute.unwrap_or(usual.per_minute),
    }
}

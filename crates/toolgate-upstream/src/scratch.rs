//! The folders that programs work in: each its own, within one of the gate's. What an earlier gate left behind is swept
//! away at the start; another that still runs is told by its lock.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

const PREFIX: &str = "toolgate-upstreams-";
const LOCK: &str = ".lock";

/// The gate's folder. It goes with the gate, or is swept by the next.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Held for as long as this is: by this the folder is known to be in use.
    _lock: File,
}

impl Scratch {
    /// Sweeps away what was left in `parent`, and makes a folder there.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn open(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        // Programs that run as another user come through to their own, and see nothing on the way.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
        Ok(Self { folder, _lock: lock })
    }

    /// A folder for one program.
    pub(crate) fn folder(&self) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix("server-").tempdir_in(self.folder.path())
    }
}

/// Removes the folders of gates that are gone. Whatever can't be told or removed is left.
fn sweep(parent: &Path) {
    let Ok(found) = fs::read_dir(parent) else { return };
    for folder in found.flatten().map(|entry| entry.path()) {
        let named =
            folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
        if named && is_ours(&folder) && is_left(&folder) {
            match fs::remove_dir_all(&folder) {
                Ok(()) => tracing::info!(folder = %folder.display(), "removed what an earlier gate left"),
                Err(cause) => {
                    tracing::warn!(folder = %folder.display(), error = %cause, "could not be removed")
                }
            }
        }
    }
}

/// Whether it is a folder, not a link to one, that this user made: others may write where it lies.
fn is_ours(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

/// Whether nobody holds its lock. One without a lock may be about to get it.
fn is_left(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return false };
    !matches!(lock.try_lock(), Err(TryLockError::WouldBlock) | Err(TryLockError::Error(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(parent: &Path) -> usize {
        fs::read_dir(parent).unwrap().count()
    }

    #[test]
    fn what_is_left_is_swept_and_what_is_used_stays() {
        let parent = tempfile::tempdir().unwrap();
        let running = Scratch::open(parent.path()).unwrap();
        let its = running.folder().unwrap();
        let crashed = Scratch::open(parent.path()).unwrap();
        let left = crashed.folder().unwrap();
        fs::write(left.path().join("a"), "left behind").unwrap();
        // As a kill would leave it: the folder stays, the lock goes.
        let left = left.keep();
        let Scratch { folder, _lock: lock } = crashed;
        let _ = folder.keep();
        drop(lock);
        let next = Scratch::open(parent.path()).unwrap();
        assert!(its.path().exists() && !left.exists());
        assert_eq!(folders(parent.path()), 2);
        drop((next, its, running));
        assert_eq!(folders(parent.path()), 0);
    }

    #[test]
    fn links_and_others_folders_are_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("toolgate-upstreams-link")).unwrap();
        fs::create_dir(parent.path().join("toolgate-upstreams-new")).unwrap();
        fs::create_dir(parent.path().join("something else")).unwrap();
        let _scratch = Scratch::open(parent.path()).unwrap();
        assert_eq!(folders(parent.path()), 4);
        assert!(elsewhere.path().join(LOCK).exists());
    }
}

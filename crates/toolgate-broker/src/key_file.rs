//! The file that holds the master key where nobody gave one: made at the first start, readable by its owner alone.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use toolgate_core::json::to_hex;
use zeroize::Zeroizing;

use crate::keyring::KeyringError;

/// What the file says; a file that is not there is made with a new key.
pub(crate) fn read_or_make(path: &Path) -> Result<Zeroizing<String>, KeyringError> {
    let fault = |cause| KeyringError::File { path: path.display().to_string(), cause };
    match fs::read_to_string(path) {
        Ok(text) => {
            warn_if_open_to_others(path);
            Ok(Zeroizing::new(text))
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            make(path)?;
            fs::read_to_string(path).map(Zeroizing::new).map_err(fault)
        }
        Err(cause) => Err(fault(cause)),
    }
}

/// Makes the file whole or not at all: it is written under another name and linked, so that of two who start at once
/// one makes it and both read the same.
fn make(path: &Path) -> Result<(), KeyringError> {
    let fault = |cause| KeyringError::File { path: path.display().to_string(), cause };
    let mut random = Zeroizing::new([0u8; 40]);
    getrandom::fill(&mut *random).map_err(|_| KeyringError::NoRandomness)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    let draft = path.with_extension(format!("key.{}", to_hex(&random[32..])));
    let text = Zeroizing::new(format!("{}\n", to_hex(&random[..32])));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(cause),
            _ => Ok(()),
        }
    };
    let written = write();
    let _ = fs::remove_file(&draft);
    written.map_err(fault)?;
    tracing::info!(path = %path.display(), "made a master key; keep a copy: without it no stored secret can be read");
    Ok(())
}

fn warn_if_open_to_others(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
        tracing::warn!(path = %path.display(), "the master key can be read by others; `chmod 600` it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::Keyring;

    #[test]
    fn the_file_is_made_once_and_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper").join("master.key");
        let first = Keyring::from_file(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Keyring::from_file(&path).unwrap().newest(), first.newest());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn those_who_start_at_once_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let ids: Vec<String> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Keyring::from_file(&path).unwrap().newest().to_owned()))
                .collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }

    #[test]
    fn lines_are_keys_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let old = Keyring::from_file(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{}\n{text}", "01".repeat(31) + "02")).unwrap();
        let both = Keyring::from_file(&path).unwrap();
        assert!(both.has(old.newest()) && both.newest() != old.newest());
        fs::write(&path, "").unwrap();
        assert!(Keyring::from_file(&path).is_err());
    }
}

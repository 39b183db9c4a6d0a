//! Text that a person changes in their own editor.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Stop, show};

/// Opens a text in `$VISUAL` or `$EDITOR`, and gives what became of it.
pub(super) fn edit(text: &str, name: &str) -> Result<String, Stop> {
    let file = Draft::new(text, name).map_err(|cause| {
        Stop::failed(format!("no file for the editor could be made: {cause}"))
            .hint("give the text with --input instead")
    })?;
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let editor =
        named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
    // By the shell, as `EDITOR` may have arguments: "code --wait".
    let ran = Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(&file.0).status();
    if !ran.is_ok_and(|status| status.success()) {
        return Err(Stop::failed(format!("the editor `{}` did not end well", show::plain(&editor)))
            .hint("name another one in EDITOR, or use --input"));
    }
    fs::read_to_string(&file.0).map_err(|cause| Stop::failed(format!("the text can't be read back: {cause}")))
}

/// A file that only its owner reads, gone when it is no longer needed.
struct Draft(PathBuf);

impl Draft {
    fn new(text: &str, name: &str) -> std::io::Result<Self> {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let path = std::env::temp_dir().join(format!("toolgate-{}-{name}.json", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let draft = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(AsRef::<Path>::as_ref(&self.0));
    }
}

//! The web UI's files, built into the binary. Knows nothing of HTTP.

use std::borrow::Cow;

/// Whether the web UI was built before this crate was; if not, there is one page that says how.
pub const BUILT: bool = cfg!(ui_built);

#[derive(Debug, rust_embed::Embed)]
#[folder = "$OUT_DIR/ui"]
struct Files;

/// A file and what kind it is.
#[derive(Debug, Clone)]
pub struct File {
    /// Its content.
    pub bytes: Cow<'static, [u8]>,
    /// Its media type.
    pub kind: &'static str,
}

/// The file at a path below the UI's folder, such as `assets/main.js`.
#[must_use]
pub fn file(path: &str) -> Option<File> {
    let found = Files::get(path)?;
    Some(File { bytes: found.data, kind: kind_of(path) })
}

/// The path of the first file below `assets/` whose name starts so: a build gives names a hash.
#[must_use]
pub fn asset(start: &str) -> Option<String> {
    let wanted = format!("assets/{start}");
    Files::iter().find(|path| path.starts_with(&wanted)).map(Cow::into_owned)
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_first_page() {
        let page = file("index.html").unwrap();
        assert_eq!(page.kind, "text/html; charset=utf-8");
        assert_eq!(String::from_utf8_lossy(&page.bytes).contains("/assets/"), BUILT);
    }

    #[test]
    fn nothing_outside_the_folder_is_a_file() {
        for path in ["", "/", "assets", "../Cargo.toml", "assets/../index.html", "/etc/passwd", "nothing.js"]
        {
            assert!(file(path).is_none(), "{path}");
        }
    }
}

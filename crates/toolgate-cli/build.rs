//! Embeds the error pages, so that `toolgate explain` needs no files.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = Path::new(&manifest).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md")
                && let Some(code) = path.file_stem().and_then(|stem| stem.to_str())
            {
                println!("cargo::rerun-if-changed={}", path.display());
                pages.push((code.to_owned(), fs::read_to_string(&path)?));
            }
        }
    }
    pages.sort();
    let mut source = String::from("pub(super) static PAGES: &[(&str, &str)] = &[\n");
    for (code, text) in pages.iter().filter(|(code, _)| code != "README") {
        writeln!(source, "    ({code:?}, {text:?}),").map_err(io::Error::other)?;
    }
    source.push_str("];\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("error_pages.rs"), source)
}

//! Lists `src/tools/*.rs`, so that adding a tool is adding one file.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/tools");
    println!("cargo::rerun-if-env-changed=CARGO_MANIFEST_DIR");
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();

    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("src/tools"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    // The folder's own order differs between machines; the catalog's may not.
    files.sort();

    let (mut modules, mut calls) = (String::new(), String::new());
    for file in &files {
        let name = file.file_stem().unwrap_or_default().display().to_string();
        let path = file.display().to_string();
        // The generated file lies elsewhere, so a relative path would not lead back here.
        writeln!(modules, "#[path = {path:?}]\nmod {name};").map_err(io::Error::other)?;
        writeln!(calls, "        {name}::tool(),").map_err(io::Error::other)?;
    }
    let list = format!(
        "{modules}\n/// Every built-in tool, in the order of its file names.\n#[must_use]\n\
         pub fn all() -> Vec<toolgate_native::NativeTool> {{\n    vec![\n{calls}    ]\n}}\n"
    );
    fs::write(out.join("tools.rs"), list)
}

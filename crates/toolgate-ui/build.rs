//! Puts the built web UI, or a page that says how to build it, where it is embedded from. Never runs npm and never uses
//! the network: `cargo build` works without Node.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("ui");
    let built = here.join("../../web/dist");
    println!("cargo::rerun-if-changed=placeholder");
    println!("cargo::rerun-if-changed=../../web/dist/index.html");
    println!("cargo::rerun-if-env-changed=REQUIRE_UI");
    println!("cargo::rustc-check-cfg=cfg(ui_built)");
    let is_built = built.join("index.html").is_file();
    if !is_built && std::env::var("REQUIRE_UI").is_ok_and(|value| value == "1") {
        return Err("REQUIRE_UI=1, but the web UI is not built: run `npm ci && npm run build` in web/".into());
    }
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    if is_built {
        println!("cargo::rustc-cfg=ui_built");
        return copy(&built, &out);
    }
    copy(&here.join("placeholder"), &out)
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

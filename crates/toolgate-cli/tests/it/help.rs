//! What people read before they have a server: help, completions, pages.

use std::path::Path;

use crate::gate::{Ran, finish, toolgate};
use crate::shown;

fn run(args: &[&str]) -> Ran {
    let mut command = toolgate();
    command.args(args);
    finish(command, "")
}

#[test]
fn every_command_has_help_with_examples() {
    for words in [
        &[][..],
        &["tool"],
        &["tool", "list"],
        &["tool", "show"],
        &["tool", "invoke"],
        &["invocation"],
        &["invocation", "list"],
        &["invocation", "show"],
        &["invocation", "wait"],
        &["invocation", "cancel"],
        &["invocation", "approve"],
        &["invocation", "reject"],
        &["invocation", "settle"],
        &["invocation", "links"],
        &["invocation", "share"],
        &["invocation", "shares"],
        &["invocation", "unshare"],
        &["session"],
        &["session", "new"],
        &["session", "tail"],
        &["audit"],
        &["audit", "list"],
        &["audit", "verify"],
        &["audit", "export"],
        &["file"],
        &["file", "put"],
        &["file", "list"],
        &["file", "show"],
        &["file", "get"],
        &["file", "remove"],
        &["doctor"],
        &["explain"],
        &["openapi"],
        &["completions"],
    ] {
        let args = [words, &["--help"]].concat();
        let ran = run(&args);
        let name = ["help"].iter().chain(words).copied().collect::<Vec<_>>().join("_");
        shown::check(&name, &args.join(" "), &ran);
        let is_leaf = words.len() == 2 || matches!(words, ["doctor" | "explain" | "openapi" | "completions"]);
        assert!(!is_leaf || ran.stdout.contains("Examples:"), "{words:?} has no examples");
    }
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(ran.stdout.contains("invocation"), "{shell}");
    }
}

#[test]
fn the_openapi_document_needs_no_server() {
    let ran = run(&["openapi"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(document["paths"]["/api/v1/tools/{id}/invoke"]["post"].is_object());
}

#[test]
fn every_error_page_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|extension| extension == "md") && code != "README" {
            let ran = run(&["explain", &code]);
            assert_eq!(
                (ran.code, ran.stdout.trim_end()),
                (0, std::fs::read_to_string(&path).unwrap().trim_end())
            );
        }
    }
}

#[test]
fn an_unknown_code_lists_the_known_ones() {
    let ran = run(&["explain", "no_such_code"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: no page explains `no_such_code`\nhint: the codes: "),
        "{}",
        ran.stderr
    );
}

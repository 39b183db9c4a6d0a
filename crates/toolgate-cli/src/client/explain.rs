//! What needs no server: error pages, the OpenAPI document, completions.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Stop, show};
use crate::print;

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  toolgate explain validation
  toolgate explain policy_denied";

pub(super) const OPENAPI_EXAMPLES: &str = "\
Examples:
  toolgate openapi > openapi.json
  toolgate openapi | jq '.paths | keys'";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate
  toolgate completions zsh > ~/.zfunc/_toolgate
  toolgate completions fish > ~/.config/fish/completions/toolgate.fish";

mod pages {
    // `PAGES: &[(&str, &str)]`: the pages of docs/errors by code, in order; made by build.rs.
    include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));
}

pub(super) fn explain(code: &str) -> Result<ExitCode, Stop> {
    if let Some((_, page)) = pages::PAGES.iter().find(|(known, _)| *known == code) {
        print::data(page.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let known: Vec<&str> = pages::PAGES.iter().map(|(code, _)| *code).collect();
    let list = if known.is_empty() { "none is built in".to_owned() } else { known.join(", ") };
    Err(Stop::usage(format!("no page explains `{}`", show::plain(code))).hint(format!("the codes: {list}")))
}

pub(super) fn openapi() -> Result<ExitCode, Stop> {
    let text = toolgate_server::rest::document().to_pretty_json().map_err(anyhow::Error::from)?;
    print::data(text);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::Cli::command(), "toolgate", &mut script);
    // A reader that has gone away is no reason to complain.
    let _ = show::stream(&script);
    ExitCode::SUCCESS
}

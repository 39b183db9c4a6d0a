//! What runs without asking from now on, as people say it.

use clap::Args;
use toolgate_api::{RememberRequest, RememberWord};

use super::amount::parse_seconds;
use super::ask::read_line;
use super::text::json_given;
use super::{Global, Stop};

/// A working day.
const USUAL: u64 = 8 * 3600;

/// What to let run from now on.
#[derive(Debug, Default, Args)]
pub(super) struct RememberArgs {
    /// Let the same caller's calls of this tool run without asking from now on: `same` arguments, `any`, or those
    /// that fit a JSON Schema, as JSON or @FILE.
    #[arg(long, value_name = "WHICH")]
    remember: Option<String>,
    /// For how long, such as 30m, 8h or 7d; at most 90d. [default: 8h]
    #[arg(long = "for", value_name = "SPAN", requires = "remember", value_parser = parse_span)]
    span: Option<u64>,
    /// Only in this call's session.
    #[arg(long, requires = "remember")]
    session_only: bool,
}

impl RememberArgs {
    /// What to ask the gate for.
    pub(super) fn request(&self, global: &Global) -> Result<Option<RememberRequest>, Stop> {
        let Some(which) = &self.remember else { return Ok(None) };
        let (arguments, schema) = match which.as_str() {
            "same" => (RememberWord::Same, None),
            "any" => (RememberWord::Any, None),
            given if given.starts_with(['@', '{', '-']) => {
                (RememberWord::Within, Some(json_given(given, "--remember", global)?))
            }
            _ => {
                return Err(Stop::usage("--remember takes `same`, `any` or a JSON Schema")
                    .hint("such as `--remember same` or `--remember @bounds.json`"));
            }
        };
        let expires_in_seconds = self.span.unwrap_or(USUAL);
        Ok(Some(RememberRequest { arguments, schema, session_only: self.session_only, expires_in_seconds }))
    }
}

/// Asks at a terminal for how long the same may run without asking. None when the person thinks better of it.
pub(super) fn asked() -> Result<Option<RememberRequest>, Stop> {
    let Some(line) = read_line("The same arguments run without asking for how long? [8h, or - to go back] ")
    else {
        return Ok(None);
    };
    let expires_in_seconds = match line.trim() {
        "-" => return Ok(None),
        "" => USUAL,
        span => parse_span(span).map_err(|why| Stop::failed(format!("how long it holds {why}")))?,
    };
    let arguments = RememberWord::Same;
    Ok(Some(RememberRequest { arguments, schema: None, session_only: false, expires_in_seconds }))
}

fn parse_span(text: &str) -> Result<u64, String> {
    parse_seconds(text)
        .ok()
        .filter(|seconds| *seconds > 0)
        .ok_or_else(|| "must be such as 30m, 8h or 7d".to_owned())
}

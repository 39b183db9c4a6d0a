//! Calls a tool, with flags made from its input schema.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;

use clap::{Args, FromArgMatches};
use reqwest::Method;
use serde_json::{Map, Value};
use toolgate_api::{FileView, InvokeRequest, ToolView};
use toolgate_core::number::{TOO_WIDE, has_wide_integer};

use super::answer::show_call;
use super::flags::{Flags, Required, as_typed};
use super::http::Gate;
use super::options::{self, InvokeOptions};
use super::{Global, Stop, file, show};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Flags that a tool's schema takes:
  text, numbers         --timezone Europe/Berlin --count 3
  a list                by repeating its flag: --tag a --tag b
  yes or no             --urgent, --no-urgent, --urgent true
  objects               as JSON: --person '{\"name\": \"Ada\"}'
  a name of our own     a field `wait` is --input-wait
  a file                by its path: --file report=q3.pdf sends it first

Examples:
  toolgate tool invoke core__get_current_time --timezone Europe/Berlin
  toolgate tool invoke core__get_current_time --help           the tool's own flags
  toolgate tool invoke core__quick_score --input @scores.json  the input from a file
  toolgate tool invoke core__calculate_roi --input - < roi.json
  toolgate tool invoke core__profile_csv --file file=q3.csv
  toolgate tool invoke ID --wait 0                             take the call's id and go

Exit codes: 0 done (or still running past --wait), 1 failed, 2 usage, 3 denied, 4 waiting for approval";

/// A tool and its flags. What stands after the id is read once the tool's schema is known.
#[derive(Debug, Args)]
#[command(override_usage = "toolgate tool invoke [OPTIONS] <ID> [FLAGS OF THE TOOL]...")]
pub(crate) struct InvokeArgs {
    /// The tool's id, then its own flags.
    #[arg(value_name = "ID", required = true, num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
    #[command(flatten)]
    options: InvokeOptions,
}

pub(super) async fn run(args: InvokeArgs, global: &Global) -> Result<ExitCode, Stop> {
    let (id, words) = match args.words.split_first() {
        Some((id, words)) if !id.to_string_lossy().starts_with('-') => {
            (id.to_string_lossy().into_owned(), words)
        }
        _ => {
            return Err(Stop::usage("the tool's id comes before its flags")
                .hint("such as `toolgate tool invoke core__get_current_time --timezone UTC`"));
        }
    };
    let (ours, others) = options::split(words, &options::own_command());
    let matches = match options::own_command().try_get_matches_from(ours) {
        Ok(matches) => matches,
        Err(wrong) => return Ok(say(&wrong, &id)),
    };
    let global = options::merge_global(global, &matches)?;
    let options =
        args.options.or_later(InvokeOptions::from_arg_matches(&matches).map_err(options::internal)?);
    let call = Invoke { id, words, others, options };
    Ok(call.run(&global).await.unwrap_or_else(|stop| stop.report(global.json)))
}

struct Invoke<'a> {
    id: String,
    /// All words after the id.
    words: &'a [OsString],
    /// Those of them that are the tool's own.
    others: Vec<OsString>,
    options: InvokeOptions,
}

impl Invoke<'_> {
    async fn run(self, global: &Global) -> Result<ExitCode, Stop> {
        if global.key_stdin && self.options.input.as_deref() == Some("-") {
            return Err(Stop::usage("the key and the input can't both come from standard input")
                .hint("set TOOLGATE_KEY, or read the input from a file with `--input @FILE`"));
        }
        let gate = Gate::of(global)?;
        let tool = match gate.get(gate.url(&["api", "v1", "tools", &self.id], &[])).await {
            Ok(answer) => Some(answer.read::<ToolView>()?),
            // The gate may still say why: a call that policy refuses is refused by name, and recorded.
            Err(stop) if stop.code() == "not_found" && !self.asks_for_help() => None,
            Err(stop) => return Err(stop),
        };
        let typed = match &tool {
            Some(tool) => match self.parse(tool) {
                Ok(typed) => typed,
                Err(wrong) => return Ok(say(&wrong, &self.id)),
            },
            None => as_typed(&self.others),
        };
        let mut input = self.input(typed)?;
        self.send_files(&gate, tool.as_ref(), &mut input).await?;
        let request = InvokeRequest {
            input: Value::Object(input),
            session_id: self.options.session.clone(),
            parent_call_id: self.options.parent.clone(),
        };
        if self.options.dry_run {
            let text = serde_json::to_value(&request).map_err(anyhow::Error::from)?;
            if global.json {
                show::json(&text)
            } else {
                print::data(show::pretty(&text))
            }
            return Ok(ExitCode::SUCCESS);
        }
        let wait = self.options.wait;
        let url =
            gate.url(&["api", "v1", "tools", &self.id, "invoke"], &[("wait", wait.seconds().to_string())]);
        let mut post = gate.request(Method::POST, url).json(&request).timeout(wait.patience());
        if let Some(key) = &self.options.idempotency_key {
            post = post.header("idempotency-key", key);
        }
        let answer = gate.send(post).await?;
        show_call(answer, tool.as_ref().map_or(&Value::Null, |tool| &tool.output_sections), global)
    }

    /// Sends the files that are named by their path, and names them by their id. A list gets all of its field's.
    async fn send_files(
        &self,
        gate: &Gate,
        tool: Option<&ToolView>,
        input: &mut Map<String, Value>,
    ) -> Result<(), Stop> {
        for (field, path) in &self.options.files {
            let id = match self.options.dry_run {
                true => format!("(the id of {})", show::plain(&path.to_string_lossy())),
                false => file::send(gate, path, None, None).await?.read::<FileView>()?.id,
            };
            let is_list = tool.is_some_and(|tool| {
                let kind = &tool.input_schema["properties"][field.as_str()]["type"];
                kind == "array"
                    || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
            });
            match input.get_mut(field) {
                Some(Value::Array(items)) if is_list => items.push(Value::String(id)),
                _ if is_list => drop(input.insert(field.clone(), Value::Array(vec![Value::String(id)]))),
                _ => drop(input.insert(field.clone(), Value::String(id))),
            }
        }
        Ok(())
    }

    fn asks_for_help(&self) -> bool {
        self.others.iter().any(|word| word == "--help" || word == "-h")
    }

    /// The input that the tool's flags spell.
    fn parse(&self, tool: &ToolView) -> Result<Map<String, Value>, clap::Error> {
        let own = options::own_command();
        let taken = own.get_arguments().filter_map(|arg| arg.get_long()).chain(["help"]).map(str::to_owned);
        let flags = Flags::of(&tool.input_schema, &taken.collect::<BTreeSet<_>>());
        let otherwise = self.options.input.is_some() || !self.options.files.is_empty();
        let required = if otherwise { Required::Anyhow } else { Required::AsFlags };
        // The tool's own flags come first in its help.
        let command = options::add_own(flags.add_to(options::bare_command(), required))
            .arg(options::help_flag())
            .bin_name(format!("toolgate tool invoke {}", tool.summary.id))
            .about(format!("{}\n\n{}", tool.summary.title, tool.summary.description));
        Ok(flags.read(&command.try_get_matches_from(self.words)?))
    }

    /// `--input` with the flags over it.
    fn input(&self, typed: Map<String, Value>) -> Result<Map<String, Value>, Stop> {
        let Some(given) = &self.options.input else { return Ok(typed) };
        let text = match given.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path).map_err(|cause| {
                Stop::usage(format!("`{path}` can't be read: {cause}")).hint("name a JSON file")
            })?,
            None if given == "-" => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map_err(|cause| Stop::usage(format!("standard input can't be read: {cause}")))?;
                text
            }
            None => given.clone(),
        };
        let wrong = |what: String| {
            Stop::usage(format!("--input {what}"))
                .hint("give a JSON object, such as `--input '{\"timezone\": \"UTC\"}'`, @FILE, or - for standard input")
        };
        if has_wide_integer(text.as_bytes()) {
            return Err(wrong(TOO_WIDE.to_owned()));
        }
        match serde_json::from_str(&text) {
            Ok(Value::Object(mut input)) => {
                input.extend(typed);
                Ok(input)
            }
            Ok(_) => Err(wrong("is JSON, but not an object".to_owned())),
            Err(cause) => Err(wrong(format!("is not JSON: {cause}"))),
        }
    }
}

/// Lets clap say it: help on stdout, what is wrong on stderr.
fn say(wrong: &clap::Error, id: &str) -> ExitCode {
    let _ = wrong.print();
    if wrong.use_stderr() {
        print::talk(format_args!(
            "hint: see its flags with `toolgate tool invoke {} --help`",
            show::plain(id)
        ));
    }
    ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(2))
}

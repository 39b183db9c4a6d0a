//! Flags made from a tool's input schema at run time.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Number, Value};
use toolgate_core::number::{TOO_WIDE, has_wide_integer};

use super::schema::{self, Choice, Field, Kind};

const HEADING: &str = "Input";

/// The flags of one tool.
#[derive(Debug)]
pub(super) struct Flags(Vec<Flag>);

#[derive(Debug)]
struct Flag {
    field: Field,
    long: String,
    /// The flag that says no, for a boolean.
    off: Option<String>,
}

/// Whether required fields must come as flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Required {
    /// Each of them.
    AsFlags,
    /// They may also come with `--input`; the gate will tell.
    Anyhow,
}

impl Flags {
    /// One flag for each property. A property named like one of `taken`, or like another, gets `--input-` before it.
    pub(super) fn of(schema: &Value, taken: &BTreeSet<String>) -> Self {
        let mut used = taken.clone();
        let (plain, named_alike): (Vec<Field>, Vec<Field>) =
            schema::fields(schema).into_iter().filter(|field| is_flag(&field.name)).partition(|field| {
                // Those that can keep their name take it first.
                used.insert(dashed(&field.name))
            });
        let mut flags: Vec<Flag> = Vec::new();
        for field in plain {
            flags.push(Flag { long: dashed(&field.name), field, off: None });
        }
        for field in named_alike {
            let mut long = format!("input-{}", dashed(&field.name));
            while !used.insert(long.clone()) {
                long = format!("input-{long}");
            }
            flags.push(Flag { field, long, off: None });
        }
        for flag in &mut flags {
            let off = format!("no-{}", flag.long);
            if flag.field.kind == Kind::Boolean && used.insert(off.clone()) {
                flag.off = Some(off);
            }
        }
        Self(flags)
    }

    /// The command with these flags.
    pub(super) fn add_to(&self, mut command: Command, required: Required) -> Command {
        for flag in &self.0 {
            command = command.arg(flag.arg(required));
            if let Some(off) = &flag.off {
                let help = format!("Says no to --{}", flag.long);
                command = command.arg(
                    Arg::new(flag.off_id())
                        .long(off.clone())
                        .action(ArgAction::SetTrue)
                        .overrides_with(flag.id())
                        .help(help)
                        .help_heading(HEADING),
                );
            }
        }
        command
    }

    /// The input the given flags spell.
    pub(super) fn read(&self, matches: &ArgMatches) -> Map<String, Value> {
        let mut input = Map::new();
        for flag in &self.0 {
            let given =
                matches.get_many::<Value>(&flag.id()).map(|values| values.cloned().collect::<Vec<_>>());
            let value = match (given, &flag.field.kind) {
                (Some(values), Kind::List(_)) => Some(Value::Array(values)),
                (Some(values), _) => values.into_iter().next_back(),
                (None, _) if flag.off.is_some() && matches.get_flag(&flag.off_id()) => {
                    Some(Value::Bool(false))
                }
                (None, _) => None,
            };
            if let Some(value) = value {
                input.insert(flag.field.name.clone(), value);
            }
        }
        input
    }
}

impl Flag {
    fn id(&self) -> String {
        format!("field {}", self.field.name)
    }

    fn off_id(&self) -> String {
        format!("no field {}", self.field.name)
    }

    fn arg(&self, required: Required) -> Arg {
        let arg = Arg::new(self.id())
            .long(self.long.clone())
            .help(self.help())
            .help_heading(HEADING)
            .required(self.field.required && required == Required::AsFlags);
        let arg = match &self.field.kind {
            Kind::List(item) => takes(arg, item).action(ArgAction::Append),
            Kind::Boolean => takes(arg, &Kind::Boolean)
                .num_args(0..=1)
                .default_missing_value("true")
                .hide_possible_values(true)
                .action(ArgAction::Set),
            kind => takes(arg, kind).action(ArgAction::Set),
        };
        match &self.off {
            Some(_) => arg.overrides_with(self.off_id()),
            None => arg,
        }
    }

    fn help(&self) -> String {
        let mut help = self.field.description.clone();
        let mut note = |text: String| {
            if !help.is_empty() {
                help.push(' ');
            }
            help.push_str(&text);
        };
        if matches!(self.field.kind, Kind::List(_)) {
            note("[may be repeated]".to_owned());
        }
        if let Some(default) = &self.field.default {
            let text = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            note(format!("[default: {text}]"));
        }
        help
    }
}

fn takes(arg: Arg, kind: &Kind) -> Arg {
    let (name, parser): (&'static str, ValueParser) = match kind {
        Kind::Text => ("TEXT", ValueParser::new(|text: &str| Ok::<_, String>(Value::from(text)))),
        Kind::Integer => ("INTEGER", ValueParser::new(parse_integer)),
        Kind::Number => ("NUMBER", ValueParser::new(parse_number)),
        Kind::Boolean => (
            "true|false",
            PossibleValuesParser::new(["true", "false"]).map(|text| Value::Bool(text == "true")).into(),
        ),
        Kind::Choice(choices) => ("CHOICE", choice_parser(choices.clone())),
        Kind::List(_) | Kind::Json(_) => ("JSON", ValueParser::new(parse_json)),
    };
    let number = matches!(kind, Kind::Integer | Kind::Number | Kind::Json(_));
    arg.value_name(name).value_parser(parser).allow_negative_numbers(number)
}

fn choice_parser(choices: Vec<Choice>) -> ValueParser {
    let shown = choices.iter().map(|choice| {
        let value = PossibleValue::new(choice.text.clone());
        match &choice.description {
            Some(description) => value.help(description.clone()),
            None => value,
        }
    });
    PossibleValuesParser::new(shown.collect::<Vec<_>>())
        .map(move |text| {
            let found = choices.iter().find(|choice| choice.text == text);
            found.map_or(Value::Null, |choice| choice.value.clone())
        })
        .into()
}

fn parse_integer(text: &str) -> Result<Value, String> {
    let signed = text.parse::<i64>().map(Value::from);
    signed.or_else(|_| text.parse::<u64>().map(Value::from)).map_err(|_| "must be a whole number".to_owned())
}

fn parse_number(text: &str) -> Result<Value, String> {
    parse_integer(text).or_else(|_| {
        let number = text.parse::<f64>().ok().and_then(Number::from_f64);
        number.map(Value::Number).ok_or_else(|| "must be a number".to_owned())
    })
}

fn parse_json(text: &str) -> Result<Value, String> {
    if has_wide_integer(text.as_bytes()) {
        return Err(TOO_WIDE.to_owned());
    }
    serde_json::from_str(text).map_err(|cause| format!("must be JSON: {cause}"))
}

/// What someone typed for a tool whose schema is not known, as text: `--a-b c` is `"a_b": "c"`.
pub(super) fn as_typed(words: &[OsString]) -> Map<String, Value> {
    let mut input = Map::new();
    let mut words = words.iter().map(|word| word.to_string_lossy()).peekable();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--").filter(|name| !name.is_empty()) else { continue };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name.to_owned(), Value::from(value)),
            None => match words.next_if(|next| !next.starts_with("--")) {
                Some(value) => (name.to_owned(), Value::from(value.into_owned())),
                None => (name.to_owned(), Value::Bool(true)),
            },
        };
        input.insert(name.replace('-', "_"), value);
    }
    input
}

fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// Whether a property's name can be typed as a flag; the others come with `--input`.
fn is_flag(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '_'])
        && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

#[cfg(test)]
#[path = "flags_tests.rs"]
mod tests;

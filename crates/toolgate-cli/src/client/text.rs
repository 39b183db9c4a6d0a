//! Text that a command is given: from a file, from standard input, or as it stands.

use std::io::Read;

use serde_json::Value;
use toolgate_core::number::{TOO_WIDE, has_wide_integer};

use super::{Global, Stop, show};

/// A text and where it came from.
#[derive(Debug)]
pub(super) struct Given {
    /// How to speak of it: the file's path, or `<stdin>`.
    pub(super) name: String,
    /// What it says.
    pub(super) text: String,
}

/// Reads a file, or standard input for `-`.
pub(super) fn read(file: &str, global: &Global) -> Result<Given, Stop> {
    if file == "-" {
        return read_stdin(global);
    }
    let text = std::fs::read_to_string(file).map_err(|cause| {
        Stop::usage(format!("`{}` can't be read: {cause}", show::plain(file)))
            .hint("name a text file, or - for standard input")
    })?;
    Ok(Given { name: file.to_owned(), text })
}

fn read_stdin(global: &Global) -> Result<Given, Stop> {
    if global.key_stdin {
        return Err(Stop::usage("the key and the text can't both come from standard input")
            .hint("set TOOLGATE_KEY, or name a file"));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Stop::usage(format!("standard input can't be read: {cause}")).hint("pipe in text, or name a file")
    })?;
    Ok(Given { name: "<stdin>".to_owned(), text })
}

/// The JSON in a file, or on standard input for `-`.
pub(super) fn read_json(file: &str, global: &Global) -> Result<Value, Stop> {
    parse_json(&read(file, global)?)
}

/// JSON as it stands, as `@FILE`, or as `-` for standard input.
pub(super) fn json_given(given: &str, flag: &str, global: &Global) -> Result<Value, Stop> {
    match given.strip_prefix('@') {
        Some(file) => read_json(file, global),
        None if given == "-" => read_json(given, global),
        None => parse_json(&Given { name: flag.to_owned(), text: given.to_owned() }),
    }
}

fn parse_json(given: &Given) -> Result<Value, Stop> {
    if has_wide_integer(given.text.as_bytes()) {
        return Err(Stop::usage(format!("`{}` {TOO_WIDE}", show::plain(&given.name))));
    }
    serde_json::from_str(&given.text).map_err(|cause| {
        Stop::usage(format!("`{}` is not JSON: {cause}", show::plain(&given.name)))
            .hint("give JSON, @FILE, or - for standard input")
    })
}

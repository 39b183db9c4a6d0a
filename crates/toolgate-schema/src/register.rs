//! From a contract and its code to a tool that can join a catalog.

use std::sync::Arc;

use serde_json::Value;
use toolgate_core::JsonText;
use toolgate_core::catalog::BoundTool;
use toolgate_core::contract::{BadContract, Binding, ToolContract};
use toolgate_core::port::capability::Capability;
use toolgate_core::port::executor::Executor;
use toolgate_core::port::validator::Validator;

use crate::check::{Role, check_names};
use crate::error::SchemaError;
use crate::foreign::compile_foreign;
use crate::on_demand::registered;

/// The longest contract text, in bytes.
pub const MAX_CONTRACT_BYTES: usize = 1024 * 1024;

/// Which of a contract's schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `input_schema`.
    Input,
    /// `output_schema`.
    Output,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Input => "input_schema",
            Self::Output => "output_schema",
        })
    }
}

/// A contract that cannot become a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// One of its schemas is refused.
    #[error("{side}: {error}")]
    Schema {
        /// Which one.
        side: Side,
        /// Why.
        error: SchemaError,
    },
    /// Something else in it is refused.
    #[error("{}", shortened(&.0.to_string()))]
    Contract(#[from] BadContract),
    /// The text is too long.
    #[error("the contract is larger than {} KiB", MAX_CONTRACT_BYTES / 1024)]
    TooLarge,
    /// The text is not JSON.
    #[error("the contract is not JSON: line {line}, column {column}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A field that is required and never guessed is missing.
    #[error("the contract has no `{0}`, which is required")]
    Missing(&'static str),
    /// A field has the wrong form, or is not a contract's.
    #[error("the contract is malformed: {0}")]
    Malformed(String),
}

impl RegistrationError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Schema { .. } => "registration.schema",
            Self::Contract(_) => "registration.contract",
            Self::TooLarge | Self::NotJson { .. } | Self::Malformed(_) => "registration.malformed",
            Self::Missing(_) => "registration.missing_field",
        }
    }

    /// What to do about it, in a short sentence.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Schema { error, .. } => error.hint(),
            Self::Contract(_) => "change the field the message names",
            Self::TooLarge => "shorten the description or the schemas",
            Self::NotJson { .. } => "check the text with a JSON formatter",
            Self::Missing("effect") => "say what a call does to state: `read`, `mutate` or `destructive`",
            Self::Missing("redaction") => {
                "list the output fields that may be shown, as in `{\"allow\": [\"total\"]}`"
            }
            Self::Missing("input_schema") => "a tool without arguments takes `{\"type\": \"object\"}`",
            Self::Missing("output_schema") => "describe the result; `{}` is any result at all",
            Self::Missing(_) => "add the field",
            Self::Malformed(_) => "compare the field with the contract reference",
        }
    }
}

/// Checks a contract's schemas and binds it to its code. Schemas of tools that other servers have are taken as they are, as
/// far as they can be; those of our own have to be right.
///
/// # Errors
/// What keeps the contract from being registered.
pub fn register(
    mut contract: ToolContract,
    capabilities: Vec<Capability>,
    executor: Arc<dyn Executor>,
) -> Result<BoundTool, RegistrationError> {
    let foreign = matches!(contract.execution, Binding::Mcp { .. });
    let input = schema(&mut contract.input_schema, Role::Input, foreign)
        .map_err(|error| RegistrationError::Schema { side: Side::Input, error })?;
    let output = schema(&mut contract.output_schema, Role::Output, foreign)
        .map_err(|error| RegistrationError::Schema { side: Side::Output, error })?;
    Ok(BoundTool::bind(contract, input, output, capabilities, executor)?)
}

/// Tools that say the same hold one text.
fn schema(text: &mut JsonText, role: Role, foreign: bool) -> Result<Arc<dyn Validator>, SchemaError> {
    let value = text.to_value();
    if foreign {
        return compile_foreign(&value, role);
    }
    let schema = registered(&value, role, || text.clone())?;
    check_names(&value)?;
    if schema.text() == text {
        text.clone_from(schema.text());
    }
    Ok(schema)
}

/// Reads a contract from its JSON form. Its schemas are checked by [`register`].
///
/// # Errors
/// What keeps the text from being a contract; a missing field is named.
pub fn parse_contract(text: &str) -> Result<ToolContract, RegistrationError> {
    if text.len() > MAX_CONTRACT_BYTES {
        return Err(RegistrationError::TooLarge);
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| RegistrationError::NotJson { line: error.line(), column: error.column() })?;
    let Value::Object(fields) = &value else {
        return Err(RegistrationError::Malformed("it must be an object".to_owned()));
    };
    for field in [
        "id",
        "title",
        "description",
        "category",
        "icon",
        "input_schema",
        "output_schema",
        "effect",
        "redaction",
        "execution",
    ] {
        if !fields.contains_key(field) {
            return Err(RegistrationError::Missing(field));
        }
    }
    serde_json::from_value(value).map_err(|error| RegistrationError::Malformed(shortened(&error.to_string())))
}

/// Messages may quote what they are about: not all of it, and nothing a terminal would obey.
fn shortened(message: &str) -> String {
    const MOST: usize = 200;
    let mut short: String = message.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if message.chars().count() > MOST {
        short.push('…');
    }
    short
}

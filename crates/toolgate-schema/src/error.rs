//! Why a schema may not be registered.

use crate::check::{MAX_BYTES, MAX_CHAIN, MAX_DEPTH, MAX_EXPANDED, MAX_NODES};
use crate::names::ForbiddenName;
use crate::pattern::MAX_PATTERNS;

/// A schema that may not be registered. Every message is lower case and safe to show; `path` is a JSON pointer into
/// the schema, `""` for the whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Its text is too long.
    #[error("the schema is larger than {} KiB", MAX_BYTES / 1024)]
    TooLarge,
    /// It nests too deep.
    #[error("the schema is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// It has too many parts.
    #[error("the schema has more than {MAX_NODES} values")]
    TooManyNodes,
    /// Following its references makes it too large.
    #[error("the schema has more than {MAX_EXPANDED} parts once its references are followed")]
    TooExpanded,
    /// A schema that is neither an object nor a boolean.
    #[error("a schema must be an object or a boolean")]
    NotASchema,
    /// `$schema` names a dialect this server does not speak.
    #[error("`$schema` names a dialect other than JSON Schema 2020-12 and draft-07")]
    UnknownDialect,
    /// The meta-schema says no.
    #[error("`{path}` {message}")]
    Invalid {
        /// Where.
        path: String,
        /// What the dialect wants there.
        message: String,
    },
    /// A keyword that is refused.
    #[error("`{path}` uses `{keyword}`, which tool schemas may not have")]
    Keyword {
        /// Where.
        path: String,
        /// The keyword.
        keyword: &'static str,
    },
    /// A reference that leaves the schema.
    #[error("`{path}` has a `$ref` that leaves the schema")]
    RemoteRef {
        /// Where.
        path: String,
    },
    /// A reference to nothing, or to something that is not a schema.
    #[error("`{path}` has a `$ref` to a place where no schema is")]
    DanglingRef {
        /// Where.
        path: String,
    },
    /// A reference that comes back to itself without going into the value.
    #[error("`{path}` refers back to itself without describing a part of the value")]
    EndlessRef {
        /// Where.
        path: String,
    },
    /// Too many schemas lean on each other for one place in the value.
    #[error("`{path}` is a chain of more than {MAX_CHAIN} references and combinations")]
    LongChain {
        /// Where.
        path: String,
    },
    /// A regular expression that the linear engine cannot run within its bounds.
    #[error("`{path}` is not a regular expression of the linear kind within bounds")]
    Pattern {
        /// Where.
        path: String,
    },
    /// Too many regular expressions.
    #[error("the schema has more than {MAX_PATTERNS} regular expressions, or too much text in them")]
    TooManyPatterns,
    /// An input schema whose fields cannot be read off its top.
    #[error("an input schema must have `\"type\": \"object\"` at the top")]
    InputNotObject,
    /// An input schema that hides its fields behind a combination.
    #[error("an input schema may not have `{keyword}` at the top")]
    InputCombined {
        /// The keyword.
        keyword: &'static str,
    },
    /// The compiler gave up: the machine has no thread to spare, or it met a fault of its own.
    #[error("the schema could not be compiled")]
    NotCompiled,
    /// A property that would carry a secret or choose a connection.
    #[error("`{path}` names the property `{name}`, which {}", kind.reason())]
    ForbiddenProperty {
        /// Where.
        path: String,
        /// The property, or the pattern for it.
        name: String,
        /// Why it is refused.
        kind: ForbiddenName,
    },
}

impl SchemaError {
    /// What to do about it, in a short sentence.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge | Self::TooManyNodes => "split the tool in two, or describe less of its data",
            Self::TooDeep => "move inner parts to `$defs` and refer to them with `$ref`",
            Self::TooExpanded => "let each definition be referred to once per place, without nesting `allOf`",
            Self::NotASchema => "write `{}` for anything, `false` for nothing",
            Self::UnknownDialect => {
                "leave `$schema` out, or name `https://json-schema.org/draft/2020-12/schema`"
            }
            Self::Invalid { .. } => "compare the keyword with the JSON Schema reference of your dialect",
            Self::Keyword { .. } => "remove it and refer to definitions by place, as in `#/$defs/name`",
            Self::RemoteRef { .. } => "copy what it refers to into `$defs` and refer to `#/$defs/name`",
            Self::DanglingRef { .. } => "refer to a schema that is there, such as `#/$defs/name`",
            Self::EndlessRef { .. } => "refer to it from inside `properties` or `items` instead",
            Self::LongChain { .. } => "refer to the last definition of the chain directly",
            Self::Pattern { .. } => {
                "use no look-around or back-references, small repetition counts, and at most 1024 bytes and 128 escapes"
            }
            Self::TooManyPatterns => "use `enum` or `maxLength` where a pattern is not needed",
            Self::InputNotObject => "wrap the input in an object with one property",
            Self::InputCombined { .. } => {
                "list all fields in `properties` and say in the description how they combine"
            }
            Self::NotCompiled => "try again; if it stays, simplify the schema and report it",
            Self::ForbiddenProperty { kind: ForbiddenName::Connection, .. } => {
                "declare `connection` in the contract; the server chooses the account"
            }
            Self::ForbiddenProperty { kind: ForbiddenName::Secret, .. } => {
                "declare `connection` in the contract; secrets never pass through arguments or results"
            }
        }
    }
}

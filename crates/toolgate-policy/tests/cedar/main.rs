//! The Cedar policies as a tenant meets them: what the texts promise, what hostile texts do, and that the indexed,
//! remembering judge answers as Cedar itself does.
#![allow(clippy::unwrap_used, reason = "test code")]

mod answers;
mod default_set;
mod examples;
mod given;
mod grammar;
mod hostile;
mod names;
mod plain;
mod properties;
mod saving;

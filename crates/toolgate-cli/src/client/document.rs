//! Roles, toolsets, profiles and limits: documents with a name, written whole.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgate_core::id::Slug;

use super::ask::Confirm;
use super::change::{Facts, show_answer, show_gone, show_one};
use super::http::Gate;
use super::text::read_json;
use super::{Global, Stop};

/// A kind of document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noun {
    /// `role`.
    pub(super) one: &'static str,
    /// `roles`, as in the address.
    pub(super) many: &'static str,
}

/// Which one to write, and over what.
#[derive(Debug, Args)]
pub(super) struct SetArgs {
    /// Its name.
    pub(super) name: Slug,
    /// Begin with the document in this JSON file, or on standard input with -. Flags win over it.
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<String>,
    /// Only if it still has this revision, as `show` tells it.
    #[arg(long, value_name = "NUMBER")]
    pub(super) if_revision: Option<u64>,
}

/// Which one to remove.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Its name.
    name: Slug,
    #[command(flatten)]
    confirm: Confirm,
}

/// What `show --json` prints and nobody can write.
const NOT_WRITTEN: [&str; 8] =
    ["name", "revision", "updated_by", "updated_at", "built_in", "own", "tool_count", "tool_ids"];

impl SetArgs {
    /// The document in the file, or an empty one.
    pub(super) fn body<T: DeserializeOwned + Default>(&self, global: &Global) -> Result<T, Stop> {
        let Some(file) = &self.file else { return Ok(T::default()) };
        let mut document = read_json(file, global)?;
        if let Value::Object(fields) = &mut document {
            fields.retain(|name, _| !NOT_WRITTEN.contains(&name.as_str()));
        }
        serde_json::from_value(document).map_err(|cause| {
            Stop::usage(format!("`{file}` can't be used: {cause}"))
                .hint("start with what `show --json` prints of one that is there")
        })
    }

    /// Writes the document and shows it.
    pub(super) async fn put<T: Serialize, V: Facts>(
        &self,
        noun: Noun,
        body: &T,
        global: &Global,
    ) -> Result<ExitCode, Stop> {
        let gate = Gate::of(global)?;
        let url = gate.url(&["api", "v1", noun.many, self.name.as_str()], &[]);
        let written = gate.put(url, body, self.if_revision).await;
        let answer = written.map_err(|stop| match stop.code() {
            "conflict" => stop.hint(format!("see it with `toolgate {} show {}`", noun.one, self.name)),
            _ => stop,
        })?;
        global.talk(format_args!("the {} `{}` is written", noun.one, self.name));
        show_answer::<V>(&answer, global)
    }
}

impl RemoveArgs {
    /// Asks, then removes it.
    pub(super) async fn remove(self, noun: Noun, global: &Global) -> Result<ExitCode, Stop> {
        let gate = Gate::of(global)?;
        self.confirm.ask(&format!("Remove the {} {}?", noun.one, self.name))?;
        let answer = gate.delete(gate.url(&["api", "v1", noun.many, self.name.as_str()], &[])).await?;
        Ok(show_gone(&answer, &format!("the {} `{}` is removed", noun.one, self.name), global))
    }
}

/// Shows one of them.
pub(super) async fn show<V: Facts>(noun: Noun, name: &Slug, global: &Global) -> Result<ExitCode, Stop> {
    show_one::<V>(&[noun.many, name.as_str()], global).await
}

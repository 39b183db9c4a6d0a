//! Toolsets: named selections of tools.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{PutToolsetRequest, ToolsetView};
use toolgate_core::id::Slug;

use super::change::{Facts, written};
use super::document::{self, Noun, RemoveArgs, SetArgs};
use super::page::{Listing, words};
use super::{Global, Stop};

const NOUN: Noun = Noun { one: "toolset", many: "toolsets" };

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate toolset list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate toolset show reading
  toolgate toolset show reading --json | jq -r '.tool_ids[]'";

const SET_EXAMPLES: &str = "\
Examples:
  toolgate toolset set reading --tool 'core__*' --tool 'crm__*' --effect read
  toolgate toolset set crm --tool 'crm__*' --exclude crm__refund --title \"Customer desk\"
  toolgate tool assign --agent helper --toolset reading";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate toolset remove reading";

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsetCommand {
    /// List the toolsets.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one toolset with the tools it holds now.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: Slug,
    },
    /// Write a toolset, whole: what is left out is not in it.
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<ToolsetArgs>),
    /// Remove a toolset that no assignment uses.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsetArgs {
    #[command(flatten)]
    set: SetArgs,
    /// What people call it.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A tool's id, or the start of ids and * [may be repeated]
    #[arg(long = "tool", value_name = "ID", required_unless_present = "file")]
    tools: Vec<String>,
    /// What is left out of these [may be repeated]
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
    /// Only tools with such an effect [may be repeated]
    #[arg(long = "effect", value_name = "EFFECT", value_parser = ["read", "mutate", "destructive"])]
    effects: Vec<String>,
    /// Only tools with such egress [may be repeated]
    #[arg(long, value_name = "EGRESS", value_parser = ["none", "read_only", "write"])]
    egress: Vec<String>,
    /// How MCP clients find its tools.
    #[arg(long, value_name = "MODE", value_parser = ["list", "search"])]
    mode: Option<String>,
}

impl Facts for ToolsetView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("name", self.name.clone()),
            ("title", self.title.clone()),
            ("description", self.description.clone()),
            ("tools", self.tools.join(", ")),
            ("less", self.exclude.join(", ")),
            ("effects", self.effects.join(", ")),
            ("egress", self.egress.join(", ")),
            ("mode", self.mode.clone()),
            ("holds", holds(self)),
            ("revision", self.revision.to_string()),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

fn holds(toolset: &ToolsetView) -> String {
    match toolset.tool_ids.as_deref() {
        Some(ids) if !ids.is_empty() => format!("{}: {}", toolset.tool_count, ids.join(", ")),
        _ => toolset.tool_count.to_string(),
    }
}

pub(super) async fn run(command: ToolsetCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ToolsetCommand::List => list(global).await,
        ToolsetCommand::Show { name } => document::show::<ToolsetView>(NOUN, &name, global).await,
        ToolsetCommand::Set(args) => set(*args, global).await,
        ToolsetCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["toolsets"], items: "toolsets", ..Listing::default() };
    let row = |set: ToolsetView| {
        let (tools, less) = (words(&set.tools), words(&set.exclude));
        vec![set.name, set.tool_count.to_string(), tools, less, words(&set.effects), set.title]
    };
    let columns = ["name", "holds", "tools", "less", "effects", "title"];
    listing.show(&columns, "there is no toolset", row, global).await
}

async fn set(args: ToolsetArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut body: PutToolsetRequest = args.set.body(global)?;
    body.title = args.title.unwrap_or(body.title);
    body.description = args.description.unwrap_or(body.description);
    body.mode = args.mode.or(body.mode);
    for (list, given) in [
        (&mut body.tools, args.tools),
        (&mut body.exclude, args.exclude),
        (&mut body.effects, args.effects),
        (&mut body.egress, args.egress),
    ] {
        if !given.is_empty() {
            *list = given;
        }
    }
    args.set.put::<_, ToolsetView>(NOUN, &body, global).await
}

//! Entities: what fields of forms can name.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{EntityTypeView, EntityView};

use super::page::{Listing, word};
use super::{Global, Stop};

const TYPES_EXAMPLES: &str = "\
Examples:
  toolgate entity types";

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate entity list tool
  toolgate entity list user --search lovlace
  toolgate entity list agent --search scout --json | jq -r '.items[0].id'";

#[derive(Debug, Subcommand)]
pub(crate) enum EntityCommand {
    /// List the types of entities that you may look through.
    #[command(after_help = TYPES_EXAMPLES)]
    Types,
    /// List the entities of one type, or those that fit what you look for.
    #[command(after_help = LIST_EXAMPLES)]
    List(EntityArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EntityArgs {
    /// The type, such as user, agent, tool or toolset: what a schema has as x-entity-type.
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Words of the name or the id, best fit first; a letter may be wrong.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

pub(super) async fn run(command: EntityCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        EntityCommand::Types => types(global).await,
        EntityCommand::List(args) => list(args, global).await,
    }
}

async fn types(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["entities"], items: "types", ..Listing::default() };
    let row = |kind: EntityTypeView| vec![kind.name, kind.title];
    listing.show(&["type", "title"], "there is no type of entity for you", row, global).await
}

async fn list(args: EntityArgs, global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing {
        path: &["entities", &args.kind],
        query: args.search.map(|text| ("q", text)).into_iter().collect(),
        items: "items",
    };
    let row = |entity: EntityView| vec![entity.id, entity.title, word(entity.detail)];
    listing.show(&["id", "title", "detail"], "nothing fits", row, global).await
}

//! Roles: named sets of access rules, and what policies speak of.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{PutRoleRequest, RoleView};
use toolgate_core::id::Slug;

use super::change::{Facts, written};
use super::document::{self, Noun, RemoveArgs, SetArgs};
use super::page::{Listing, words};
use super::{Global, Stop};

const NOUN: Noun = Noun { one: "role", many: "roles" };

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate role list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate role show approver";

const SET_EXAMPLES: &str = "\
Examples:
  toolgate role set support --description \"answers customers\" --rule crm.contacts.read
  toolgate role show support --json > support.json
  toolgate role set support --file support.json --if-revision 1";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate role remove support";

#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// List the roles, built-in ones too.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one role.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: Slug,
    },
    /// Write a role, whole: what is left out is not in it. It can't hold rules that you do not hold yourself.
    #[command(after_help = SET_EXAMPLES)]
    Set(RoleArgs),
    /// Remove a role: whoever has it loses what it gave. A built-in one is as it comes again.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RoleArgs {
    #[command(flatten)]
    set: SetArgs,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// An access rule it gives, such as crm.contacts.read; * is all of them [may be repeated]
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
}

impl Facts for RoleView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let changed = match (&self.updated_by, &self.updated_at) {
            (Some(by), Some(at)) => written(by, at),
            _ => String::new(),
        };
        vec![
            ("name", self.name.clone()),
            ("description", self.description.clone()),
            ("rules", words(&self.rules)),
            ("origin", origin(self).to_owned()),
            ("revision", self.revision.map_or_else(String::new, |revision| revision.to_string())),
            ("written", changed),
        ]
    }
}

const fn origin(role: &RoleView) -> &'static str {
    match (role.built_in, role.own) {
        (true, true) => "built in, written over",
        (true, false) => "built in",
        (false, _) => "own",
    }
}

pub(super) async fn run(command: RoleCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        RoleCommand::List => list(global).await,
        RoleCommand::Show { name } => document::show::<RoleView>(NOUN, &name, global).await,
        RoleCommand::Set(args) => set(args, global).await,
        RoleCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["roles"], items: "roles", ..Listing::default() };
    let row = |role: RoleView| {
        let origin = origin(&role).to_owned();
        vec![role.name, origin, words(&role.rules), role.description]
    };
    listing.show(&["name", "origin", "rules", "description"], "there is no role", row, global).await
}

async fn set(args: RoleArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut body: PutRoleRequest = args.set.body(global)?;
    body.description = args.description.unwrap_or(body.description);
    if !args.rules.is_empty() {
        body.rules = args.rules;
    }
    args.set.put::<_, RoleView>(NOUN, &body, global).await
}

//! Profiles: what holds for an agent's use of assigned tools. A profile can only tighten.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{ProfileView, PutProfileRequest};
use toolgate_core::id::Slug;

use super::change::{Facts, written};
use super::document::{self, Noun, RemoveArgs, SetArgs};
use super::measure::{MeasureArgs, Measures, cost, rate};
use super::page::{Listing, word};
use super::text::json_given;
use super::{Global, Stop};

const NOUN: Noun = Noun { one: "profile", many: "profiles" };

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate profile list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate profile show careful
  toolgate profile show careful --json | jq .arguments";

const SET_EXAMPLES: &str = "\
Examples:
  toolgate profile set careful --approval always_ask
  toolgate profile set slow --rate 10 --concurrency 1 --cost 12.50/day --on-overrun ask
  toolgate profile set small --arguments @bounds.json
  toolgate profile set careful --file careful.json --if-revision 3
  toolgate tool assign --agent helper --toolset crm --profile careful";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate profile remove careful";

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one profile.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: Slug,
    },
    /// Write a profile, whole: what is left out does not hold. It can only tighten.
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<ProfileArgs>),
    /// Remove a profile that no assignment uses.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    set: SetArgs,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Every call waits for a person. There is no other word: a profile can only tighten.
    #[arg(long, value_name = "always_ask")]
    approval: Option<String>,
    #[command(flatten)]
    measures: MeasureArgs,
    /// A JSON Schema the input must fit besides the tool's own, as JSON, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
}

impl Facts for ProfileView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("name", self.name.clone()),
            ("description", self.description.clone()),
            ("approval", self.approval.clone().unwrap_or_default()),
            ("rate", rate(self.rate_per_minute).unwrap_or_default()),
            ("at once", self.concurrency.map_or_else(String::new, |calls| calls.to_string())),
            ("cost", cost(self.cost.as_ref()).unwrap_or_default()),
            ("on overrun", self.on_overrun.clone()),
            ("arguments", self.arguments.as_ref().map_or_else(String::new, ToString::to_string)),
            ("revision", self.revision.to_string()),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

pub(super) async fn run(command: ProfileCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ProfileCommand::List => list(None, global).await,
        ProfileCommand::Show { name } => document::show::<ProfileView>(NOUN, &name, global).await,
        ProfileCommand::Set(args) => set(*args, global).await,
        ProfileCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

/// Lists them all, or those of these names.
pub(super) async fn list(only: Option<Vec<String>>, global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["profiles"], items: "profiles", ..Listing::default() };
    let mut all = listing.read_all(&super::http::Gate::of(global)?).await?;
    if let Some(only) = only {
        all.retain(|profile| profile["name"].as_str().is_some_and(|name| only.iter().any(|one| one == name)));
    }
    let columns = ["name", "approval", "rate", "at once", "cost", "on overrun", "arguments", "description"];
    let row = |profile: ProfileView| {
        vec![
            profile.name,
            word(profile.approval),
            word(rate(profile.rate_per_minute)),
            word(profile.concurrency.map(|calls| calls.to_string())),
            word(cost(profile.cost.as_ref())),
            profile.on_overrun,
            word(profile.arguments.map(|_| "bounded".to_owned())),
            profile.description,
        ]
    };
    listing.show_these(all, &columns, "there is no profile", row, global)
}

async fn set(args: ProfileArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut body: PutProfileRequest = args.set.body(global)?;
    body.description = args.description.unwrap_or(body.description);
    body.approval = args.approval.or(body.approval);
    args.measures.write(Measures {
        rate: &mut body.rate_per_minute,
        concurrency: &mut body.concurrency,
        cost: &mut body.cost,
        on_overrun: &mut body.on_overrun,
    });
    if let Some(given) = &args.arguments {
        body.arguments = Some(json_given(given, "--arguments", global)?);
    }
    args.set.put::<_, ProfileView>(NOUN, &body, global).await
}

//! Limits: rate, concurrency and cost for a tenant, its principals and its tools.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{LimitView, PutLimitRequest};
use toolgate_core::id::Slug;

use super::change::{Facts, written};
use super::document::{self, Noun, RemoveArgs, SetArgs};
use super::measure::{MeasureArgs, Measures, cost, rate};
use super::page::{Listing, word};
use super::{Global, Stop};

const NOUN: Noun = Noun { one: "limit", many: "limits" };
const PER: [&str; 4] = ["tenant", "principal", "tool", "principal_and_tool"];

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate limit list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate limit show agents-per-day";

const SET_EXAMPLES: &str = "\
Examples:
  toolgate limit set agents --principal 'agent:*' --per principal --rate 60
  toolgate limit set spending --per tenant --cost 200/month --on-overrun ask
  toolgate limit set mail --tool mail__send --per tool --concurrency 2
  toolgate limit set agents --file agents.json --if-revision 2";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate limit remove agents";

#[derive(Debug, Subcommand)]
pub(crate) enum LimitCommand {
    /// List the limits.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one limit.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: Slug,
    },
    /// Write a limit, whole: at least one of --rate, --concurrency and --cost.
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<LimitArgs>),
    /// Remove a limit.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    set: SetArgs,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Whose calls count: an id, or the start of ids and *; left out, everyone's [may be repeated]
    #[arg(long = "principal", value_name = "ID")]
    principals: Vec<String>,
    /// Calls of which tools count: an id, or the start of ids and *; left out, all [may be repeated]
    #[arg(long = "tool", value_name = "ID")]
    tools: Vec<String>,
    /// What has a measure of its own.
    #[arg(long, value_name = "WHAT", required_unless_present = "file", value_parser = PER)]
    per: Option<String>,
    #[command(flatten)]
    measures: MeasureArgs,
}

impl Facts for LimitView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("name", self.name.clone()),
            ("description", self.description.clone()),
            ("counts", counts(self)),
            ("per", self.per.clone()),
            ("rate", rate(self.rate_per_minute).unwrap_or_default()),
            ("at once", self.concurrency.map_or_else(String::new, |calls| calls.to_string())),
            ("cost", cost(self.cost.as_ref()).unwrap_or_default()),
            ("on overrun", self.on_overrun.clone()),
            ("revision", self.revision.to_string()),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

/// Which calls, in words.
fn counts(limit: &LimitView) -> String {
    let listed = |all: &[String], none: &str| if all.is_empty() { none.to_owned() } else { all.join(", ") };
    format!("calls of {} by {}", listed(&limit.tools, "all tools"), listed(&limit.principals, "everyone"))
}

pub(super) async fn run(command: LimitCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        LimitCommand::List => list(global).await,
        LimitCommand::Show { name } => document::show::<LimitView>(NOUN, &name, global).await,
        LimitCommand::Set(args) => set(*args, global).await,
        LimitCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["limits"], items: "limits", ..Listing::default() };
    let row = |limit: LimitView| {
        let counts = counts(&limit);
        vec![
            limit.name,
            limit.per,
            word(rate(limit.rate_per_minute)),
            word(limit.concurrency.map(|calls| calls.to_string())),
            word(cost(limit.cost.as_ref())),
            limit.on_overrun,
            counts,
        ]
    };
    let columns = ["name", "per", "rate", "at once", "cost", "on overrun", "counts"];
    listing.show(&columns, "there is no limit", row, global).await
}

async fn set(args: LimitArgs, global: &Global) -> Result<ExitCode, Stop> {
    let mut body: PutLimitRequest = args.set.body(global)?;
    body.description = args.description.unwrap_or(body.description);
    body.per = args.per.unwrap_or(body.per);
    for (list, given) in [(&mut body.principals, args.principals), (&mut body.tools, args.tools)] {
        if !given.is_empty() {
            *list = given;
        }
    }
    args.measures.write(Measures {
        rate: &mut body.rate_per_minute,
        concurrency: &mut body.concurrency,
        cost: &mut body.cost,
        on_overrun: &mut body.on_overrun,
    });
    args.set.put::<_, LimitView>(NOUN, &body, global).await
}

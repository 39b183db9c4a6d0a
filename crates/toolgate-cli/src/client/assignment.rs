//! Assignments: which tools an agent has. `tool assign`, `tool revoke` and `tool list --assignments`.

use std::process::ExitCode;

use clap::Args;
use toolgate_api::{AssignmentView, PutAssignmentRequest};
use toolgate_core::id::{PrincipalId, Slug, ToolName};

use super::ask::Confirm;
use super::change::{Facts, show_answer, show_gone, written};
use super::http::Gate;
use super::page::{Listing, of, word};
use super::who::parse_agent;
use super::{Global, Stop, profile, show};

pub(super) const ASSIGN_EXAMPLES: &str = "\
Examples:
  toolgate tool assign --agent helper --tool core__get_current_time
  toolgate tool assign --agent helper --toolset crm --profile careful";

pub(super) const REVOKE_EXAMPLES: &str = "\
Examples:
  toolgate tool revoke --agent helper --tool core__get_current_time
  toolgate tool revoke --agent helper --toolset crm --yes";

#[derive(Debug, Args)]
pub(crate) struct AssignArgs {
    #[command(flatten)]
    which: Which,
    /// The agent's name, or id.
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    agent: PrincipalId,
    /// The profile that tightens what the agent may do with them; left out, none.
    #[arg(long, value_name = "NAME")]
    profile: Option<Slug>,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    which: Which,
    /// The agent's name, or id.
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    agent: PrincipalId,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// One tool.
    #[arg(long, value_name = "ID")]
    tool: Option<ToolName>,
    /// All tools of a toolset, now and later.
    #[arg(long, value_name = "NAME")]
    toolset: Option<Slug>,
}

impl Which {
    fn words(&self) -> String {
        match (&self.tool, &self.toolset) {
            (Some(tool), _) => tool.to_string(),
            (None, Some(toolset)) => format!("the toolset {toolset}"),
            (None, None) => String::new(),
        }
    }
}

impl Facts for AssignmentView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("agent", self.agent.clone()),
            ("tool", self.tool.clone().unwrap_or_default()),
            ("toolset", self.toolset.clone().unwrap_or_default()),
            ("profile", word(self.profile.clone())),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

fn listing(agent: Option<&PrincipalId>) -> Listing<'static> {
    let query = agent.map(|agent| ("agent", agent.to_string())).into_iter().collect();
    Listing { path: &["assignments"], query, items: "assignments" }
}

/// Lists who has what.
pub(super) async fn list(agent: Option<&PrincipalId>, global: &Global) -> Result<ExitCode, Stop> {
    let row = |assignment: AssignmentView| {
        let what = match (assignment.tool, assignment.toolset) {
            (Some(tool), _) => ["tool".to_owned(), tool],
            (None, toolset) => ["toolset".to_owned(), word(toolset)],
        };
        let [kind, name] = what;
        let when = show::moment(&assignment.updated_at);
        vec![assignment.agent, kind, name, word(assignment.profile), when, assignment.updated_by]
    };
    let columns = ["agent", "has", "name", "profile", "since", "by"];
    let none = "nothing is assigned: an agent without an assignment has no tools";
    listing(agent).show(&columns, none, row, global).await
}

/// Lists the profiles, or those that one agent's tools come with.
pub(super) async fn list_profiles(agent: Option<&PrincipalId>, global: &Global) -> Result<ExitCode, Stop> {
    let Some(agent) = agent else { return profile::list(None, global).await };
    let assigned = listing(Some(agent)).read_all(&Gate::of(global)?).await?;
    let assigned = assigned.into_iter().map(of::<AssignmentView>).collect::<Result<Vec<_>, Stop>>()?;
    let names = assigned.into_iter().filter_map(|assignment| assignment.profile).collect();
    profile::list(Some(names), global).await
}

pub(super) async fn assign(args: AssignArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let body = PutAssignmentRequest {
        agent: args.agent.to_string(),
        tool: args.which.tool.map(|tool| tool.to_string()),
        toolset: args.which.toolset.map(|toolset| toolset.to_string()),
        profile: args.profile.map(|profile| profile.to_string()),
    };
    let answer = gate.put(gate.url(&["api", "v1", "assignments"], &[]), &body, None).await?;
    show_answer::<AssignmentView>(&answer, global)
}

pub(super) async fn revoke(args: RevokeArgs, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let what = args.which.words();
    args.confirm.ask(&format!("Take {what} from {}?", args.agent))?;
    let mut query = vec![("agent", args.agent.to_string())];
    query.extend(args.which.tool.map(|tool| ("tool", tool.to_string())));
    query.extend(args.which.toolset.map(|toolset| ("toolset", toolset.to_string())));
    let answer = gate.delete(gate.url(&["api", "v1", "assignments"], &query)).await?;
    Ok(show_gone(&answer, &format!("{what} is taken from {}", args.agent), global))
}

//! Approval rules: who has to decide on which calls, how many, and in what time.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Deserialize;
use toolgate_api::{ApprovalRuleView, PutApprovalRuleRequest};
use toolgate_core::id::Slug;

use super::amount::parse_seconds;
use super::change::{Facts, written};
use super::document::{self, Noun, RemoveArgs, SetArgs};
use super::page::{Listing, words};
use super::{Global, Stop};

const NOUN: Noun = Noun { one: "approval-rule", many: "approval-rules" };

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate approval-rule list";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate approval-rule show payments";

const SET_EXAMPLES: &str = "\
Of all rules that concern a call, the most people, the named roles and the shortest times hold.

Examples:
  toolgate approval-rule set payments --tool 'pay__*' --approver treasurer --needed 2
  toolgate approval-rule set deletions --effect destructive --escalate-after 1h --escalate-to admin
  toolgate approval-rule set agents --principal 'agent:*' --expires-after 1d
  toolgate approval-rule set payments --file payments.json --if-revision 2";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate approval-rule remove payments";

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalRuleCommand {
    /// List the approval rules.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one approval rule.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name.
        name: Slug,
    },
    /// Write an approval rule, whole: what is left out is not in it. Calls that wait keep their terms.
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<ApprovalRuleArgs>),
    /// Remove an approval rule. Calls that wait keep their terms.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalRuleArgs {
    #[command(flatten)]
    set: SetArgs,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Of which tools: an id, or the start of ids and *; left out, all [may be repeated]
    #[arg(long = "tool", value_name = "ID")]
    tools: Vec<String>,
    /// Only tools with such an effect [may be repeated]
    #[arg(long = "effect", value_name = "EFFECT", value_parser = ["read", "mutate", "destructive"])]
    effects: Vec<String>,
    /// Whose calls: an id, or the start of ids and *; left out, everyone's [may be repeated]
    #[arg(long = "principal", value_name = "ID")]
    principals: Vec<String>,
    /// A role whose holders may decide; left out, whoever policy lets [may be repeated]
    #[arg(long = "approver", value_name = "ROLE")]
    approvers: Vec<String>,
    /// How many people must say yes, at most 10. [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10))]
    needed: Option<u32>,
    /// After how long it is passed on to more people, such as 1h.
    #[arg(long, value_name = "SPAN", value_parser = parse_seconds)]
    escalate_after: Option<u64>,
    /// The roles it is passed on to; left out, whoever policy lets [may be repeated]
    #[arg(long, value_name = "ROLE")]
    escalate_to: Vec<String>,
    /// After how long it expires, such as 1d.
    #[arg(long, value_name = "SPAN", value_parser = parse_seconds)]
    expires_after: Option<u64>,
}

impl Facts for ApprovalRuleView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let rule = &self.rule;
        vec![
            ("name", self.name.clone()),
            ("description", rule.description.clone()),
            ("tools", all_unless_named(&rule.tools)),
            ("effects", all_unless_named(&rule.effects)),
            ("principals", all_unless_named(&rule.principals)),
            ("decided by", rule.approvers.join(", ")),
            ("needed", rule.needed.to_string()),
            ("passed on", passed_on(rule)),
            ("expires", rule.expires_after_seconds.map_or_else(String::new, after)),
            ("revision", self.revision.to_string()),
            ("written", written(&self.updated_by, &self.updated_at)),
        ]
    }
}

fn all_unless_named(names: &[String]) -> String {
    if names.is_empty() { "all".to_owned() } else { names.join(", ") }
}

fn passed_on(rule: &PutApprovalRuleRequest) -> String {
    let Some(seconds) = rule.escalate_after_seconds else { return String::new() };
    match rule.escalate_to.join(", ") {
        to if to.is_empty() => format!("{} to whoever policy lets", after(seconds)),
        to => format!("{} to {to}", after(seconds)),
    }
}

fn after(seconds: u64) -> String {
    let (day, hour, minute) = (86_400, 3_600, 60);
    let parts = [
        (seconds / day, "d"),
        (seconds % day / hour, "h"),
        (seconds % hour / minute, "m"),
        (seconds % minute, "s"),
    ];
    let shown: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    format!("after {}", shown.join(" "))
}

pub(super) async fn run(command: ApprovalRuleCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        ApprovalRuleCommand::List => list(global).await,
        ApprovalRuleCommand::Show { name } => document::show::<ApprovalRuleView>(NOUN, &name, global).await,
        ApprovalRuleCommand::Set(args) => set(*args, global).await,
        ApprovalRuleCommand::Remove(args) => args.remove(NOUN, global).await,
    }
}

async fn list(global: &Global) -> Result<ExitCode, Stop> {
    let listing = Listing { path: &["approval-rules"], items: "approval_rules", ..Listing::default() };
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let row = |found: ApprovalRuleView| {
        let rule = found.rule;
        vec![
            found.name,
            all_unless_named(&rule.tools),
            all_unless_named(&rule.effects),
            all_unless_named(&rule.principals),
            words(&rule.approvers),
            rule.needed.to_string(),
            dash(passed_on(&rule)),
            dash(rule.expires_after_seconds.map_or_else(String::new, after)),
            rule.description,
        ]
    };
    let columns = [
        "name",
        "tools",
        "effects",
        "principals",
        "decided by",
        "needed",
        "passed on",
        "expires",
        "description",
    ];
    listing.show(&columns, "there is no approval rule", row, global).await
}

/// A rule to begin with: one person, and nothing else.
#[derive(Deserialize)]
#[serde(transparent)]
struct Body(PutApprovalRuleRequest);

impl Default for Body {
    fn default() -> Self {
        Self(PutApprovalRuleRequest {
            description: String::new(),
            tools: Vec::new(),
            effects: Vec::new(),
            principals: Vec::new(),
            approvers: Vec::new(),
            needed: 1,
            escalate_after_seconds: None,
            escalate_to: Vec::new(),
            expires_after_seconds: None,
        })
    }
}

async fn set(args: ApprovalRuleArgs, global: &Global) -> Result<ExitCode, Stop> {
    let Body(mut body) = args.set.body(global)?;
    body.description = args.description.unwrap_or(body.description);
    for (list, given) in [
        (&mut body.tools, args.tools),
        (&mut body.effects, args.effects),
        (&mut body.principals, args.principals),
        (&mut body.approvers, args.approvers),
        (&mut body.escalate_to, args.escalate_to),
    ] {
        if !given.is_empty() {
            *list = given;
        }
    }
    body.needed = args.needed.unwrap_or(body.needed);
    body.escalate_after_seconds = args.escalate_after.or(body.escalate_after_seconds);
    body.expires_after_seconds = args.expires_after.or(body.expires_after_seconds);
    args.set.put::<_, ApprovalRuleView>(NOUN, &body, global).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        assert_eq!(after(90_061), "after 1d 1h 1m 1s");
        assert_eq!(after(3_600), "after 1h");
    }
}

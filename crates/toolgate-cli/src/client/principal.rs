//! Users, agents and services: one kind of principal each, the same commands.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_api::{CreatePrincipalRequest, PrincipalView, UpdatePrincipalRequest};
use toolgate_core::id::PrincipalKind;

use super::ask::Confirm;
use super::change::{Facts, only_yes, show_answer, show_one};
use super::http::{Gate, PATIENCE};
use super::page::{Listing, words};
use super::sign_in::{self, InviteArgs};
use super::who::{self, parse_user_pattern};
use super::{Global, Stop, show};

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate agent list
  toolgate user list --json | jq -r '.principals[].id'";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate user show ada
  toolgate agent show agent:helper --json";

const CREATE_EXAMPLES: &str = "\
Examples:
  toolgate user create ada --title \"Ada Lovelace\" --role approver
  toolgate agent create helper --role member --acts-for ada
  toolgate service create nightly --rule crm.contacts.read";

const CREATE_USER_EXAMPLES: &str = "\
Examples:
  toolgate user create ada --title \"Ada Lovelace\" --role approver
  toolgate user create grace --rule crm.contacts.read";

const UPDATE_USER_EXAMPLES: &str = "\
Examples:
  toolgate user update ada --role approver --role auditor     exactly these roles
  toolgate user update ada --title \"Ada King\"";

const UPDATE_EXAMPLES: &str = "\
Examples:
  toolgate user update ada --role approver --role auditor     exactly these roles
  toolgate agent update helper --no-acts-for                  it works for nobody";

const DISABLE_EXAMPLES: &str = "\
Examples:
  toolgate agent disable helper
  toolgate user disable ada --yes";

const ENABLE_EXAMPLES: &str = "\
Examples:
  toolgate agent enable helper";

#[derive(Debug, Subcommand)]
pub(crate) enum PrincipalCommand {
    /// List all of this kind.
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show one.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name, or its id.
        name: String,
    },
    /// Make one. Nobody can give roles or rules that they do not hold themselves.
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// Change one. What is left out stays; a list that is given takes the place of the old one.
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(UpdateArgs),
    /// Let one in no more: its keys stop working and its sign-ins end.
    #[command(after_help = DISABLE_EXAMPLES)]
    Disable(DisableArgs),
    /// Let one in again.
    #[command(after_help = ENABLE_EXAMPLES)]
    Enable {
        /// Its name, or its id.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
#[command(mut_subcommand("create", |create| for_people(create).after_help(CREATE_USER_EXAMPLES)))]
#[command(mut_subcommand("update", |update| for_people(update).after_help(UPDATE_USER_EXAMPLES)))]
pub(crate) enum UserCommand {
    #[command(flatten)]
    Principal(PrincipalCommand),
    /// Make a link by which a user chooses a password. It works once, for 72 hours.
    #[command(after_help = sign_in::INVITE_EXAMPLES)]
    Invite(InviteArgs),
}

/// A user works for nobody else, so nothing is said of it.
fn for_people(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let hidden = matches!(arg.get_id().as_str(), "acts_for" | "no_acts_for");
        if hidden { arg.hide(true) } else { arg }
    })
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Its name, or its id.
    name: String,
    /// What people call it; left out, its name.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A role it has [may be repeated]
    #[arg(long = "role", value_name = "NAME")]
    roles: Vec<String>,
    /// An access rule of its own, such as crm.contacts.read; * is all of them [may be repeated]
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// A user it may work for: a name, an id, or the start of ids and * [may be repeated]
    #[arg(long, value_name = "USER", value_parser = parse_user_pattern)]
    acts_for: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Its name, or its id.
    name: String,
    #[command(flatten)]
    changes: Changes,
}

#[derive(Debug, Args)]
pub(crate) struct DisableArgs {
    /// Its name, or its id.
    name: String,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// What people call it.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A role it has [may be repeated]
    #[arg(long = "role", value_name = "NAME")]
    roles: Vec<String>,
    /// It has no role.
    #[arg(long, conflicts_with = "roles")]
    no_roles: bool,
    /// An access rule of its own [may be repeated]
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// It has no rule of its own.
    #[arg(long, conflicts_with = "rules")]
    no_rules: bool,
    /// A user it may work for [may be repeated]
    #[arg(long, value_name = "USER", value_parser = parse_user_pattern)]
    acts_for: Vec<String>,
    /// It works for nobody.
    #[arg(long, conflicts_with = "acts_for")]
    no_acts_for: bool,
}

impl Facts for PrincipalView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("title", self.title.clone()),
            ("roles", words(&self.roles)),
            ("rules", words(&self.rules)),
            ("works for", self.acts_for.join(", ")),
            ("disabled", only_yes(self.disabled)),
            ("made", show::moment(&self.created_at)),
        ]
    }
}

pub(super) async fn run_user(command: UserCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        UserCommand::Principal(command) => run(PrincipalKind::User, command, global).await,
        UserCommand::Invite(args) => sign_in::invite(args, global).await,
    }
}

pub(super) async fn run(
    kind: PrincipalKind,
    command: PrincipalCommand,
    global: &Global,
) -> Result<ExitCode, Stop> {
    match command {
        PrincipalCommand::List => list(kind, global).await,
        PrincipalCommand::Show { name } => {
            show_one::<PrincipalView>(&["principals", who::of_kind(kind, &name)?.as_str()], global).await
        }
        PrincipalCommand::Create(args) => create(kind, args, global).await,
        PrincipalCommand::Update(args) => {
            update(kind, &args.name, &args.changes.request()?, None, global).await
        }
        PrincipalCommand::Disable(DisableArgs { name, confirm }) => {
            let change = UpdatePrincipalRequest { disabled: Some(true), ..Default::default() };
            update(kind, &name, &change, Some(confirm), global).await
        }
        PrincipalCommand::Enable { name } => {
            let change = UpdatePrincipalRequest { disabled: Some(false), ..Default::default() };
            update(kind, &name, &change, None, global).await
        }
    }
}

async fn list(kind: PrincipalKind, global: &Global) -> Result<ExitCode, Stop> {
    let query = vec![("kind", who::word(kind).to_owned())];
    let listing = Listing { path: &["principals"], query, items: "principals" };
    let row = |principal: PrincipalView| {
        let state = if principal.disabled { "disabled" } else { "active" };
        let acts_for = words(&principal.acts_for);
        let mut row = vec![principal.id, state.to_owned(), words(&principal.roles), words(&principal.rules)];
        if kind != PrincipalKind::User {
            row.push(acts_for);
        }
        row.push(principal.title);
        row
    };
    let columns: &[&str] = match kind {
        PrincipalKind::User => &["id", "state", "roles", "rules", "title"],
        PrincipalKind::Agent | PrincipalKind::Service => {
            &["id", "state", "roles", "rules", "works for", "title"]
        }
    };
    listing.show(columns, &format!("there is no {}", who::word(kind)), row, global).await
}

async fn create(kind: PrincipalKind, args: CreateArgs, global: &Global) -> Result<ExitCode, Stop> {
    let id = who::of_kind(kind, &args.name)?;
    let gate = Gate::of(global)?;
    let body = CreatePrincipalRequest {
        id: id.to_string(),
        title: args.title,
        roles: args.roles,
        rules: args.rules,
        acts_for: args.acts_for,
    };
    let answer = gate.post(gate.url(&["api", "v1", "principals"], &[]), &body, PATIENCE).await?;
    let shown = show_answer::<PrincipalView>(&answer, global)?;
    global.talk(match kind {
        PrincipalKind::User => format!("hint: let them in with `toolgate user invite {}`", id.name()),
        PrincipalKind::Agent => format!(
            "hint: give it tools with `toolgate tool assign --agent {0} --toolset …`, and a key with `toolgate key \
             create --principal {id} --label …`",
            id.name()
        ),
        PrincipalKind::Service => {
            format!("hint: give it a key with `toolgate key create --principal {id} --label …`")
        }
    });
    Ok(shown)
}

async fn update(
    kind: PrincipalKind,
    name: &str,
    change: &UpdatePrincipalRequest,
    confirm: Option<Confirm>,
    global: &Global,
) -> Result<ExitCode, Stop> {
    let id = who::of_kind(kind, name)?;
    let gate = Gate::of(global)?;
    if let Some(confirm) = confirm {
        confirm.ask(&format!("Disable {id}? Its keys stop working."))?;
    }
    let answer = gate.patch(gate.url(&["api", "v1", "principals", id.as_str()], &[]), change).await?;
    show_answer::<PrincipalView>(&answer, global)
}

impl Changes {
    fn request(self) -> Result<UpdatePrincipalRequest, Stop> {
        let given = |list: Vec<String>, none: bool| (none || !list.is_empty()).then_some(list);
        let request = UpdatePrincipalRequest {
            title: self.title,
            roles: given(self.roles, self.no_roles),
            rules: given(self.rules, self.no_rules),
            acts_for: given(self.acts_for, self.no_acts_for),
            disabled: None,
        };
        let UpdatePrincipalRequest { title, roles, rules, acts_for, .. } = &request;
        if title.is_none() && roles.is_none() && rules.is_none() && acts_for.is_none() {
            return Err(Stop::usage("it is not said what to change")
                .hint("name what to change, such as --title, --role or --rule; see --help"));
        }
        Ok(request)
    }
}

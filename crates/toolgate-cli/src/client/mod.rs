//! The command line to a running gate: one file per noun, data on stdout, talk on stderr.

mod aliases;
mod amount;
mod answer;
mod approval;
mod approval_decided;
mod approval_rule;
mod approval_show;
mod approval_walk;
mod approval_watch;
mod ask;
mod assignment;
mod audit;
mod audit_list;
mod change;
mod connection;
mod content;
mod decide;
mod doctor;
mod doctor_upstream;
mod document;
mod editor;
mod entity;
mod explain;
mod fail;
mod file;
mod flags;
mod grant;
mod http;
mod invocation;
mod invocation_wait;
mod invoke;
mod key;
mod kill;
mod limit;
mod measure;
mod notification;
mod oauth;
mod options;
mod page;
mod policy;
mod policy_explain;
mod policy_save;
mod policy_try;
mod principal;
mod profile;
mod registry;
mod remember;
mod role;
mod schema;
mod secrets;
mod section;
mod session;
mod share;
mod show;
mod sign_in;
mod sse;
mod store;
mod tenant;
mod text;
mod tool;
mod toolset;
mod upstream;
mod upstream_set;
mod upstream_tool;
mod who;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolgate_core::id::PrincipalKind;

use fail::Stop;
pub(crate) use http::RawGate;

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    // Read from the environment by hand: clap would show `--url` in every usage line of whoever has set it.
    /// The gate to talk to [env: TOOLGATE_URL] [default: http://127.0.0.1:8787]
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) url: Option<String>,
    /// Read the key from standard input instead of the environment variable TOOLGATE_KEY.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) key_stdin: bool,
    /// Print what the gate answered as JSON: pretty on a terminal, else as it came.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Say nothing but data and errors.
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Say which requests are made and how long they take.
    #[arg(long, short, global = true, help_heading = "Global options", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

impl Global {
    /// Says something to the person, unless they asked for quiet.
    fn talk(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            crate::print::talk(text);
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// See and call tools.
    #[command(subcommand, arg_required_else_help = true)]
    Tool(tool::ToolCommand),
    /// See, stop and decide on calls.
    #[command(subcommand, arg_required_else_help = true)]
    Invocation(invocation::InvocationCommand),
    /// What waits for you: preview, approve, edit, reject, ask back, pass on.
    #[command(subcommand, arg_required_else_help = true)]
    Approval(approval::ApprovalCommand),
    /// Who has to decide on which calls, how many, and in what time.
    #[command(subcommand, arg_required_else_help = true)]
    ApprovalRule(approval_rule::ApprovalRuleCommand),
    /// What people let run without asking.
    #[command(subcommand, arg_required_else_help = true)]
    Grant(grant::GrantCommand),
    /// What is told outside, and whether it arrives.
    #[command(subcommand, arg_required_else_help = true)]
    Notification(notification::NotificationCommand),
    /// Files that tools read.
    #[command(subcommand, arg_required_else_help = true)]
    File(file::FileCommand),
    /// Threads of work and their live events.
    #[command(subcommand, arg_required_else_help = true)]
    Session(session::SessionCommand),
    /// Check and export the record.
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::AuditCommand),
    /// The walls between organisations.
    #[command(subcommand, arg_required_else_help = true)]
    Tenant(tenant::TenantCommand),
    /// People.
    #[command(subcommand, arg_required_else_help = true)]
    User(principal::UserCommand),
    /// Models with tools.
    #[command(subcommand, arg_required_else_help = true)]
    Agent(principal::PrincipalCommand),
    /// Other programs.
    #[command(subcommand, arg_required_else_help = true)]
    Service(principal::PrincipalCommand),
    /// What programs come in with.
    #[command(subcommand, arg_required_else_help = true)]
    Key(key::KeyCommand),
    /// Named sets of access rules.
    #[command(subcommand, arg_required_else_help = true)]
    Role(role::RoleCommand),
    /// Who may call what: check, save, compare, explain, try.
    #[command(subcommand, arg_required_else_help = true)]
    Policy(policy::PolicyCommand),
    /// Named selections of tools.
    #[command(subcommand, arg_required_else_help = true)]
    Toolset(toolset::ToolsetCommand),
    /// What fields of forms can name: people, agents, tools and more.
    #[command(subcommand, arg_required_else_help = true)]
    Entity(entity::EntityCommand),
    /// MCP servers that the gate calls, and the review of their tools.
    #[command(subcommand, arg_required_else_help = true)]
    Upstream(upstream::UpstreamCommand),
    /// Accounts at outside services that tools use.
    #[command(subcommand, arg_required_else_help = true)]
    Connection(connection::ConnectionCommand),
    /// What the stored secrets are sealed with.
    #[command(subcommand, arg_required_else_help = true)]
    Secrets(secrets::SecretsCommand),
    /// Applications that act for people, and what people let them do.
    #[command(subcommand, arg_required_else_help = true)]
    Oauth(oauth::OauthCommand),
    /// What holds for an agent's use of its tools; it can only tighten.
    #[command(subcommand, arg_required_else_help = true)]
    Profile(profile::ProfileCommand),
    /// How often, how many at once and how dear.
    #[command(subcommand, arg_required_else_help = true)]
    Limit(limit::LimitCommand),
    /// Switches that stop calls at once.
    #[command(subcommand, arg_required_else_help = true)]
    Kill(kill::KillCommand),
    /// Who you are to the gate.
    #[command(after_help = sign_in::ME_EXAMPLES)]
    Me,
    /// Check a setup, one line for each thing that can be wrong.
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorArgs),
    /// Explain an error code.
    #[command(after_help = explain::EXPLAIN_EXAMPLES)]
    Explain {
        /// The code, as errors show it in brackets.
        code: String,
    },
    /// Print the OpenAPI document of the REST routes. Needs no server.
    #[command(after_help = explain::OPENAPI_EXAMPLES)]
    Openapi,
    /// Print a completion script for a shell.
    #[command(after_help = explain::COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Runs one command and says how it ended.
pub(crate) async fn run(command: ClientCommand, global: &Global) -> ExitCode {
    let ended = match command {
        ClientCommand::Tool(command) => tool::run(command, global).await,
        ClientCommand::Invocation(command) => invocation::run(command, global).await,
        ClientCommand::Approval(command) => approval::run(command, global).await,
        ClientCommand::ApprovalRule(command) => approval_rule::run(command, global).await,
        ClientCommand::Grant(command) => grant::run(command, global).await,
        ClientCommand::Notification(command) => notification::run(command, global).await,
        ClientCommand::File(command) => file::run(command, global).await,
        ClientCommand::Session(command) => session::run(command, global).await,
        ClientCommand::Audit(command) => audit::run(command, global).await,
        ClientCommand::Tenant(command) => tenant::run(command, global).await,
        ClientCommand::User(command) => principal::run_user(command, global).await,
        ClientCommand::Agent(command) => principal::run(PrincipalKind::Agent, command, global).await,
        ClientCommand::Service(command) => principal::run(PrincipalKind::Service, command, global).await,
        ClientCommand::Key(command) => key::run(command, global).await,
        ClientCommand::Role(command) => role::run(command, global).await,
        ClientCommand::Policy(command) => policy::run(command, global).await,
        ClientCommand::Toolset(command) => toolset::run(command, global).await,
        ClientCommand::Entity(command) => entity::run(command, global).await,
        ClientCommand::Upstream(command) => upstream::run(command, global).await,
        ClientCommand::Connection(command) => connection::run(command, global).await,
        ClientCommand::Secrets(command) => secrets::run(command, global).await,
        ClientCommand::Oauth(command) => oauth::run(command, global).await,
        ClientCommand::Profile(command) => profile::run(command, global).await,
        ClientCommand::Limit(command) => limit::run(command, global).await,
        ClientCommand::Kill(command) => kill::run(command, global).await,
        ClientCommand::Me => sign_in::me(global).await,
        ClientCommand::Doctor(args) => doctor::run(&args, global).await,
        ClientCommand::Explain { code } => explain::explain(&code),
        ClientCommand::Openapi => explain::openapi(),
        ClientCommand::Completions { shell } => Ok(explain::completions(shell)),
    };
    ended.unwrap_or_else(|stop: Stop| stop.report(global.json))
}

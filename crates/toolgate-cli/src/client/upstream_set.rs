//! Changes an MCP server that is written down, without saying again what stays.

use std::process::ExitCode;

use clap::Args;
use toolgate_api::{PutUpstreamRequest, TransportView, UpstreamView};
use toolgate_core::id::Slug;

use super::change::show_answer;
use super::http::Gate;
use super::upstream::{NOUN, pair, refresh};
use super::{Global, Stop};

pub(super) const EXAMPLES: &str = "\
What moves the server (its address, its program, its arguments, headers and variables) puts its accepted tools on hold
until they are reviewed again: what was accepted was accepted there.

Examples:
  toolgate upstream set github --concurrency 4 --connect-timeout-ms 5000
  toolgate upstream set github --auth per_user
  toolgate upstream set github --questions ask
  toolgate upstream set github --at https://mcp.example.com/v2/mcp
  toolgate upstream set files -- mcp-server-filesystem /srv/shared /srv/more
  toolgate upstream set notes --env LOG_LEVEL=debug --unset OLD_FLAG";

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name.
    name: Slug,
    /// Where an HTTP server is now.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    at: Option<String>,
    /// A header to add or change, name=value; no secrets [may be repeated]
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "command")]
    headers: Vec<(String, String)>,
    /// A variable of the process to add or change, name=value; no secrets [may be repeated]
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "at")]
    env: Vec<(String, String)>,
    /// A header or variable to take away [may be repeated]
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    /// What people call it.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// How it is told who we are: one connection for all, or each person's own.
    #[arg(long, value_parser = ["none", "shared", "per_user"])]
    auth: Option<String>,
    /// How long connecting and listing may take, in milliseconds.
    #[arg(long, value_name = "MS")]
    connect_timeout_ms: Option<u64>,
    /// The most calls at once on one node.
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<u32>,
    /// What becomes of questions it asks in the middle of a call: refuse them, or ask the person behind the call.
    #[arg(long, value_parser = ["refuse", "ask"])]
    questions: Option<String>,
    /// Do not connect to it now, even if it moved.
    #[arg(long)]
    no_look: bool,
    /// The program and its arguments, after --. It is never started by a shell.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Whether a change moves the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Yes,
    No,
}

impl SetArgs {
    /// Reads the server, changes what was named, and writes it if nobody else did in between.
    pub(super) async fn set(self, global: &Global) -> Result<ExitCode, Stop> {
        let gate = Gate::of(global)?;
        let url = gate.url(&["api", "v1", NOUN.many, self.name.as_str()], &[]);
        let before = gate.get(url.clone()).await?.read::<UpstreamView>()?;
        let (name, no_look) = (self.name.clone(), self.no_look);
        let (body, moved) = self.changed(before.upstream)?;
        let written = gate.put(url, &body, Some(before.revision)).await;
        let answer = written.map_err(|stop| match stop.code() {
            "conflict" => stop.hint("someone else changed it meanwhile: look at it, then try again"),
            _ => stop,
        })?;
        global.talk(format_args!("the upstream `{name}` is written"));
        let held = before.tools.get("accepted").copied().unwrap_or_default();
        if moved == Moved::Yes && held > 0 {
            global.talk(format_args!(
                "it moved: its tools are on hold ({held}) until they are reviewed: `toolgate upstream review`"
            ));
        }
        if moved == Moved::No || no_look || !body.enabled {
            return show_answer::<UpstreamView>(&answer, global);
        }
        refresh(&name, global).await
    }

    fn changed(self, before: PutUpstreamRequest) -> Result<(PutUpstreamRequest, Moved), Stop> {
        let seen = serde_json::to_value(&before.transport).ok();
        let transport = self.transport(before.transport.clone())?;
        let moved = if serde_json::to_value(&transport).ok() == seen { Moved::No } else { Moved::Yes };
        let body = PutUpstreamRequest {
            title: self.title.unwrap_or(before.title),
            transport,
            enabled: before.enabled,
            auth: self.auth.unwrap_or(before.auth),
            connect_timeout_ms: self.connect_timeout_ms.unwrap_or(before.connect_timeout_ms),
            concurrency: self.concurrency.unwrap_or(before.concurrency),
            questions: self.questions.unwrap_or(before.questions),
        };
        Ok((body, moved))
    }

    /// The way to the server: the one before with what was named, or another kind.
    fn transport(&self, before: TransportView) -> Result<TransportView, Stop> {
        let mut words = self.command.iter().cloned();
        let mut transport = match (before, self.at.clone(), words.next()) {
            (TransportView::Http { headers, .. }, Some(url), _) => TransportView::Http { url, headers },
            (TransportView::Stdio { .. }, Some(url), _) => {
                TransportView::Http { url, headers: Default::default() }
            }
            (TransportView::Stdio { env, .. }, None, Some(command)) => {
                TransportView::Stdio { command, args: words.collect(), env }
            }
            (TransportView::Http { .. }, None, Some(command)) => {
                TransportView::Stdio { command, args: words.collect(), env: Default::default() }
            }
            (before, None, None) => before,
        };
        let (named, other, what) = match &mut transport {
            TransportView::Http { headers, .. } => {
                headers.extend(self.headers.iter().cloned());
                (headers, &self.env, "it is reached at an address, and takes --header, not --env")
            }
            TransportView::Stdio { env, .. } => {
                env.extend(self.env.iter().cloned());
                (env, &self.headers, "it is a program, and takes --env, not --header")
            }
        };
        if !other.is_empty() {
            return Err(Stop::usage(what));
        }
        for name in &self.unset {
            if named.remove(name).is_none() {
                return Err(Stop::usage(format!("there is no header or variable `{name}` to unset")));
            }
        }
        Ok(transport)
    }
}

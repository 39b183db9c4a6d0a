//! The review of MCP servers' tools.

use std::process::ExitCode;

use clap::Args;
use serde_json::Value;
use toolgate_api::{AcceptUpstreamToolRequest, RefuseUpstreamToolRequest, UpstreamToolView};
use toolgate_core::id::{Slug, ToolName};

use super::ask::Confirm;
use super::change::lines;
use super::http::{Answer, Gate, PATIENCE};
use super::page::{Listing, of};
use super::{Global, Stop, show};
use crate::print;

const PATH: &str = "upstream-tools";

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Of one server.
    name: Option<Slug>,
    /// Only those that stand so.
    #[arg(long, value_parser = ["new", "changed", "accepted", "refused", "gone"])]
    state: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The tools.
    #[arg(value_name = "ID", required_unless_present = "all_of", conflicts_with = "all_of")]
    ids: Vec<ToolName>,
    /// Everything of this server that waits for review. What has something to note or can't be accepted is told and left
    /// out.
    #[arg(long, value_name = "SERVER")]
    all_of: Option<Slug>,
    /// What a call does to state.
    #[arg(long, value_parser = ["read", "mutate", "destructive"])]
    effect: String,
    /// What leaves the house.
    #[arg(long, value_parser = ["none", "read_only", "write"])]
    egress: String,
    /// The same call twice is the same as once.
    #[arg(long)]
    idempotent: bool,
    /// An output field that may be shown; left out, all [may be repeated]
    #[arg(long = "show", value_name = "PATH")]
    allow: Vec<String>,
    /// An access rule the caller needs [may be repeated]
    #[arg(long = "permission", value_name = "RULE")]
    permissions: Vec<String>,
    /// Every call waits for a person.
    #[arg(long)]
    always_ask: bool,
    /// How long a call may run, in milliseconds.
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,
    /// How large a result may be, in bytes; left out, 1 MiB of words and structure and 8 MiB with pictures, sounds and
    /// files.
    #[arg(long, value_name = "BYTES")]
    max_result_bytes: Option<u64>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct RefuseArgs {
    /// The tools.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<ToolName>,
    #[command(flatten)]
    confirm: Confirm,
}

impl ToolsArgs {
    pub(super) async fn list(self, global: &Global) -> Result<ExitCode, Stop> {
        let mut query = Vec::new();
        query.extend(self.name.map(|name| ("upstream", name.to_string())));
        query.extend(self.state.map(|state| ("state", state)));
        let listing = Listing { path: &[PATH], query, items: "upstream_tools" };
        listing.show(&COLUMNS, "there is no such tool", row, global).await
    }
}

const COLUMNS: [&str; 5] = ["id", "state", "effect", "egress", "to note"];

fn row(found: UpstreamToolView) -> Vec<String> {
    let decided = |word: fn(&AcceptUpstreamToolRequest) -> &String| {
        found.decision.as_ref().map_or_else(|| "-".to_owned(), |decision| word(decision).clone())
    };
    vec![
        found.id.clone(),
        found.state.clone(),
        decided(|decision| &decision.effect),
        decided(|decision| &decision.egress),
        match found.warnings.len() {
            0 => "-".to_owned(),
            _ => show::shortened(&found.warnings.join("; "), 80),
        },
    ]
}

async fn waiting(gate: &Gate, upstream: Option<&Slug>) -> Result<Vec<Value>, Stop> {
    let mut all = Vec::new();
    for state in ["changed", "new"] {
        let mut query = vec![("state", state.to_owned())];
        query.extend(upstream.map(|name| ("upstream", name.to_string())));
        all.extend(Listing { path: &[PATH], query, items: "upstream_tools" }.read_all(gate).await?);
    }
    Ok(all)
}

/// What waits, or one tool with everything a reviewer has to know.
pub(super) async fn review(id: Option<ToolName>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let Some(id) = id else {
        let listing = Listing { path: &[PATH], items: "upstream_tools", ..Listing::default() };
        let all = waiting(&gate, None).await?;
        return listing.show_these(all, &COLUMNS, "nothing waits for review", row, global);
    };
    let answer = read(&gate, &id).await?;
    if global.json {
        show::json_text(&answer.text);
    } else {
        print::data(told(&answer.read()?));
    }
    Ok(ExitCode::SUCCESS)
}

async fn read(gate: &Gate, id: &ToolName) -> Result<Answer, Stop> {
    gate.get(gate.url(&["api", "v1", PATH, id.as_str()], &[])).await
}

/// Everything below the facts is the server's own word, made harmless for a terminal.
fn told(found: &UpstreamToolView) -> String {
    let facts = lines(&[
        ("id", found.id.clone()),
        ("upstream", found.upstream.clone()),
        ("state", found.state.clone()),
        ("digest", found.digest.clone().unwrap_or_default()),
        ("can't be used", found.unusable.clone().unwrap_or_default()),
    ]);
    let mut text = facts;
    for warning in &found.warnings {
        text += &format!("\n! {}", show::plain(warning));
    }
    if let Some(diff) = found.diff.as_ref().filter(|diff| !diff.is_empty()) {
        text += "\n\nWhat the server says, against what was accepted (its own words, untrusted):\n";
        text += &diff.lines().map(show::plain).collect::<Vec<_>>().join("\n");
    }
    text
}

impl AcceptArgs {
    pub(super) async fn accept(self, global: &Global) -> Result<ExitCode, Stop> {
        let gate = Gate::of(global)?;
        let ids: Vec<ToolName> = match &self.all_of {
            None => self.ids.clone(),
            Some(server) => waiting(&gate, Some(server))
                .await?
                .into_iter()
                .map(|item| {
                    let found: UpstreamToolView = of(item)?;
                    found.id.parse().map_err(|_| Stop::failed("the gate answered a strange id"))
                })
                .collect::<Result<_, _>>()?,
        };
        if ids.is_empty() {
            global.talk("nothing waits for review");
        }
        let (all, mut left_out, mut failed) = (ids.len(), Vec::new(), false);
        for id in ids {
            let why = match self.accept_one(&gate, &id, global).await {
                Ok(Done::Accepted) => continue,
                Ok(Done::LeftOut(why)) => why,
                // One tool's fault is no reason to leave the others waiting; the gate's or the key's is.
                Err(stop) if self.all_of.is_some() && is_about_the_tool(&stop) => {
                    failed = true;
                    stop.message().to_owned()
                }
                Err(stop) => return Err(stop),
            };
            global.talk(format_args!("`{id}` is left out: {}", show::plain(&why)));
            left_out.push(id);
        }
        if !left_out.is_empty() {
            // As `accept` takes them, for whoever has looked.
            let ids = left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            global.talk(format_args!("{} of {all} are accepted; left out: {ids}", all - left_out.len()));
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    async fn accept_one(&self, gate: &Gate, id: &ToolName, global: &Global) -> Result<Done, Stop> {
        let found: UpstreamToolView = read(gate, id).await?.read()?;
        let hints = found.offer.as_ref().map(|offer| &offer["annotations"]);
        let writes =
            hints.is_some_and(|hints| hints["readOnlyHint"] == false || hints["destructiveHint"] == true);
        if self.all_of.is_some() && self.effect == "read" && writes {
            let why = "its own server says that it writes; accept it by its id";
            return Ok(Done::LeftOut(why.to_owned()));
        }
        // One decision for many is for those that nothing strikes in: the rest are for someone to read.
        if self.all_of.is_some() && !found.warnings.is_empty() {
            let why = format!("{}; look at it and accept it by its id", found.warnings.join("; "));
            return Ok(Done::LeftOut(why));
        }
        if self.confirm.asks() {
            global.talk(told(&found));
        }
        self.confirm.ask(&format!("Accept {id} as {} with egress {}?", self.effect, self.egress))?;
        let Some(digest) = found.digest else {
            return Err(Stop::failed(format!("its server does not have `{id}` any more")));
        };
        let body = AcceptUpstreamToolRequest {
            digest,
            effect: self.effect.clone(),
            egress: self.egress.clone(),
            idempotent: self.idempotent,
            redaction_allow: if self.allow.is_empty() { vec!["*".to_owned()] } else { self.allow.clone() },
            permissions: self.permissions.clone(),
            always_ask: self.always_ask,
            timeout_ms: self.timeout_ms,
            max_result_bytes: self.max_result_bytes,
        };
        let url = gate.url(&["api", "v1", PATH, id.as_str(), "accept"], &[]);
        let answer = gate.post(url, &body, PATIENCE).await?;
        if global.json {
            show::json_text(&answer.text);
        }
        global.talk(format_args!("`{id}` is accepted"));
        Ok(Done::Accepted)
    }
}

/// What came of one tool among many.
enum Done {
    Accepted,
    LeftOut(String),
}

/// Whether the gate said no to this tool as it is, rather than to whoever asks.
fn is_about_the_tool(stop: &Stop) -> bool {
    matches!(stop.code(), "bad_request" | "conflict" | "not_found")
}

impl RefuseArgs {
    pub(super) async fn refuse(self, global: &Global) -> Result<ExitCode, Stop> {
        let gate = Gate::of(global)?;
        for id in self.ids {
            let found: UpstreamToolView = read(&gate, &id).await?.read()?;
            let Some(digest) = found.digest else {
                return Err(Stop::failed(format!("its server does not have `{id}` any more")));
            };
            self.confirm.ask(&format!("Turn {id} down?"))?;
            let url = gate.url(&["api", "v1", PATH, id.as_str(), "refuse"], &[]);
            let answer = gate.post(url, &RefuseUpstreamToolRequest { digest }, PATIENCE).await?;
            if global.json {
                show::json_text(&answer.text);
            }
            global.talk(format_args!("`{id}` is turned down"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

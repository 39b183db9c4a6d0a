//! The record as a whole: check it, export it. Listing it has its own file.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::json;
use toolgate_api::{AuditReportView, BrokenRecordView};

use super::audit_list::{self, ListArgs};
use super::fail::Exit;
use super::http::Gate;
use super::store::StoreChoice;
use super::{Global, Stop, show};
use crate::print;
use crate::serve::StoreArgs;

const VERIFY_EXAMPLES: &str = "\
Examples:
  toolgate audit verify                    ask the running gate
  toolgate audit verify --data data        read the embedded store directly
  toolgate audit verify --store-from-env   read the store that TOOLGATE_DATABASE_URL names

Exit codes: 0 the record is as it was written, 1 it is not, or could not be read";

const EXPORT_EXAMPLES: &str = "\
Examples:
  toolgate audit export --output audit.jsonl
  toolgate audit export | jq -r .type | sort | uniq -c";

/// Checking a large record takes its time.
const VERIFY_PATIENCE: Duration = Duration::from_secs(3600);

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List events, newest first, and follow them as they come.
    #[command(after_help = audit_list::EXAMPLES)]
    List(Box<ListArgs>),
    /// Check every chain, every anchor, and every call against its events.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Export all events as JSON lines.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export {
        /// The file to write; it must not exist yet. Without one the events go to standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    store: StoreChoice,
}

pub(super) async fn run(command: AuditCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        AuditCommand::List(args) => audit_list::run(&args, global).await,
        AuditCommand::Verify(args) => match args.store.args() {
            Some(store) => verify_store(&store, global).await,
            None => verify_by_gate(global).await,
        },
        AuditCommand::Export { output } => export(output, global).await,
    }
}

async fn verify_by_gate(global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "audit", "verify"], &[]);
    let answer = gate.post(url, &json!({}), VERIFY_PATIENCE).await?;
    let report: AuditReportView = answer.read()?;
    if global.json {
        show::json_text(&answer.text);
    }
    Ok(show_report(&report, global))
}

async fn verify_store(store: &StoreArgs, global: &Global) -> Result<ExitCode, Stop> {
    let opened = store.open_to_read().await;
    let store = opened.map_err(|cause| {
        Stop::failed(format!("{cause:#}"))
            .hint("name the folder or the database that `toolgate serve` was given")
    })?;
    let found = toolgate_app::verify(store.as_ref()).await.map_err(anyhow::Error::from)?;
    let report = AuditReportView {
        ok: found.first_broken.is_none(),
        sessions: found.sessions,
        events: found.events,
        anchors: found.anchors,
        invocations: found.invocations,
        first_broken: found.first_broken.map(|broken| BrokenRecordView {
            session_id: broken.session.map(|id| id.to_string()),
            seq: broken.seq,
            call_id: broken.invocation.map(|id| id.to_string()),
            what: broken.what,
        }),
    };
    if global.json {
        show::json(&serde_json::to_value(&report).map_err(anyhow::Error::from)?);
    }
    Ok(show_report(&report, global))
}

fn show_report(report: &AuditReportView, global: &Global) -> ExitCode {
    let counts = [
        ("sessions", report.sessions),
        ("events", report.events),
        ("anchors", report.anchors),
        ("invocations", report.invocations),
    ];
    if !global.json {
        for (what, count) in counts {
            print::data(format_args!("{what:<12} {count}"));
        }
    }
    let Some(broken) = &report.first_broken else {
        global.talk("the record is as it was written");
        return ExitCode::SUCCESS;
    };
    let session = broken.session_id.as_deref().unwrap_or("-");
    if !global.json {
        print::data(format_args!("{:<12} session {session}, number {}", "broken at", broken.seq));
        if let Some(call) = &broken.call_id {
            print::data(format_args!("{:<12} {call}", "call"));
        }
    }
    print::talk(format_args!(
        "error: the record was changed after it was written: session {session}, number {}: {}",
        broken.seq,
        show::plain(&broken.what)
    ));
    print::talk("hint: keep the store as it is, and compare it with a backup or an earlier export");
    Exit::Failed.into()
}

async fn export(output: Option<PathBuf>, global: &Global) -> Result<ExitCode, Stop> {
    let gate = Gate::of(global)?;
    let request = gate.request(Method::GET, gate.url(&["api", "v1", "audit", "export"], &[]));
    let mut response = gate.stream(request).await?;
    let mut file = match &output {
        None => None,
        Some(path) => Some(File::create_new(path).map_err(|cause| {
            Stop::failed(format!("`{}` can't be written: {cause}", path.display())).hint("name a new file")
        })?),
    };
    let (mut events, mut whole) = (0_usize, true);
    while let Some(piece) = response.chunk().await.map_err(|cause| gate.unreachable(&cause))? {
        events += piece.iter().filter(|byte| **byte == b'\n').count();
        whole = piece.ends_with(b"\n");
        match &mut file {
            Some(file) => file.write_all(&piece).map_err(|cause| {
                Stop::failed(format!("the file can't be written: {cause}")).hint("is the disk full?")
            })?,
            // A reader that has gone away has what it wanted.
            None if show::stream(&piece).is_err() => return Ok(ExitCode::SUCCESS),
            None => {}
        }
    }
    if let Some(file) = &file {
        file.sync_all().map_err(|cause| Stop::failed(format!("the file can't be written: {cause}")))?;
    }
    if !whole {
        return Err(Stop::failed("the export broke off in the middle of an event").hint("try it again"));
    }
    global.talk(format_args!("{events} events"));
    Ok(ExitCode::SUCCESS)
}

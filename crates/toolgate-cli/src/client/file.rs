//! Files that tools read: send, list, look at, fetch, remove.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use reqwest::Method;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use toolgate_api::FileView;

use super::ask::Confirm;
use super::change::{Facts, show_answer, show_gone, show_one};
use super::http::{Answer, Gate};
use super::page::Listing;
use super::{Global, Stop, show};

/// How long a file may take on its way: as long as a gate waits for it.
const ON_ITS_WAY: Duration = Duration::from_secs(10 * 60);

const PUT_EXAMPLES: &str = "\
Examples:
  toolgate file put q3.csv
  toolgate file put /tmp/export --name q3.csv --type text/csv
  toolgate tool invoke core__profile_csv --file file=q3.csv    sends it and calls the tool";

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate file list
  toolgate file list --all
  toolgate file list --owner user:ada";

const SHOW_EXAMPLES: &str = "\
Examples:
  toolgate file show fil_0199c0de0199c0de0199c0de0199c0de";

const GET_EXAMPLES: &str = "\
Examples:
  toolgate file get fil_0199c0de0199c0de0199c0de0199c0de -o q3.csv
  toolgate file get fil_0199c0de0199c0de0199c0de0199c0de | head";

const REMOVE_EXAMPLES: &str = "\
Examples:
  toolgate file remove fil_0199c0de0199c0de0199c0de0199c0de --yes";

#[derive(Debug, Subcommand)]
pub(crate) enum FileCommand {
    /// Send a file. Its id is what a tool's input names it by.
    #[command(after_help = PUT_EXAMPLES)]
    Put(PutArgs),
    /// List your files, newest first.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Of whom; other people's are for who manages files.
        #[arg(long, value_name = "PRINCIPAL", conflicts_with = "all")]
        owner: Option<String>,
        /// Everybody's, for who manages files.
        #[arg(long)]
        all: bool,
    },
    /// Show what is known of a file.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The file's id.
        id: String,
    },
    /// Fetch a file's bytes.
    #[command(after_help = GET_EXAMPLES)]
    Get {
        /// The file's id.
        id: String,
        /// Where to write it; nothing that is there is overwritten. Without this, to standard output.
        #[arg(long, short, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// Remove a file for good. A call that waits and names it will fail.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove {
        /// The file's id.
        id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The file.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// What to call it; without this, as it is called here.
    #[arg(long)]
    name: Option<String>,
    /// Its media type, such as text/csv; without this, by its ending.
    #[arg(long = "type", value_name = "TYPE")]
    media_type: Option<String>,
}

impl Facts for FileView {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.clone()),
            ("name", self.name.clone()),
            ("type", self.media_type.clone()),
            ("bytes", self.size.to_string()),
            ("sha256", self.sha256.clone()),
            ("owner", self.owner.clone()),
            ("sent by", if self.sent_by == self.owner { String::new() } else { self.sent_by.clone() }),
            ("sent", show::moment(&self.created_at)),
            ("goes", show::moment(&self.expires_at)),
        ]
    }
}

pub(super) async fn run(command: FileCommand, global: &Global) -> Result<ExitCode, Stop> {
    match command {
        FileCommand::Put(args) => {
            let gate = Gate::of(global)?;
            let answer = send(&gate, &args.path, args.name.as_deref(), args.media_type.as_deref()).await?;
            show_answer::<FileView>(&answer, global)
        }
        FileCommand::List { owner, all } => list(owner, all, global).await,
        FileCommand::Show { id } => show_one::<FileView>(&["files", &id], global).await,
        FileCommand::Get { id, output } => get(&id, output.as_deref(), global).await,
        FileCommand::Remove { id, confirm } => {
            let gate = Gate::of(global)?;
            confirm.ask(&format!("Remove {} for good?", show::plain(&id)))?;
            let answer = gate.delete(gate.url(&["api", "v1", "files", &id], &[])).await?;
            Ok(show_gone(&answer, &format!("{id} is gone"), global))
        }
    }
}

/// Sends a file; what the gate answers is what is known of it there.
pub(super) async fn send(
    gate: &Gate,
    path: &Path,
    name: Option<&str>,
    media_type: Option<&str>,
) -> Result<Answer, Stop> {
    let unread = |cause: std::io::Error| {
        Stop::usage(format!("`{}` can't be read: {cause}", show::plain(&path.to_string_lossy())))
            .hint("name a file that is there")
    };
    let file = tokio::fs::File::open(path).await.map_err(unread)?;
    let about = file.metadata().await.map_err(unread)?;
    if !about.is_file() {
        return Err(Stop::usage(format!("`{}` is not a file", show::plain(&path.to_string_lossy())))
            .hint("send files one by one"));
    }
    let own_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.unwrap_or(&own_name);
    let url = gate.url(&["api", "v1", "files"], &[("name", name.to_owned())]);
    let request = gate
        .request(Method::POST, url)
        .header(CONTENT_TYPE, media_type.unwrap_or_else(|| by_ending(name)))
        .header(CONTENT_LENGTH, about.len())
        .body(file)
        .timeout(ON_ITS_WAY);
    gate.send(request).await?.ok()
}

async fn list(owner: Option<String>, all: bool, global: &Global) -> Result<ExitCode, Stop> {
    let mut query: Vec<(&str, String)> = owner.into_iter().map(|owner| ("owner", owner)).collect();
    query.extend(all.then(|| ("all", "true".to_owned())));
    let listing = Listing { path: &["files"], query, items: "files" };
    let row = |view: FileView| {
        let size = view.size.to_string();
        vec![view.id, size, view.media_type, show::moment(&view.expires_at), view.owner, view.name]
    };
    let columns = ["id", "bytes", "type", "goes", "owner", "name"];
    listing.show(&columns, "no files are kept here", row, global).await
}

async fn get(id: &str, output: Option<&Path>, global: &Global) -> Result<ExitCode, Stop> {
    if output.is_none() && std::io::stdout().is_terminal() {
        return Err(Stop::usage("a file's bytes are not for a terminal")
            .hint("name where to write it with -o PATH, or pipe it on"));
    }
    let gate = Gate::of(global)?;
    let url = gate.url(&["api", "v1", "files", id, "content"], &[]);
    let mut response = gate.stream(gate.request(Method::GET, url).timeout(ON_ITS_WAY)).await?;
    let mut to: Box<dyn Write> = match output {
        None => Box::new(std::io::stdout()),
        Some(path) => Box::new(std::fs::File::create_new(path).map_err(|cause| {
            Stop::usage(format!("`{}` can't be written: {cause}", show::plain(&path.to_string_lossy())))
                .hint("name a file that is not there yet")
        })?),
    };
    let mut bytes = 0;
    while let Some(part) = response.chunk().await.map_err(|cause| gate.unreachable(&cause))? {
        to.write_all(&part).map_err(|cause| Stop::failed(format!("it can't be written: {cause}")))?;
        bytes += part.len();
    }
    to.flush().map_err(|cause| Stop::failed(format!("it can't be written: {cause}")))?;
    if let Some(path) = output {
        global.talk(format_args!("{bytes} bytes in {}", show::plain(&path.to_string_lossy())));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a file most likely is. The gate only shows it.
fn by_ending(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _ => "application/octet-stream",
    }
}

/// A field of a tool's input and the file it is to name: `--file FIELD=PATH`.
pub(super) fn field_and_path(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((field, path)) if !field.is_empty() && !path.is_empty() => Ok((field.to_owned(), path.into())),
        _ => Err("it must be FIELD=PATH, such as `file=q3.csv`".to_owned()),
    }
}

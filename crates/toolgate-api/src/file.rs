//! Files on the wire: what is known of them. Their bytes have routes of their own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FileView {
    /// Its id: how a tool's input names it.
    #[schema(pattern = "^fil_[0-9a-f]{32}$")]
    pub id: String,
    /// What it is called, without path and invisible characters.
    #[schema(example = "q3.csv")]
    pub name: String,
    /// What its sender said it is. It is never served as this.
    #[schema(example = "text/csv")]
    pub media_type: String,
    /// How many bytes.
    pub size: u64,
    /// The SHA-256 of its bytes.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
    /// Whose it is.
    #[schema(example = "user:ada@example.com")]
    pub owner: String,
    /// Who sent it: an agent or service may do so for a person.
    pub sent_by: String,
    /// Whether its own bytes show it to be a picture (PNG, JPEG, GIF, WebP): only those are shown in place.
    pub image: bool,
    /// When it was sent.
    pub created_at: String,
    /// When it goes.
    pub expires_at: String,
}

/// A page of files.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FileListView {
    /// The files, newest first.
    pub files: Vec<FileView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The largest file that may be sent.
    pub max_bytes: u64,
}

/// The files a call names.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InvocationFilesView {
    /// Those that are still there.
    pub files: Vec<FileView>,
}

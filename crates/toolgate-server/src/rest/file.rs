//! Files: send, list, look at, fetch, remove.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http_body_util::BodyExt;
use serde::Deserialize;
use toolgate_api::{DoorCode, ErrorBody, FileListView, FileView, InvocationFilesView, rfc3339};
use toolgate_app::{AppError, FilesOf, Upload};
use toolgate_core::accept::Accept;
use toolgate_core::file::{File, PLAIN_BYTES, Picture};
use toolgate_core::id::FileId;
use utoipa::IntoParams;

use super::invocation::invocation_id;
use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, PathId};

/// How long a file may take to arrive in all. That nothing comes for a while ends it sooner.
const ARRIVES_WITHIN: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// How much is still taken in, and for how long, of a file that was refused.
const HEARD_OUT_BYTES: usize = 64 << 20;
const HEARD_OUT_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);
/// The longest name that is looked at.
const MOST_NAME_BYTES: usize = 4096;
/// The longest list of kinds that is looked at.
const MOST_ACCEPT_BYTES: usize = 4096;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewName {
    /// What it is called. A path before it is cut off, and so is what nobody sees.
    #[param(min_length = 1, max_length = 255, example = "q3.csv")]
    name: String,
    /// Refused unless it is one of these, by its name or its type: endings and media types with commas between them, as
    /// `x-accept` of a field says.
    #[param(max_length = 1000, example = "text/csv,.csv")]
    accept: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilePage {
    /// Of whom; other people's are for who manages `files`.
    #[param(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$")]
    owner: Option<String>,
    /// Everybody's, for who manages `files`.
    all: Option<bool>,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^fil_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// The `{id}` and `{file_id}` of an address.
#[derive(Debug)]
pub(crate) struct CallAndFile(String, String);

impl FromRequestParts<ServerState> for CallAndFile {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        match axum::extract::Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path((call, file))) => Ok(Self(call, file)),
            Err(_) => Err(AppError::NotFound { what: "file" }.into()),
        }
    }
}

/// Sends a file: its bytes are the body, as they are. Its id is what a tool's input names it by.
#[utoipa::path(post, path = "/api/v1/files", tag = "files", params(NewName),
    request_body(content = Vec<u8>, content_type = "application/octet-stream",
        description = "The bytes. `Content-Type` says what they are, whatever it is; it is shown and never trusted."),
    responses((status = 201, body = FileView), (status = "default", body = ErrorBody)))]
pub(crate) async fn send_file(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    name: Result<Query<NewName>, QueryRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let NewName { name, accept } = query(name)?;
    if accept.as_ref().is_some_and(|accept| accept.len() > MOST_ACCEPT_BYTES) {
        return Err(bad("`accept` is too long"));
    }
    if name.len() > MOST_NAME_BYTES {
        return Err(bad("`name` is too long"));
    }
    let (parts, mut body) = request.into_parts();
    let (kind, length) = (media_type(&parts.headers), length(&parts.headers));
    if kind.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("multipart/")) {
        hear_out(body).await;
        return Err(ApiError::door(DoorCode::UnsupportedMediaType, "a file is sent as it is, not as a form")
            .hint("send its bytes alone as the body, such as with `curl --data-binary @file`"));
    }
    let accept = accept.as_deref().and_then(Accept::parse);
    let received = match state.app.begin_upload(&actor, &name, kind, length, accept).await {
        Ok(upload) => receive(upload, &mut body, &state).await,
        Err(refused) => Err(refused.into()),
    };
    if received.as_ref().is_err_and(|refused| refused.status() != StatusCode::REQUEST_TIMEOUT) {
        hear_out(body).await;
    }
    let file = view(&received?);
    let location = HeaderValue::from_str(&format!("/api/v1/files/{}", file.id));
    let mut response = (StatusCode::CREATED, Json(file)).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Lists your files, newest first.
#[utoipa::path(get, path = "/api/v1/files", tag = "files", params(FilePage),
    responses((status = 200, body = FileListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_files(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<FilePage>, QueryRejection>,
) -> Result<Json<FileListView>, ApiError> {
    let page = query(page)?;
    let whose = match (page.owner, page.all.unwrap_or_default()) {
        (Some(_), true) => return Err(bad("`owner` and `all` can't go together")),
        (Some(owner), false) => FilesOf::Principal(parse_id(&owner, "owner")?),
        (None, true) => FilesOf::All,
        (None, false) => FilesOf::Caller,
    };
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let (files, next) = state.app.list_files(&actor, whose, after, limit(page.limit, 50)?).await?;
    Ok(Json(FileListView {
        files: files.iter().map(view).collect(),
        next_cursor: next.map(|id| id.to_string()),
        max_bytes: state.app.file_settings().max_bytes,
    }))
}

/// Shows what is known of a file.
#[utoipa::path(get, path = "/api/v1/files/{id}", tag = "files", params(("id" = String, Path)),
    responses((status = 200, body = FileView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_file(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<FileView>, ApiError> {
    Ok(Json(view(&state.app.read_file(&actor, file_id(&id)?).await?)))
}

/// Hands out a file's bytes: pictures to be shown in place, everything else to be saved.
#[utoipa::path(get, path = "/api/v1/files/{id}/content", tag = "files", params(("id" = String, Path)),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn file_content(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    let file = state.app.read_file(&actor, file_id(&id)?).await?;
    Ok(hand_out(state, file))
}

/// Removes a file for good. A call that waits and names it will fail when its turn comes.
#[utoipa::path(delete, path = "/api/v1/files/{id}", tag = "files", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn remove_file(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    state.app.remove_file(&actor, file_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the files of its caller that a call names and that are still there, for whoever may see the call.
#[utoipa::path(get, path = "/api/v1/invocations/{id}/files", tag = "invocations", params(("id" = String, Path)),
    responses((status = 200, body = InvocationFilesView), (status = "default", body = ErrorBody)))]
pub(crate) async fn invocation_files(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<InvocationFilesView>, ApiError> {
    let files = state.app.invocation_files(&actor, invocation_id(&id)?).await?;
    Ok(Json(InvocationFilesView { files: files.iter().map(view).collect() }))
}

/// Hands out the bytes of a file that a call names, for whoever may see the call or decide on it.
#[utoipa::path(get, path = "/api/v1/invocations/{id}/files/{file_id}", tag = "invocations",
    params(("id" = String, Path), ("file_id" = String, Path)),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn invocation_file(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    CallAndFile(call, file): CallAndFile,
) -> Result<Response, ApiError> {
    let file = state.app.invocation_file(&actor, invocation_id(&call)?, file_id(&file)?).await?;
    Ok(hand_out(state, file))
}

/// Takes in a body part by part. What breaks off leaves nothing behind.
async fn receive(mut upload: Upload, body: &mut Body, state: &ServerState) -> Result<File, ApiError> {
    let until = tokio::time::Instant::now() + ARRIVES_WITHIN;
    let received = loop {
        let patience = until.min(tokio::time::Instant::now() + state.settings.body_timeout);
        let frame = match tokio::time::timeout_at(patience, body.frame()).await {
            Err(_) => {
                break Err(ApiError::door(DoorCode::RequestTimeout, "the file took too long to arrive"));
            }
            Ok(Some(Err(_))) => break Err(ApiError::door(DoorCode::BadRequest, "the file broke off")),
            Ok(None) => break Ok(()),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(bytes) = frame.into_data() else { continue };
        if let Err(cause) = upload.write(&bytes).await {
            break Err(cause.into());
        }
    };
    let done = match received {
        Ok(()) => upload.finish().await.map_err(ApiError::from),
        Err(refused) => Err(refused),
    };
    if done.is_err() {
        upload.give_up().await;
    }
    done
}

/// Reads on for a while after a refusal: a sender that is hung up on while it sends never sees why.
async fn hear_out(mut body: Body) {
    let hearing = async {
        let mut left = HEARD_OUT_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    };
    // Whether it came to its end makes no difference.
    let _ = tokio::time::timeout(HEARD_OUT_WITHIN, hearing).await;
}

/// A file's bytes, read a part at a time as they go out. Whatever they are, a browser runs nothing of them here.
fn hand_out(state: ServerState, file: File) -> Response {
    let shown = file.picture.map_or(PLAIN_BYTES, Picture::as_str);
    let size = file.size;
    let disposition = disposition(&file);
    let parts = stream::try_unfold(0, move |part: u32| {
        let (app, file) = (state.app.clone(), file.clone());
        async move {
            if u64::from(part) >= file.parts() {
                return Ok(None);
            }
            let bytes = app.file_part(&file, part).await.map_err(std::io::Error::other)?;
            let bytes = bytes.ok_or_else(|| std::io::Error::other("the file was removed"))?;
            Ok::<_, std::io::Error>(Some((Bytes::from(bytes), part + 1)))
        }
    });
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(shown));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'"),
    );
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

fn disposition(file: &File) -> HeaderValue {
    let kind = if file.picture.is_some() { "inline" } else { "attachment" };
    let plain: String = file
        .name
        .chars()
        .map(|c| if (c.is_ascii_graphic() || c == ' ') && !"\"\\%".contains(c) { c } else { '_' })
        .collect();
    let mut escaped = String::new();
    for byte in file.name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    HeaderValue::from_str(&format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{escaped}"))
        .unwrap_or(HeaderValue::from_static("attachment"))
}

fn media_type(headers: &HeaderMap) -> &str {
    headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok())
}

fn file_id(text: &str) -> Result<FileId, ApiError> {
    // An id that can't exist is a file that does not exist.
    text.parse().map_err(|_| AppError::NotFound { what: "file" }.into())
}

fn view(file: &File) -> FileView {
    FileView {
        id: file.id.to_string(),
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        size: file.size,
        sha256: file.sha256.clone(),
        owner: file.owner.to_string(),
        sent_by: file.sent_by.to_string(),
        image: file.picture.is_some(),
        created_at: rfc3339(file.created_at),
        expires_at: rfc3339(file.expires_at),
    }
}

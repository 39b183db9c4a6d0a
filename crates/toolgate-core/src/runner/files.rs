//! Files that a call's input names: whether its caller may use them, and what opens them for its tool alone.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::Runner;
use super::admit::{Admitted, Stopped};
use super::call::Call;
use crate::actor::Actor;
use crate::catalog::BoundTool;
use crate::document::Area;
use crate::error::{CallError, ErrorCode};
use crate::file::File;
use crate::id::{FileId, TenantId};
use crate::port::capability::{Capabilities, Capability, Files};
use crate::port::executor::ToolFailure;
use crate::port::store::{Store, StoreError};
use crate::port::validator::Violation;

/// The most files one call may name.
const MOST_FILES: usize = 100;
/// The most places that are told of.
const MOST_TOLD: usize = 8;

impl Runner {
    /// The end of stage 5: every file the input names must be there, the caller's to read, and of a kind that is taken
    /// there. A file that is not theirs looks the same as none.
    pub(super) async fn check_files(
        &self,
        call: &Call,
        admitted: &Admitted,
    ) -> Result<Result<(), Box<Stopped>>, StoreError> {
        if admitted.tool.files.is_empty() {
            return Ok(Ok(()));
        }
        let named = admitted.tool.files.named(&admitted.input);
        let mut ids: Vec<FileId> = named.iter().filter_map(|named| named.id).collect();
        ids.sort_unstable();
        ids.dedup();
        let stop = |error: CallError| {
            Ok(Err(Box::new(Stopped {
                tool: Some(Arc::clone(&admitted.tool)),
                input: admitted.input.clone(),
                rule: Some(admitted.decision.rule.to_string()),
                error,
            })))
        };
        if ids.len() > MOST_FILES {
            let message = format!("the input names more than {MOST_FILES} files");
            return stop(CallError::new(ErrorCode::Validation, message).hint("send fewer at once"));
        }
        let files = match ids.is_empty() {
            true => Vec::new(),
            false => self.0.store.files_by_id(&call.actor.tenant, &ids).await?,
        };
        let violations: Vec<Violation> = named
            .into_iter()
            .filter_map(|named| {
                let Some(id) = named.id else {
                    let message = "must be the id of a file, such as `fil_…`".to_owned();
                    return Some(Violation { path: named.path, message });
                };
                let file = files.iter().find(|file| file.id == id);
                let message = match file.filter(|file| self.may_read(&call.actor, file)) {
                    None => "must be a file you may read, and there is none with this id".to_owned(),
                    Some(file) => {
                        let refusing = named.accept.iter().find(|kinds| !file.is_one_of(kinds))?;
                        format!("must be a file of the kind {refusing}")
                    }
                };
                Some(Violation { path: named.path, message })
            })
            .take(MOST_TOLD)
            .collect();
        let Some(first) = violations.first() else { return Ok(Ok(())) };
        let message = format!("the input does not fit the tool's schema: `{}` {}", first.path, first.message);
        stop(
            CallError::new(ErrorCode::Validation, message)
                .hint("send the file with `POST /api/v1/files` or `toolgate file put`, and name it by its id")
                .details(json!({ "violations": violations })),
        )
    }

    fn may_read(&self, actor: &Actor, file: &File) -> bool {
        let now = self.0.clock.now();
        let manages = || {
            actor.scopes.may_manage(Area::Files)
                && self.0.policy.decide_manage(actor, Area::Files, now).verdict.permits()
        };
        file.expires_at > now && (file.is_of(actor) || manages())
    }

    /// Stage 8: what the tool declared, and of files just those that its input names.
    pub(super) fn capabilities_for(
        &self,
        tool: &BoundTool,
        tenant: &TenantId,
        input: &Value,
    ) -> Result<Capabilities, Capability> {
        let mut granted = self.0.capabilities.only(&tool.capabilities)?;
        if tool.capabilities.contains(&Capability::Files) {
            let ids = tool.files.named(input).into_iter().filter_map(|named| named.id).collect();
            let store = Arc::clone(&self.0.store);
            granted.files = Some(Arc::new(NamedFiles { store, tenant: tenant.clone(), ids }));
        }
        Ok(granted)
    }
}

/// The files one call's input names.
struct NamedFiles {
    store: Arc<dyn Store>,
    tenant: TenantId,
    ids: Vec<FileId>,
}

impl NamedFiles {
    fn check(&self, id: FileId) -> Result<(), ToolFailure> {
        // Invariant: a tool reaches no file but those that were checked for its caller.
        if self.ids.contains(&id) {
            return Ok(());
        }
        Err(ToolFailure::failed("the call's input does not name this file"))
    }
}

#[async_trait]
impl Files for NamedFiles {
    async fn about(&self, id: FileId) -> Result<File, ToolFailure> {
        self.check(id)?;
        let found = self.store.files_by_id(&self.tenant, &[id]).await.map_err(|cause| unread(&cause))?;
        found.into_iter().next().ok_or_else(gone)
    }

    async fn part(&self, id: FileId, part: u32) -> Result<Vec<u8>, ToolFailure> {
        self.check(id)?;
        let found = self.store.file_part(&self.tenant, id, part).await.map_err(|cause| unread(&cause))?;
        found.ok_or_else(gone)
    }
}

fn gone() -> ToolFailure {
    ToolFailure::failed("the file was removed while it was read").hint("send it again, then call again")
}

fn unread(cause: &StoreError) -> ToolFailure {
    tracing::warn!(error = %cause, "a file could not be read for a tool");
    ToolFailure::failed("the file could not be read").hint("try again in a moment")
}

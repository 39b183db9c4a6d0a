//! What a tool may reach: it gets just what it declared, for just one call. Tools never read the environment.

use std::sync::Arc;

use async_trait::async_trait;

use crate::file::File;
use crate::id::FileId;
use crate::port::executor::ToolFailure;
use crate::time::Timestamp;

/// The kinds of capability a tool can declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// The time.
    Clock,
    /// Requests to outside services.
    Http,
    /// The files that the call's input names.
    Files,
}

/// The time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Requests to outside services, within what the operator allows.
#[async_trait]
pub trait Http: Send + Sync {
    /// Sends a JSON body by POST and returns status and body.
    async fn post_json(&self, url: &str, body: String) -> Result<(u16, String), ToolFailure>;
}

/// The files that one call's input names, and no others.
#[async_trait]
pub trait Files: Send + Sync {
    /// What is known of a file.
    async fn about(&self, id: FileId) -> Result<File, ToolFailure>;

    /// One of its parts, from 0 to [`File::parts`]: a file is never held whole in memory.
    async fn part(&self, id: FileId, part: u32) -> Result<Vec<u8>, ToolFailure>;
}

/// What one call was given.
#[derive(Clone, Default)]
pub struct Capabilities {
    /// The time, if declared.
    pub clock: Option<Arc<dyn Clock>>,
    /// Outside services, if declared.
    pub http: Option<Arc<dyn Http>>,
    /// The files its input names, if declared.
    pub files: Option<Arc<dyn Files>>,
}

impl std::fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capabilities")
            .field("clock", &self.clock.is_some())
            .field("http", &self.http.is_some())
            .field("files", &self.files.is_some())
            .finish()
    }
}

impl Capabilities {
    /// The clock.
    ///
    /// # Errors
    /// When the tool did not declare it.
    pub fn clock(&self) -> Result<&dyn Clock, ToolFailure> {
        self.clock.as_deref().ok_or_else(|| ToolFailure::failed("the tool did not declare the clock"))
    }

    /// The HTTP client.
    ///
    /// # Errors
    /// When the tool did not declare it.
    pub fn http(&self) -> Result<&dyn Http, ToolFailure> {
        self.http.as_deref().ok_or_else(|| ToolFailure::failed("the tool did not declare HTTP"))
    }

    /// The files.
    ///
    /// # Errors
    /// When the tool did not declare them.
    pub fn files(&self) -> Result<&dyn Files, ToolFailure> {
        self.files.as_deref().ok_or_else(|| ToolFailure::failed("the tool did not declare files"))
    }

    /// Just the declared ones out of all there are.
    ///
    /// # Errors
    /// The first declared one that this server does not have.
    pub fn only(&self, declared: &[Capability]) -> Result<Self, Capability> {
        let mut granted = Self::default();
        for capability in declared {
            match capability {
                Capability::Clock => granted.clock = Some(self.clock.clone().ok_or(*capability)?),
                Capability::Http => granted.http = Some(self.http.clone().ok_or(*capability)?),
                // The runner makes these for each call: which there are is known by its input.
                Capability::Files => {}
            }
        }
        Ok(granted)
    }
}

//! Schemas that are checked when they are registered and compiled when they are first used.
//!
//! Compiled, a schema takes many times the room of its text, and most of a thousand tools are not called today. So a
//! schema is compiled once to see that it can be, and again when a value comes; it stays until nothing has been
//! checked against it for a while. Tools with the same schema share one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::ArcSwapOption;
use serde_json::Value;
use toolgate_core::JsonText;
use toolgate_core::json::canonical_digest;
use toolgate_core::port::validator::{Validator, Violation};

use crate::check::{Role, check_bounds, check_role};
use crate::compile::{Compiled, with_ample_stack};
use crate::error::SchemaError;

/// Finds the schema among those in use, or checks that it can be compiled and adds it.
pub(crate) fn registered(
    schema: &Value,
    role: Role,
    text: impl FnOnce() -> JsonText,
) -> Result<Arc<OnDemand>, SchemaError> {
    check_bounds(schema)?;
    check_role(schema, role)?;
    let digest = canonical_digest(schema);
    if let Some(known) = in_use().by_digest.get(&digest).and_then(Weak::upgrade) {
        return Ok(known);
    }
    // Two threads may both come here with the same schema: one of them works in vain, and neither waits.
    with_ample_stack(|| Compiled::of(schema).map(drop))??;
    Ok(in_use().share(digest, Arc::new(OnDemand::new(text()))))
}

/// Drops what was compiled and not used since the last time this was called. The next value has it compiled again.
/// Returns how many were dropped.
pub fn forget_unused() -> usize {
    // Dropping a large schema takes a while, so it is not done under the lock.
    let all: Vec<_> = in_use().by_digest.values().filter_map(Weak::upgrade).collect();
    all.iter().filter(|schema| schema.forget_if_unused()).count()
}

/// A schema that is known to compile.
#[derive(Debug)]
pub(crate) struct OnDemand {
    text: JsonText,
    compiled: ArcSwapOption<Compiled>,
    /// Whether a value came since this was last looked at.
    used: AtomicBool,
    compiling: Mutex<()>,
}

impl OnDemand {
    fn new(text: JsonText) -> Self {
        Self {
            text,
            compiled: ArcSwapOption::empty(),
            used: AtomicBool::new(false),
            compiling: Mutex::default(),
        }
    }

    /// The schema as it was registered.
    pub(crate) const fn text(&self) -> &JsonText {
        &self.text
    }

    fn forget_if_unused(&self) -> bool {
        !self.used.swap(false, Ordering::Relaxed) && self.compiled.swap(None).is_some()
    }

    fn compile(&self) -> Result<Arc<Compiled>, SchemaError> {
        // Many may come with the first values at once; compiling is the processor's work, so waiting costs nothing.
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = self.compiled.load_full() {
            return Ok(compiled);
        }
        let schema = self.text.to_value();
        let compiled = Arc::new(with_ample_stack(|| Compiled::of(&schema))??);
        self.compiled.store(Some(Arc::clone(&compiled)));
        Ok(compiled)
    }
}

impl Validator for OnDemand {
    fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        // Read before it is written: what is only read, all processors hold at once.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        if let Some(compiled) = self.compiled.load().as_ref() {
            return compiled.validate(value);
        }
        match self.compile() {
            Ok(compiled) => compiled.validate(value),
            // It compiled before, so this is the machine: no thread to be had. What can't be checked does not pass.
            Err(_) => {
                let message = "can't be checked now; try again".to_owned();
                Err(vec![Violation { path: String::new(), message }])
            }
        }
    }
}

/// The schemas that something still holds. Keeping them alive is their users' part, so this never holds more than is in
/// use, however many schemas come and go.
#[derive(Default)]
struct InUse {
    by_digest: HashMap<[u8; 32], Weak<OnDemand>>,
    sweep_at: usize,
}

impl InUse {
    fn share(&mut self, digest: [u8; 32], schema: Arc<OnDemand>) -> Arc<OnDemand> {
        if let Some(first) = self.by_digest.get(&digest).and_then(Weak::upgrade) {
            return first;
        }
        if self.by_digest.len() >= self.sweep_at {
            self.by_digest.retain(|_, schema| schema.strong_count() > 0);
            self.sweep_at = (self.by_digest.len() * 2).max(64);
        }
        self.by_digest.insert(digest, Arc::downgrade(&schema));
        schema
    }
}

fn in_use() -> MutexGuard<'static, InUse> {
    static IN_USE: LazyLock<Mutex<InUse>> = LazyLock::new(Mutex::default);
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
impl OnDemand {
    pub(crate) fn is_compiled(&self) -> bool {
        self.compiled.load().is_some()
    }
}

#[cfg(test)]
pub(crate) fn known() -> usize {
    in_use().by_digest.len()
}

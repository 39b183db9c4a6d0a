//! Profiles: what holds for an agent's use of assigned tools. There is no field that loosens.

use serde_json::{Value, json};
use toolgate_core::Actor;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::Slug;
use toolgate_core::port::store::StoreError;
use toolgate_core::profile::Profile;

use crate::assignment::Use;
use crate::bounds;
use crate::limit::check_measures;
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Profile;

impl App {
    /// The profiles after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage profiles.
    pub async fn list_profiles(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Stored<Profile>>, Option<String>), AppError> {
        self.require(actor, Area::Profiles)?;
        let all = self.stored(actor, KIND).await?;
        Ok(part_of(all, |profile: &Stored<Profile>| &profile.name, after, limit))
    }

    /// One profile.
    ///
    /// # Errors
    /// As [`App::list_profiles`], and "not found".
    pub async fn read_profile(&self, actor: &Actor, name: &Slug) -> Result<Stored<Profile>, AppError> {
        self.require(actor, Area::Profiles)?;
        self.stored_one(actor, KIND, name.as_str()).await
    }

    /// Writes a profile.
    ///
    /// # Errors
    /// What is wrong with it; a conflict when it does not stand as `expect` says.
    pub async fn put_profile(
        &self,
        actor: &Actor,
        name: &Slug,
        profile: Profile,
        expect: Expect,
    ) -> Result<Stored<Profile>, AppError> {
        self.require(actor, Area::Profiles)?;
        check_measures(profile.rate_per_minute, profile.concurrency, profile.cost.as_ref())?;
        if let Some(schema) = profile.arguments.clone() {
            check_arguments(schema).await?;
        }
        let profile = Profile { description: bounds::description(&profile.description)?, ..profile };
        self.put_stored(actor, KIND, name.as_str(), &profile, expect).await
    }

    /// Takes a profile away.
    ///
    /// # Errors
    /// A conflict while an assignment uses it: what it forbade would be forgotten.
    pub async fn delete_profile(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Profiles)?;
        self.is_unused(actor, &Use::Profile(name)).await?;
        self.remove_stored(actor, KIND, name.as_str(), expect).await
    }
}

async fn check_arguments(schema: Value) -> Result<(), AppError> {
    // A schema within all bounds can still take its while.
    let work = move || toolgate_schema::compile(&schema, toolgate_schema::Role::Input).map(drop);
    let compiled = tokio::task::spawn_blocking(work)
        .await
        .map_err(|cause| AppError::Store(StoreError::unavailable(cause)))?;
    compiled.map_err(|cause| AppError::Invalid {
        message: format!("`arguments` is not a schema that can be used: {cause}"),
        hint: Some(cause.hint().to_owned()),
        details: Some(json!({ "field": "arguments" })),
    })
}

//! What fields of forms can name, on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something that a field can name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntityView {
    /// What the field holds.
    #[schema(example = "user:ada")]
    pub id: String,
    /// What people call it.
    #[schema(example = "Ada Lovelace")]
    pub title: String,
    /// A few words that tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A page of entities.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntityListView {
    /// What was found: the best first, or all of them ordered by id when nothing was looked for.
    pub items: Vec<EntityView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A type of entity.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntityTypeView {
    /// Its name, as `x-entity-type` of a schema has it.
    #[schema(example = "user")]
    pub name: String,
    /// What people call many of them.
    #[schema(example = "people")]
    pub title: String,
}

/// The types of entities.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntityTypeListView {
    /// Those you may look through.
    pub types: Vec<EntityTypeView>,
}

//! Entities: what fields of forms can name.

use axum::Json;
use axum::extract::{RawQuery, State};
use toolgate_api::{DoorCode, EntityListView, EntityTypeListView, EntityTypeView, EntityView, ErrorBody};
use toolgate_app::{Entity, EntityQuery, EntityType};
use utoipa::IntoParams;

use super::tool::{bad, limit, no_parameter};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, PathId};

/// How many are shown to who does not say.
const USUAL: u32 = 20;

/// What the query of the address may say. Read by hand: `id` may stand there several times.
#[derive(Debug, Default, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntityPage {
    /// What was typed of a name or an id; a letter may be wrong.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Names these ids instead of looking for something; may be repeated.
    #[param(required = false, max_items = 100)]
    id: Vec<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the types of entities that you may look through.
#[utoipa::path(get, path = "/api/v1/entities", tag = "entities",
    responses((status = 200, body = EntityTypeListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_entity_types(
    State(state): State<ServerState>,
    Caller(actor): Caller,
) -> Result<Json<EntityTypeListView>, ApiError> {
    let types = state.app.entity_types(&actor).into_iter();
    let view =
        |kind: EntityType| EntityTypeView { name: kind.as_str().to_owned(), title: kind.title().to_owned() };
    Ok(Json(EntityTypeListView { types: types.map(view).collect() }))
}

/// Finds entities of one type by name, or names those with the ids you have.
///
/// People who are signed in find the people, agents, toolsets and roles of their tenant, by name and id alone; keys find
/// what they could list anyway.
#[utoipa::path(get, path = "/api/v1/entities/{type}", tag = "entities",
    params(("type" = String, Path, description = "one of those that `/api/v1/entities` lists"), EntityPage),
    responses((status = 200, body = EntityListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn find_entities(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(name): PathId,
    RawQuery(raw): RawQuery,
) -> Result<Json<EntityListView>, ApiError> {
    let kind = EntityType::of(&name).ok_or_else(unknown)?;
    let page = EntityPage::of(raw.as_deref().unwrap_or_default())?;
    if !page.id.is_empty() {
        let items = state.app.name_entities(&actor, kind, &page.id).await?;
        return Ok(Json(EntityListView { items: items.into_iter().map(view).collect(), next_cursor: None }));
    }
    let query = EntityQuery {
        text: page.q.unwrap_or_default(),
        after: page.cursor,
        limit: limit(page.limit, USUAL)? as usize,
    };
    let (items, next_cursor) = state.app.find_entities(&actor, kind, query).await?;
    Ok(Json(EntityListView { items: items.into_iter().map(view).collect(), next_cursor }))
}

impl EntityPage {
    fn of(raw: &str) -> Result<Self, ApiError> {
        let malformed = || {
            bad("the query of the address has an unknown or malformed parameter")
                .hint("`q`, `cursor` and `limit` may stand there once, `id` several times")
        };
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(raw).map_err(|_| malformed())?;
        let mut page = Self::default();
        for (name, value) in pairs {
            let taken = match name.as_str() {
                "id" => {
                    page.id.push(value);
                    None
                }
                "q" => page.q.replace(value).map(drop),
                "cursor" => page.cursor.replace(value).map(drop),
                "limit" => page.limit.replace(value.parse().map_err(|_| malformed())?).map(drop),
                other => return Err(bad(no_parameter(other))),
            };
            if taken.is_some() {
                return Err(malformed());
            }
        }
        if !page.id.is_empty() && (page.q.is_some() || page.cursor.is_some()) {
            return Err(bad("`id` names what is there; `q` and `cursor` look for something")
                .hint("send `id`, or `q` and `cursor`"));
        }
        Ok(page)
    }
}

fn view(entity: Entity) -> EntityView {
    EntityView { id: entity.id, title: entity.title, detail: entity.detail }
}

fn unknown() -> ApiError {
    let names: Vec<&str> = EntityType::ALL.into_iter().map(EntityType::as_str).collect();
    ApiError::door(DoorCode::NotFound, "there is no such type of entity")
        .hint(format!("it is one of: {}", names.join(", ")))
}

//! People, agents and services as entities: by name and id alone.

use toolgate_core::Actor;
use toolgate_core::id::{PrincipalId, PrincipalKind};
use toolgate_core::principal::Principal;
use toolgate_core::search::Typed;

use crate::entity::{Entity, bad_start};
use crate::stored::part_of;
use crate::{App, AppError};

/// How many principals one search looks at. An id in full is found among any number.
const MOST: usize = 20_000;
const PART: u32 = 500;

impl App {
    /// Those with these ids. One that is switched off keeps its name in what was written before.
    pub(crate) async fn named_principals(
        &self,
        actor: &Actor,
        kind: PrincipalKind,
        ids: &[String],
    ) -> Result<Vec<Entity>, AppError> {
        let mut found = Vec::new();
        for id in ids.iter().filter_map(|id| id.parse::<PrincipalId>().ok()) {
            if id.kind() == kind {
                found.extend(self.store().principal(&actor.tenant, &id).await?.map(entity));
            }
        }
        Ok(found)
    }

    /// Those that fit what was typed, with how well.
    pub(crate) async fn fitting_principals(
        &self,
        actor: &Actor,
        kind: PrincipalKind,
        typed: &Typed,
        text: &str,
    ) -> Result<Vec<(u32, Entity)>, AppError> {
        let mut found = Vec::new();
        // Typed in full it is meant, and found however many there are.
        let whole = text.parse().or_else(|_| format!("{}:{text}", word_of(kind)).parse());
        let whole: Option<PrincipalId> = whole.ok().filter(|id: &PrincipalId| id.kind() == kind);
        if let Some(id) = &whole
            && let Some(principal) = self.store().principal(&actor.tenant, id).await?
            && !principal.disabled
        {
            found.push((u32::MAX, entity(principal)));
        }
        let (mut after, mut looked): (Option<PrincipalId>, _) = (None, 0);
        while looked < MOST {
            let part = self.store().principals(&actor.tenant, Some(kind), after.as_ref(), PART).await?;
            looked += part.len();
            let full = part.len() == PART as usize;
            after = part.last().map(|principal| principal.id.clone());
            for principal in part {
                let points = typed.fit(&principal.title, principal.id.name());
                if points > 0 && !principal.disabled && whole.as_ref() != Some(&principal.id) {
                    found.push((points, entity(principal)));
                }
            }
            if !full {
                break;
            }
        }
        Ok(found)
    }

    /// Those after this one, ordered by id.
    pub(crate) async fn principals_after(
        &self,
        actor: &Actor,
        kind: PrincipalKind,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Entity>, Option<String>), AppError> {
        let mut after: Option<PrincipalId> =
            after.map(|id| id.parse().map_err(|_| bad_start())).transpose()?;
        let mut found = Vec::new();
        loop {
            let part = self.store().principals(&actor.tenant, Some(kind), after.as_ref(), PART).await?;
            let full = part.len() == PART as usize;
            after = part.last().map(|principal| principal.id.clone());
            found.extend(part.into_iter().filter(|principal| !principal.disabled).map(entity));
            if !full || found.len() > limit {
                return Ok(part_of(found, |entity| &entity.id, None, limit));
            }
        }
    }
}

fn entity(principal: Principal) -> Entity {
    let title = if principal.title.is_empty() { principal.id.name().to_owned() } else { principal.title };
    Entity {
        id: principal.id.to_string(),
        title,
        detail: principal.disabled.then(|| "switched off".to_owned()),
    }
}

const fn word_of(kind: PrincipalKind) -> &'static str {
    match kind {
        PrincipalKind::User => "user",
        PrincipalKind::Agent => "agent",
        PrincipalKind::Service => "service",
    }
}

//! What waits for a person: calls they may decide on, and calls in doubt that they may settle. An item is there only while
//! someone can act on it. And what they decided.

use toolgate_core::connection::{Connection, ConnectionState, Owner};
use toolgate_core::document::Area;
use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::port::store::{InvocationFilter, Page};
use toolgate_core::{Actor, Invocation, Status};

use crate::{App, AppError};

/// How many waiting calls one look at the inbox goes through.
const MOST: usize = 1_000;

/// Which part of the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inbox {
    /// Everything.
    #[default]
    All,
    /// What was made by me or for me, or given to me or to a role I hold.
    Mine,
    /// What waits for any of us.
    Group,
}

/// What waits for a person beside calls.
#[derive(Debug, Clone, Default)]
pub struct Chores {
    /// Connections that have to be made again.
    pub connections: Vec<Connection>,
    /// How many tools of MCP servers wait for review.
    pub reviews: u64,
}

impl Chores {
    /// How many things these are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.connections.len() + if self.reviews > 0 { 1 } else { 0 }
    }
}

impl App {
    /// What waits for this person, newest first.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn inbox(&self, actor: &Actor, which: Inbox) -> Result<Vec<Invocation>, AppError> {
        if actor.principal.kind() != PrincipalKind::User {
            return Ok(Vec::new());
        }
        let mut items: Vec<Invocation> = Vec::new();
        // One's own first, so that nobody's flood hides them; then what waits for anyone.
        for visible_to in [Some(actor.acting()), None] {
            for status in [Status::Pending, Status::InDoubt] {
                let filter = InvocationFilter {
                    status: Some(status),
                    visible_to: visible_to.clone(),
                    ..InvocationFilter::default()
                };
                let (mut after, mut read) = (None, 0);
                while read < MOST {
                    let page = Page { after, limit: 200 };
                    let part = self.store().list(&actor.tenant, &filter, page).await?;
                    let full = part.len() == 200;
                    read += part.len();
                    after = part.last().map(Invocation::id);
                    for row in part {
                        let known = items.iter().any(|item| item.id() == row.id());
                        if !known && which.holds(actor, &row) && self.may_act(actor, &row).await {
                            items.push(row);
                        }
                    }
                    if !full {
                        break;
                    }
                }
            }
        }
        items.sort_by_key(|row| std::cmp::Reverse(row.id()));
        Ok(items)
    }

    /// What else waits for this person: connections that have to be made again, and tools of MCP servers to review.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn chores(&self, actor: &Actor) -> Result<Chores, AppError> {
        if actor.principal.kind() != PrincipalKind::User {
            return Ok(Chores::default());
        }
        let mut chores = Chores::default();
        let manages = self.require(actor, Area::Connections).is_ok();
        // A key that is narrowed to other things has no connections to look after.
        if let Ok((found, _)) = self.list_connections(actor, None, 1_000).await {
            chores.connections = found;
        }
        chores.connections.retain(|connection| {
            let dead = matches!(connection.state, ConnectionState::NeedsLogin | ConnectionState::Revoked);
            let theirs = match &connection.owner {
                Owner::Shared => manages,
                Owner::Person(person) => *person == actor.principal,
            };
            dead && theirs
        });
        if self.require(actor, Area::Upstreams).is_ok() {
            let snapshot = self.as_it_stands(actor).await?;
            chores.reviews = snapshot.from_upstreams.waiting() as u64;
        }
        Ok(chores)
    }

    /// What this person decided on or said yes to, newest first, and where the next part starts. What a standing grant let
    /// run is left out: they decided on that once.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn decided(
        &self,
        actor: &Actor,
        mut after: Option<InvocationId>,
        limit: u32,
    ) -> Result<(Vec<Invocation>, Option<InvocationId>), AppError> {
        if actor.principal.kind() != PrincipalKind::User {
            return Ok((Vec::new(), None));
        }
        let (mut items, mut read) = (Vec::new(), 0);
        while read < MOST {
            let page = Page { after, limit: 200 };
            let part = self.store().decided_by(&actor.tenant, &actor.principal, page).await?;
            let full = part.len() == 200;
            read += part.len();
            for row in part {
                // Whoever may no longer decide on such a call no longer sees what became of it.
                let shown = !by_grant(&row) && self.require_say(actor, &row).await.is_ok();
                if shown && items.len() == limit as usize {
                    return Ok((items, after));
                }
                after = Some(row.id());
                if shown {
                    items.push(row);
                }
            }
            if !full {
                return Ok((items, None));
            }
        }
        Ok((items, after))
    }

    async fn may_act(&self, actor: &Actor, row: &Invocation) -> bool {
        match row.status {
            Status::Pending => {
                let awaits = row.review.as_ref().is_none_or(|review| review.awaits(&actor.principal));
                awaits && self.may_approve(actor, row).await
            }
            Status::InDoubt => self.require_say(actor, row).await.is_ok(),
            _ => false,
        }
    }
}

fn by_grant(row: &Invocation) -> bool {
    row.opened.rule.as_deref().is_some_and(|rule| rule.starts_with("grant: "))
}

impl Inbox {
    fn holds(self, actor: &Actor, row: &Invocation) -> bool {
        let opened = &row.opened;
        let given = row.review.as_ref().is_some_and(|review| {
            let role = review.assigned_role.as_ref();
            review.assigned_to.as_ref() == Some(&actor.principal)
                || role.is_some_and(|role| actor.roles.iter().any(|held| held == role.as_str()))
        });
        let mine =
            given || opened.actor == actor.principal || opened.subject.as_ref() == Some(&actor.principal);
        match self {
            Self::All => true,
            Self::Mine => mine,
            Self::Group => !mine,
        }
    }
}

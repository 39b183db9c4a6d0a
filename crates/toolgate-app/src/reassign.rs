//! Someone else's turn: a waiting call is given to a person, or to whoever holds a role.

use toolgate_core::id::{InvocationId, PrincipalId, PrincipalKind, Slug};
use toolgate_core::review::ReviewStep;
use toolgate_core::{Actor, Invocation};

use crate::{App, AppError};

const PART: u32 = 500;

/// Whose turn it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignee {
    /// A person's.
    Person(PrincipalId),
    /// That of whoever holds this role.
    Role(Slug),
}

impl App {
    /// Gives a waiting call to someone else to decide on. They, or one holder of the role, must be allowed to; nobody is
    /// by being given it.
    ///
    /// # Errors
    /// As [`App::approve_invocation`]; "invalid" for those who could not decide.
    pub async fn reassign_invocation(
        &self,
        actor: &Actor,
        id: InvocationId,
        to: Assignee,
    ) -> Result<Invocation, AppError> {
        let invocation = self.waiting(actor, id).await?;
        let step = match to {
            Assignee::Person(to) => {
                if !self.could_decide(actor, &to, &invocation).await? {
                    return Err(AppError::invalid(format!("`{to}` may not decide on this call"))
                        .with_hint("name a person whom policy and the approval rules let decide"));
                }
                ReviewStep::Reassigned { to }
            }
            Assignee::Role(role) => {
                if !self.holder_could_decide(actor, &role, &invocation).await? {
                    return Err(AppError::invalid(format!("no holder of `{role}` may decide on this call"))
                        .with_hint(
                            "name a role with holders whom policy and the approval rules let decide",
                        ));
                }
                ReviewStep::ReassignedToRole { role }
            }
        };
        self.review_step(actor, id, |_| Ok(step.clone())).await
    }

    async fn could_decide(
        &self,
        actor: &Actor,
        person: &PrincipalId,
        invocation: &Invocation,
    ) -> Result<bool, AppError> {
        let directory = &self.runner.parts().directory;
        Ok(match directory.actor(&actor.tenant, person, None, None).await? {
            Some(person) => self.may_approve(&person, invocation).await,
            None => false,
        })
    }

    async fn holder_could_decide(
        &self,
        actor: &Actor,
        role: &Slug,
        invocation: &Invocation,
    ) -> Result<bool, AppError> {
        let mut after: Option<PrincipalId> = None;
        loop {
            let users = self
                .store()
                .principals(&actor.tenant, Some(PrincipalKind::User), after.as_ref(), PART)
                .await?;
            for user in users.iter().filter(|user| !user.disabled && user.roles.contains(role)) {
                if self.could_decide(actor, &user.id, invocation).await? {
                    return Ok(true);
                }
            }
            match users.last() {
                Some(last) if users.len() == PART as usize => after = Some(last.id.clone()),
                _ => return Ok(false),
            }
        }
    }
}

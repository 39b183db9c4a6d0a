//! One question as Cedar is asked it: a principal, a resource and the circumstances.

use std::cell::OnceCell;

use cedar_policy::{Context, Entities, Entity, Request, RestrictedExpression};

use super::answer::{Answer, Outcome};
use super::compiled::{Compiled, Condition};
use super::entity::{self, Unaskable};
use super::facts::{Action, Circumstances};
use super::input::BadInput;
use super::reads::Reads;

/// What the arguments of the call are.
#[derive(Debug)]
pub(super) enum Arguments {
    /// None, or not known yet: policies about calls count as far as they can be told without.
    Unknown,
    /// Known, and of the tool's types or not.
    Known(Result<RestrictedExpression, BadInput>),
}

/// One principal, one resource, one moment. Answers about several actions share the work.
pub(super) struct Question<'a> {
    principal: &'a Result<Entity, Unaskable>,
    resource: &'a Result<Entity, Unaskable>,
    circumstances: Option<&'a Circumstances<'a>>,
    arguments: Arguments,
    entities: OnceCell<Result<Entities, Unaskable>>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        principal: &'a Result<Entity, Unaskable>,
        resource: &'a Result<Entity, Unaskable>,
        circumstances: &'a Circumstances<'a>,
        arguments: Arguments,
    ) -> Self {
        Self { principal, resource, circumstances: Some(circumstances), arguments, entities: OnceCell::new() }
    }

    /// A question that holds in all circumstances, so only for conditions that read none.
    pub(super) fn timeless(
        principal: &'a Result<Entity, Unaskable>,
        resource: &'a Result<Entity, Unaskable>,
    ) -> Self {
        Self {
            principal,
            resource,
            circumstances: None,
            arguments: Arguments::Unknown,
            entities: OnceCell::new(),
        }
    }

    /// What this question asks of a policy. Only calls have arguments to wait for.
    pub(super) fn condition<'p>(&self, action: Action, policy: &'p Compiled) -> &'p Condition {
        match (&self.arguments, action) {
            (Arguments::Unknown, Action::Call | Action::CallUnattended) => policy.without_input(),
            _ => policy.with_input(),
        }
    }

    /// Whether the arguments are known.
    pub(super) fn has_arguments(&self) -> bool {
        matches!(self.arguments, Arguments::Known(_))
    }

    /// Answers from policies whose scope matches, in the order of the text; those with an outcome are not evaluated.
    pub(super) fn answer<'p>(
        &self,
        action: Action,
        policies: impl Iterator<Item = (&'p Compiled, Option<Outcome>)> + Clone,
    ) -> Answer {
        let open = || {
            policies
                .clone()
                .filter(|(policy, known)| known.is_none() && !self.condition(action, policy).always())
        };
        let reads =
            open().fold(Reads::NOTHING, |all, (policy, _)| all.and(self.condition(action, policy).reads));
        let asked = if open().next().is_some() { self.ask(action, reads).map(Some) } else { Ok(None) };
        let asked = match asked {
            Ok(asked) => asked,
            // What kept it from being asked concerns the policies that would have been; the first answers for all.
            Err(fault) => {
                let blamed = open().find(|(policy, _)| self.condition(action, policy).reads.has(fault.part));
                let rule = blamed.or_else(|| open().next()).map(|(policy, _)| policy.id.clone());
                return Answer::unanswerable(rule.unwrap_or_default(), &fault.why);
            }
        };
        Answer::settle(policies.map(|(policy, known)| {
            let outcome = known.unwrap_or_else(|| match &asked {
                Some((request, entities)) => {
                    self.condition(action, policy).outcome(policy.says, request, entities)
                }
                // Nothing is open, so the scope says it all.
                None => Outcome::Matches,
            });
            (&policy.id, policy.says, outcome)
        }))
    }

    /// How a single policy comes out.
    pub(super) fn outcome(&self, action: Action, policy: &Compiled) -> Outcome {
        let condition = self.condition(action, policy);
        if condition.always() {
            return Outcome::Matches;
        }
        match self.ask(action, condition.reads) {
            Ok((request, entities)) => condition.outcome(policy.says, &request, entities),
            Err(fault) => Outcome::Faults(fault.why.into()),
        }
    }

    fn ask(&self, action: Action, reads: Reads) -> Result<(Request, &Entities), Fault> {
        let principal = self.principal.as_ref().map_err(Fault::from)?.uid();
        let resource = self.resource.as_ref().map_err(Fault::from)?.uid();
        let context = self.context(action, reads)?;
        let action = entity::action_uid(action)?;
        let request = Request::new(principal, action, resource, context, None).map_err(|_| Unaskable)?;
        // The subject is among the entities whenever there is one: which policies read it differs between actions.
        let entities = self.entities.get_or_init(|| self.gather()).as_ref().map_err(Fault::from)?;
        Ok((request, entities))
    }

    fn context(&self, action: Action, reads: Reads) -> Result<Context, Fault> {
        let Some(circumstances) = self.circumstances else { return Ok(Context::empty()) };
        let input = match &self.arguments {
            Arguments::Known(input) if reads.has(Reads::INPUT) => {
                Some(input.clone().map_err(|bad| Fault { part: Reads::INPUT, why: bad.to_string() })?)
            }
            _ => None,
        };
        Ok(entity::context(action, reads, circumstances, input)?)
    }

    fn gather(&self) -> Result<Entities, Unaskable> {
        let principal = self.principal.clone()?;
        let subject = match self.circumstances.and_then(entity::person) {
            Some(person) => Some(entity::subject(person)?).filter(|subject| subject.uid() != principal.uid()),
            None => None,
        };
        let all = [principal, self.resource.clone()?].into_iter().chain(subject);
        Entities::from_entities(all, None).map_err(|_| Unaskable)
    }
}

/// Why nothing could be asked, and the part of the context it concerns.
struct Fault {
    part: Reads,
    why: String,
}

impl From<Unaskable> for Fault {
    fn from(unaskable: Unaskable) -> Self {
        Self { part: Reads::NOTHING, why: unaskable.to_string() }
    }
}

impl From<&Unaskable> for Fault {
    fn from(unaskable: &Unaskable) -> Self {
        unaskable.clone().into()
    }
}

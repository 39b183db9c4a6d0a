//! The judge: answers who may do what, from a tenant's policies and tools.

use std::sync::Arc;

use cedar_policy::Entity;
use serde_json::Value;
use toolgate_core::id::ToolName;

use super::answer::{Answer, ToolAnswer};
use super::compiled::Compiled;
use super::entity::{self, Unaskable};
use super::facts::{Action, Circumstances, PrincipalFacts, ToolFacts};
use super::memo::{Cell, Known, Memo, Step};
use super::policies::Policies;
use super::question::{Arguments, Question};
use super::reads::Reads;
use super::scope::{Member, PolicyIndex, ScopeId};
use super::tools::{Class, Tools};

/// The actions one [`ToolAnswer`] tells of.
const TOOL_ACTIONS: [Action; 3] = [Action::See, Action::Call, Action::CallUnattended];

/// Policies, the tools of a tenant and what was found out already. Made anew whenever policies or tools change.
pub struct Judge {
    policies: Arc<Policies>,
    tools: Tools,
    memo: Memo,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge").field("policies", &self.policies).finish_non_exhaustive()
    }
}

impl Judge {
    /// A judge over these tools.
    #[must_use]
    pub fn new(policies: Arc<Policies>, tools: Vec<ToolFacts>) -> Self {
        let tools = Tools::new(&policies, tools);
        let memo = Memo::new(tools.classes.len());
        Self { policies, tools, memo }
    }

    /// The policies in force.
    #[must_use]
    pub fn policies(&self) -> &Arc<Policies> {
        &self.policies
    }

    /// What may be told before the arguments are known: at least as much as for any arguments. A tool that is not
    /// among the judge's is denied.
    #[must_use]
    pub fn tool(&self, who: &PrincipalFacts, tool: &ToolName, c: &Circumstances<'_>) -> Arc<ToolAnswer> {
        let Some(place) = self.tools.place(tool) else { return denied() };
        let known = self.memo.known(&self.policies.index, who);
        let Some((class, cell)) = self.look_up(&known, place.class) else { return denied() };
        self.answer_cell(&known, class, cell, c)
    }

    /// What may be for a call with these arguments, which were checked against the tool's schema.
    #[must_use]
    pub fn tool_with_input(
        &self,
        who: &PrincipalFacts,
        tool: &ToolName,
        c: &Circumstances<'_>,
        input: &Value,
    ) -> Arc<ToolAnswer> {
        let Some(place) = self.tools.place(tool) else { return denied() };
        let known = self.memo.known(&self.policies.index, who);
        let Some((class, cell)) = self.look_up(&known, place.class) else { return denied() };
        let without = self.answer_cell(&known, class, cell, c);
        if !cell.reads_input {
            return without;
        }
        let arguments = Arguments::Known(place.input.convert(input));
        let question = Question::new(known.entity(), &class.entity, c, arguments);
        Arc::new(ToolAnswer {
            // No arguments are there to be read when a tool is looked for.
            see: without.see.clone(),
            call: self.answer_steps(&question, Action::Call, &cell.steps[1]),
            unattended: self.answer_steps(&question, Action::CallUnattended, &cell.steps[2]),
            reads_input: true,
        })
    }

    /// Whether this principal may let a call of the tool with these arguments run.
    #[must_use]
    pub fn approve(
        &self,
        who: &PrincipalFacts,
        tool: &ToolName,
        c: &Circumstances<'_>,
        input: &Value,
    ) -> Answer {
        let Some(place) = self.tools.place(tool) else { return Answer::denied_by_default() };
        let Some(class) = self.tools.classes.get(place.class) else { return Answer::denied_by_default() };
        let known = self.memo.known(&self.policies.index, who);
        let arguments = Arguments::Known(place.input.convert(input));
        let question = Question::new(known.entity(), &class.entity, c, arguments);
        self.answer_slice(&question, Action::Approve, &known.scopes, &class.scopes)
    }

    /// Whether this principal may call tools through the account. That it was granted is checked elsewhere.
    #[must_use]
    pub fn connection(
        &self,
        who: &PrincipalFacts,
        provider: &str,
        id: &str,
        c: &Circumstances<'_>,
    ) -> Answer {
        let member = Member::alone("Connection", id);
        self.answer_about(who, Action::UseConnection, &member, &entity::connection(&member, provider), c)
    }

    /// Whether this principal may look after a part of the tenant.
    #[must_use]
    pub fn manage(&self, who: &PrincipalFacts, area: &str, c: &Circumstances<'_>) -> Answer {
        let member = Member::alone("Area", area);
        self.answer_about(who, Action::Manage, &member, &entity::plain(&member), c)
    }

    fn answer_about(
        &self,
        who: &PrincipalFacts,
        action: Action,
        member: &Member,
        resource: &Result<Entity, Unaskable>,
        c: &Circumstances<'_>,
    ) -> Answer {
        let known = self.memo.known(&self.policies.index, who);
        let question = Question::new(known.entity(), resource, c, Arguments::Unknown);
        self.answer_slice(&question, action, &known.scopes, &self.policies.index.of_resource(member))
    }

    fn answer_slice(
        &self,
        question: &Question<'_>,
        action: Action,
        principals: &[ScopeId],
        resources: &[ScopeId],
    ) -> Answer {
        let slice = self.policies.index.slice(action, principals, resources);
        question.answer(action, slice.iter().filter_map(|place| Some((self.policy(*place)?, None))))
    }

    fn look_up<'a>(&'a self, known: &'a Known, class: usize) -> Option<(&'a Class, &'a Cell)> {
        let facts = self.tools.classes.get(class)?;
        Some((facts, known.cell(class, || self.find_out(known, facts))?))
    }

    /// Evaluates what no circumstance changes, for one principal and one class of tools.
    fn find_out(&self, known: &Known, class: &Class) -> Cell {
        let timeless = Question::timeless(known.entity(), &class.entity);
        let steps = TOOL_ACTIONS.map(|action| {
            let slice = self.policies.index.slice(action, &known.scopes, &class.scopes);
            let step = |place: PolicyIndex| {
                let policy = self.policy(place)?;
                let never_changes = timeless.condition(action, policy).reads == Reads::NOTHING;
                Some(Step { policy: place, outcome: never_changes.then(|| timeless.outcome(action, policy)) })
            };
            slice.into_iter().filter_map(step).collect::<Vec<Step>>()
        });
        let reads_input = steps[1..]
            .iter()
            .flatten()
            .filter_map(|step| self.policy(step.policy))
            .any(Compiled::reads_input);
        let reads = TOOL_ACTIONS.into_iter().zip(&steps).flat_map(|(action, steps)| {
            let open = steps.iter().filter(|step| step.outcome.is_none());
            open.filter_map(|step| self.policy(step.policy)).map(move |policy| (action, policy))
        });
        let reads = reads
            .fold(Reads::NOTHING, |all, (action, policy)| all.and(timeless.condition(action, policy).reads));
        let mut cell = Cell::new(steps, reads, reads_input);
        if reads == Reads::NOTHING {
            cell.fixed = Some(Arc::new(self.answer_all(&timeless, &cell)));
            // Only arguments could lead to the steps again.
            if !reads_input {
                cell.steps = Default::default();
            }
        }
        cell
    }

    fn answer_cell(
        &self,
        known: &Known,
        class: &Class,
        cell: &Cell,
        c: &Circumstances<'_>,
    ) -> Arc<ToolAnswer> {
        cell.answer(c, || {
            let question = Question::new(known.entity(), &class.entity, c, Arguments::Unknown);
            self.answer_all(&question, cell)
        })
    }

    fn answer_all(&self, question: &Question<'_>, cell: &Cell) -> ToolAnswer {
        let [see, call, unattended] = &cell.steps;
        ToolAnswer {
            see: self.answer_steps(question, Action::See, see),
            call: self.answer_steps(question, Action::Call, call),
            unattended: self.answer_steps(question, Action::CallUnattended, unattended),
            reads_input: cell.reads_input,
        }
    }

    fn answer_steps(&self, question: &Question<'_>, action: Action, steps: &[Step]) -> Answer {
        let policies = steps.iter().filter_map(|step| {
            let policy = self.policy(step.policy)?;
            // Found without arguments, so only a bound of what it is with them.
            let stale = policy.reads_input() && question.has_arguments();
            Some((policy, step.outcome.clone().filter(|_| !stale)))
        });
        question.answer(action, policies)
    }

    fn policy(&self, place: PolicyIndex) -> Option<&Compiled> {
        self.policies.compiled.get(usize::try_from(place).ok()?)
    }
}

fn denied() -> Arc<ToolAnswer> {
    let no = Answer::denied_by_default();
    Arc::new(ToolAnswer { see: no.clone(), call: no.clone(), unattended: no, reads_input: false })
}

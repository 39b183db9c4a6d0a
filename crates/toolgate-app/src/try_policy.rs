//! A draft of the policies, tried on recorded calls: what would have come out otherwise.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use toolgate_core::document::Area;
use toolgate_core::id::{InvocationId, PrincipalId, SessionId, ToolName};
use toolgate_core::port::gate::{Ask, Decision, Verdict};
use toolgate_core::port::store::{InvocationFilter, Page};
use toolgate_core::{Actor, Invocation, Timestamp};
use toolgate_policy::TenantGate;
use toolgate_policy::cedar::PolicyProblem;

use crate::{App, AppError};

/// How many calls one trial looks at.
const MOST: u32 = 1_000;
/// How many changed calls are shown.
const SHOWN: usize = 100;
/// How many calls are read at once.
const PAGE: u32 = 200;

/// What a trial found.
#[derive(Debug, Clone, Default)]
pub struct PolicyTrial {
    /// Calls looked at.
    pub calls: u64,
    /// Calls whose tool or caller is gone, or whose input was not kept.
    pub skipped: u64,
    /// Calls that would come out the same.
    pub same: u64,
    /// Calls that would run now and did not.
    pub now_allowed: u64,
    /// Calls that would ask a person now and did not.
    pub now_asked: u64,
    /// Calls that would be refused now and were not.
    pub now_denied: u64,
    /// The first of those that would come out otherwise, newest first.
    pub changed: Vec<TriedCall>,
    /// What is odd about the draft.
    pub warnings: Vec<PolicyProblem>,
}

/// A recorded call that would come out otherwise.
#[derive(Debug, Clone)]
pub struct TriedCall {
    /// The call.
    pub id: InvocationId,
    /// Its tool.
    pub tool: ToolName,
    /// Who made it.
    pub actor: PrincipalId,
    /// When.
    pub at: Timestamp,
    /// What comes out under the policies in force: verdict and rule.
    pub before: (Verdict, String),
    /// What would come out under the draft.
    pub after: (Verdict, String),
}

impl App {
    /// Evaluates a draft against recorded calls, newest first, and reports what would change. The callers' roles and
    /// rules are those of today; time, door and session are those of the call.
    ///
    /// # Errors
    /// What is wrong with the draft; "forbidden" for whoever does not manage policies.
    pub async fn try_policy(
        &self,
        actor: &Actor,
        text: &str,
        filter: InvocationFilter,
        most: u32,
    ) -> Result<PolicyTrial, AppError> {
        self.require(actor, Area::Policies)?;
        let snapshot =
            self.snapshots.load(&actor.tenant).await?.ok_or(AppError::NotFound { what: "tenant" })?;
        let (check, standing) = (self.check(actor, text), Arc::clone(&snapshot));
        let compiled = self.policy_work.run(move || {
            let checked = check()?;
            let draft = standing.gate.with_policies(&standing.catalog, Arc::new(checked.policies));
            Ok::<_, AppError>((draft, checked.warnings))
        });
        let (draft, warnings) = compiled.await??;
        let mut trial = PolicyTrial { warnings, ..PolicyTrial::default() };
        let mut people = HashMap::new();
        let mut labels = HashMap::new();
        let mut after = None;
        let mut left = most.clamp(1, MOST);
        while left > 0 {
            let page = Page { after, limit: left.min(PAGE) };
            let calls = self.store().list(&actor.tenant, &filter, page).await?;
            for call in &calls {
                trial.calls += 1;
                let who = (call.opened.actor.clone(), call.opened.subject.clone());
                if !people.contains_key(&who) {
                    let directory = &self.runner.parts().directory;
                    let found = directory.actor(&actor.tenant, &who.0, who.1.as_ref(), None).await?;
                    people.insert(who.clone(), found);
                }
                if draft.reads_labels() || snapshot.gate.reads_labels() {
                    self.learn_labels(actor, call, &mut labels).await?;
                }
                let marks = labels.get(&call.opened.session).map_or(&[][..], Vec::as_slice);
                let Some(Some(caller)) = people.get(&who) else {
                    trial.skipped += 1;
                    continue;
                };
                let both = decide(&snapshot.gate, caller, call, marks, &snapshot.catalog).zip(decide(
                    &draft,
                    caller,
                    call,
                    marks,
                    &snapshot.catalog,
                ));
                match both {
                    None => trial.skipped += 1,
                    Some((now, then)) => trial.count(call, &now, &then),
                }
                // Under thousands of policies a decision takes a while, and others want to be answered in between.
                tokio::task::yield_now().await;
            }
            if (calls.len() as u32) < page.limit {
                break;
            }
            left -= page.limit;
            after = calls.last().map(Invocation::id);
        }
        Ok(trial)
    }

    async fn learn_labels(
        &self,
        actor: &Actor,
        call: &Invocation,
        labels: &mut HashMap<SessionId, Vec<String>>,
    ) -> Result<(), AppError> {
        let session = call.opened.session;
        if let Entry::Vacant(place) = labels.entry(session) {
            let found = self.store().session(&actor.tenant, session).await?;
            place.insert(found.map(|session| session.labels).unwrap_or_default());
        }
        Ok(())
    }
}

fn decide(
    gate: &TenantGate,
    caller: &Actor,
    call: &Invocation,
    labels: &[String],
    catalog: &toolgate_core::Catalog,
) -> Option<Decision> {
    let opened = &call.opened;
    let tool = catalog.get(&opened.tool)?;
    let input = opened.input.to_value();
    if !input.is_object() {
        return None;
    }
    let ask = Ask {
        actor: caller,
        tool,
        session: Some(opened.session),
        labels,
        source: opened.source,
        now: opened.created_at,
    };
    let decision = gate.decide(&ask);
    Some(if decision.verdict.permits() { gate.decide_input(&ask, &input, &decision) } else { decision })
}

impl PolicyTrial {
    fn count(&mut self, call: &Invocation, now: &Decision, then: &Decision) {
        if now.verdict == then.verdict {
            self.same += 1;
            return;
        }
        match then.verdict {
            Verdict::Allow => self.now_allowed += 1,
            Verdict::Ask => self.now_asked += 1,
            Verdict::Deny | Verdict::Hide => self.now_denied += 1,
        }
        if self.changed.len() < SHOWN {
            self.changed.push(TriedCall {
                id: call.id(),
                tool: call.opened.tool.clone(),
                actor: call.opened.actor.clone(),
                at: call.opened.created_at,
                before: (now.verdict, now.rule.to_string()),
                after: (then.verdict, then.rule.to_string()),
            });
        }
    }
}

//! One tenant's gate: kill switches, assignments and profiles around the Cedar policies, in one decision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use toolgate_core::approval_rule::ApprovalRule;
use toolgate_core::assignment::{Assigned, Assignment};
use toolgate_core::document::Area;
use toolgate_core::id::{ConnectionId, PrincipalId, PrincipalKind, Slug, ToolName};
use toolgate_core::kill::{Kill, KillKind};
use toolgate_core::port::gate::{Ask, Decision, Verdict, Whose};
use toolgate_core::port::validator::Validator;
use toolgate_core::profile::{Profile, ProfileApproval};
use toolgate_core::toolset::Toolset;
use toolgate_core::{Actor, Catalog, Source, Timestamp};

use crate::cedar::{Answer, Circumstances, Deciding, Judge, Policies, PrincipalFacts, ToolAnswer, ToolFacts};
use crate::review::BoundGrant;

/// What a tenant's managers have decided, read from their documents.
#[derive(Default)]
pub struct TenantRules {
    /// The toolsets.
    pub toolsets: HashMap<Slug, Toolset>,
    /// The profiles, with the compiled bounds on arguments.
    pub profiles: HashMap<Slug, BoundProfile>,
    /// Which agents have which tools.
    pub assignments: Vec<Assignment>,
    /// What is stopped.
    pub kills: Vec<Kill>,
    /// Who has to decide on calls, by name.
    pub approval_rules: Vec<ApprovalRule>,
    /// What people let run beforehand.
    pub grants: Vec<BoundGrant>,
}

impl std::fmt::Debug for TenantRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TenantRules").field("toolsets", &self.toolsets).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for BoundProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundProfile").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// A profile and its compiled bounds on arguments.
#[derive(Clone)]
pub struct BoundProfile {
    /// The profile.
    pub profile: Profile,
    /// Its `arguments` schema, compiled.
    pub arguments: Option<Arc<dyn Validator>>,
}

/// Hears of policies that could not be evaluated: rule, and what went wrong.
pub type Alarm = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// One tenant's gate. Immutable: a change makes a new one.
pub struct TenantGate {
    judge: Judge,
    reads_labels: bool,
    toolsets: HashMap<Slug, HashSet<ToolName>>,
    profiles: HashMap<Slug, BoundProfile>,
    agents: HashMap<PrincipalId, AgentTools>,
    kills: HashMap<(KillKind, String), String>,
    pub(crate) approval_rules: Vec<ApprovalRule>,
    pub(crate) grants: HashMap<(PrincipalId, ToolName), Vec<BoundGrant>>,
    alarm: Alarm,
}

#[derive(Clone, Default)]
struct AgentTools {
    tools: HashMap<ToolName, Option<Slug>>,
    toolsets: Vec<(Slug, Option<Slug>)>,
}

impl std::fmt::Debug for TenantGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TenantGate").field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}

impl TenantGate {
    /// The gate of a tenant with these tools, policies and rules.
    #[must_use]
    pub fn new(catalog: &Catalog, policies: Arc<Policies>, rules: TenantRules, alarm: Alarm) -> Self {
        let mut members: HashMap<Slug, HashSet<ToolName>> =
            rules.toolsets.keys().map(|name| (name.clone(), HashSet::new())).collect();
        let mut facts = Vec::with_capacity(catalog.tools().len());
        for tool in catalog.tools() {
            let mut within = Vec::new();
            for (name, toolset) in &rules.toolsets {
                if toolset.holds(&tool.contract) {
                    members.entry(name.clone()).or_default().insert(tool.contract.id.clone());
                    within.push(name.to_string());
                }
            }
            facts.push(ToolFacts::of(&tool.contract, within));
        }
        let mut agents: HashMap<PrincipalId, AgentTools> = HashMap::new();
        for assignment in rules.assignments {
            let agent = agents.entry(assignment.agent).or_default();
            match assignment.target {
                Assigned::Tool(tool) => {
                    agent.tools.insert(tool, assignment.profile);
                }
                Assigned::Toolset(name) => agent.toolsets.push((name, assignment.profile)),
            }
        }
        let reads_labels = policies.reads_labels();
        let mut grants: HashMap<(PrincipalId, ToolName), Vec<BoundGrant>> = HashMap::new();
        for grant in rules.grants {
            let key = (grant.grant.actor.clone(), grant.grant.tool.clone());
            grants.entry(key).or_default().push(grant);
        }
        let kills = rules.kills.into_iter().map(|kill| ((kill.kind, kill.target), kill.reason)).collect();
        Self {
            judge: Judge::new(policies, facts),
            reads_labels,
            toolsets: members,
            profiles: rules.profiles,
            agents,
            kills,
            approval_rules: rules.approval_rules,
            grants,
            alarm,
        }
    }

    /// The same gate with other policies: a draft, to be tried.
    #[must_use]
    pub fn with_policies(&self, catalog: &Catalog, policies: Arc<Policies>) -> Self {
        let facts = catalog.tools().iter().map(|tool| {
            let within = self.toolsets.iter().filter(|(_, members)| members.contains(&tool.contract.id));
            ToolFacts::of(&tool.contract, within.map(|(name, _)| name.to_string()).collect())
        });
        Self {
            reads_labels: policies.reads_labels(),
            judge: Judge::new(policies, facts.collect()),
            toolsets: self.toolsets.clone(),
            profiles: self.profiles.clone(),
            agents: self.agents.clone(),
            kills: self.kills.clone(),
            approval_rules: self.approval_rules.clone(),
            grants: self.grants.clone(),
            // What a draft gets wrong is told to whoever tries it.
            alarm: Arc::new(|_, _| {}),
        }
    }

    /// Whether any policy reads the labels of sessions.
    #[must_use]
    pub const fn reads_labels(&self) -> bool {
        self.reads_labels
    }

    /// The tools of a toolset, if there is one.
    #[must_use]
    pub fn toolset(&self, name: &Slug) -> Option<&HashSet<ToolName>> {
        self.toolsets.get(name)
    }

    /// The profiles that hold for this principal's use of a tool; the error says why there is no use.
    ///
    /// # Errors
    /// When an agent does not have the tool, or has it with a profile that is gone.
    pub fn profiles_of(
        &self,
        principal: &PrincipalId,
        tool: &ToolName,
    ) -> Result<Vec<(&Slug, &BoundProfile)>, Decision> {
        if principal.kind() != PrincipalKind::Agent {
            return Ok(Vec::new());
        }
        let mut covered = false;
        let mut profiles = Vec::new();
        if let Some(agent) = self.agents.get(principal) {
            let direct = agent.tools.get(tool);
            let sets = agent
                .toolsets
                .iter()
                .filter(|(name, _)| self.toolsets.get(name).is_some_and(|members| members.contains(tool)));
            for profile in direct.into_iter().chain(sets.map(|(_, profile)| profile)) {
                covered = true;
                let Some(name) = profile else { continue };
                match self.profiles.get(name) {
                    Some(profile) => profiles.push((name, profile)),
                    // What the profile forbade can't be known any more.
                    None => {
                        return Err(Decision::new(
                            Verdict::Deny,
                            format!("profile: {name}"),
                            format!("the profile `{name}` of this assignment is gone"),
                        )
                        .hint("make the profile again, or assign the tool without it"));
                    }
                }
            }
        }
        if covered {
            return Ok(profiles);
        }
        Err(Decision::new(
            Verdict::Hide,
            "assignment: none",
            format!("`{tool}` is not assigned to `{principal}`"),
        )
        .hint(format!("assign it: `toolgate tool assign --tool {tool} --agent {}`", principal.name())))
    }

    /// Whether a switch stops this; the reason is the switch's.
    #[must_use]
    pub fn killed(&self, ask: &Ask<'_>) -> Option<Decision> {
        if self.kills.is_empty() {
            return None;
        }
        let actor = ask.actor;
        let subject = actor.subject_id().map(|subject| (KillKind::Principal, subject.to_string()));
        let session = ask.session.map(|session| (KillKind::Session, session.to_string()));
        [
            Some((KillKind::Tenant, actor.tenant.to_string())),
            Some((KillKind::Tool, ask.tool.contract.id.to_string())),
            Some((KillKind::Principal, actor.principal.to_string())),
            subject,
            session,
        ]
        .into_iter()
        .flatten()
        .find_map(|key| self.kills.get(&key).map(|reason| stopped(&key, reason)))
    }

    /// Whether a switch stops this connection.
    #[must_use]
    pub fn killed_connection(&self, connection: ConnectionId) -> Option<Decision> {
        let key = (KillKind::Connection, connection.to_string());
        self.kills.get(&key).map(|reason| stopped(&key, reason))
    }

    /// May this caller use this tool, with some arguments at least?
    #[must_use]
    pub fn decide(&self, ask: &Ask<'_>) -> Decision {
        if let Some(killed) = self.killed(ask) {
            return killed;
        }
        let profiles = match self.profiles_of(&ask.actor.principal, &ask.tool.contract.id) {
            Ok(profiles) => profiles,
            Err(denied) => return denied,
        };
        let mut decision = None;
        for (who, facts) in parties(ask.actor) {
            let answer =
                self.judge.tool(&facts, &ask.tool.contract.id, &circumstances(ask, Whose::default()));
            decision = Some(stricter(decision, self.verdict(ask, who, &answer)));
        }
        tightened(decision, &profiles)
    }

    /// Decides again on the validated arguments, where a policy or profile reads them.
    #[must_use]
    pub fn decide_input(&self, ask: &Ask<'_>, input: &Value, decided: &Decision) -> Decision {
        let profiles = match self.profiles_of(&ask.actor.principal, &ask.tool.contract.id) {
            Ok(profiles) => profiles,
            Err(denied) => return denied,
        };
        for (name, profile) in &profiles {
            let broken = profile.arguments.as_ref().and_then(|bounds| bounds.validate(input).err());
            if let Some(violations) = broken {
                let first =
                    violations.first().map_or_else(String::new, |v| format!(": `{}` {}", v.path, v.message));
                return Decision::new(
                    Verdict::Deny,
                    format!("profile: {name}"),
                    format!("the profile `{name}` does not allow these arguments{first}"),
                )
                .hint("stay within the profile's `arguments`, or have the assignment's profile changed");
            }
        }
        let tool = &ask.tool.contract.id;
        let circumstances = circumstances(ask, Whose::default());
        let mut decision = None;
        for (who, facts) in parties(ask.actor) {
            if !self.judge.tool(&facts, tool, &circumstances).reads_input {
                continue;
            }
            let answer = self.judge.tool_with_input(&facts, tool, &circumstances, input);
            decision = Some(stricter(decision, self.verdict(ask, who, &answer)));
        }
        match decision {
            None => decided.clone(),
            // Invariant: arguments can make it stricter, never looser.
            Some(read) => stricter(Some(decided.clone()), tightened(Some(unhidden(read)), &profiles)),
        }
    }

    /// May this person decide on a waiting call of this tool with these arguments?
    #[must_use]
    pub fn decide_approval(&self, ask: &Ask<'_>, whose: Whose, input: &Value) -> Decision {
        // Whoever is stopped does not let others run.
        if let Some(killed) = self.killed(ask) {
            return killed;
        }
        let facts = facts(ask.actor);
        let answer = self.judge.approve(&facts, &ask.tool.contract.id, &circumstances(ask, whose), input);
        self.plain(&answer, || {
            format!("`{}` may not decide on calls of `{}`", ask.actor.principal, ask.tool.contract.id)
        })
    }

    /// May this caller manage this area?
    #[must_use]
    pub fn decide_manage(&self, actor: &Actor, area: Area, now: Timestamp) -> Decision {
        let mut decision = None;
        for (who, facts) in parties(actor) {
            let answer = self.judge.manage(&facts, area.as_str(), &plain_circumstances(now));
            let own = self.plain(&answer, || format!("`{who}` may not manage {}", area.as_str()));
            decision = Some(stricter(decision, own));
        }
        decision.unwrap_or_else(|| Decision::new(Verdict::Deny, "deny by default", ""))
    }

    /// May this call use a connection to this provider that was granted to its caller, and to the person behind it?
    #[must_use]
    pub fn decide_connection(&self, ask: &Ask<'_>, provider: &str, connection: ConnectionId) -> Decision {
        if let Some(killed) = self.killed_connection(connection) {
            return killed;
        }
        let (id, circumstances) = (connection.to_string(), circumstances(ask, Whose::default()));
        let mut decision = None;
        for (who, facts) in parties(ask.actor) {
            let answer = self.judge.connection(&facts, provider, &id, &circumstances);
            let own = self.plain(&answer, || format!("`{who}` may not use the connection to `{provider}`"));
            decision = Some(stricter(decision, own));
        }
        decision.unwrap_or_else(|| Decision::new(Verdict::Deny, "deny by default", ""))
    }

    fn verdict(&self, ask: &Ask<'_>, who: &PrincipalId, answer: &ToolAnswer) -> Decision {
        let tool = &ask.tool.contract.id;
        for answer in [&answer.see, &answer.call, &answer.unattended] {
            if let Some(fault) = &answer.fault {
                (self.alarm)(&answer.rule, fault);
                return faulty(answer);
            }
        }
        if !answer.see.allowed {
            return denied(&answer.see, Verdict::Hide, || format!("`{who}` may not see `{tool}`"));
        }
        if !answer.call.allowed {
            return denied(&answer.call, Verdict::Deny, || format!("`{who}` may not call `{tool}`"));
        }
        if answer.unattended.allowed {
            return Decision::new(Verdict::Allow, Arc::clone(&answer.unattended.rule), String::new());
        }
        let rule = match answer.unattended.by {
            Deciding::Forbid => Arc::clone(&answer.unattended.rule),
            Deciding::Permit | Deciding::NoPermit | Deciding::Fault => Arc::clone(&answer.call.rule),
        };
        Decision::new(
            Verdict::Ask,
            rule,
            format!("policy lets `{who}` call `{tool}` only when a person agrees"),
        )
    }

    fn plain(&self, answer: &Answer, what: impl FnOnce() -> String) -> Decision {
        if let Some(fault) = &answer.fault {
            (self.alarm)(&answer.rule, fault);
            return faulty(answer);
        }
        if answer.allowed {
            return Decision::new(Verdict::Allow, Arc::clone(&answer.rule), String::new());
        }
        denied(answer, Verdict::Deny, what)
    }
}

/// The caller, and the person behind it: both must be allowed, so delegation never widens either.
fn parties(actor: &Actor) -> impl Iterator<Item = (&PrincipalId, PrincipalFacts)> {
    let subject = actor.subject.iter().map(|subject| {
        let facts = PrincipalFacts {
            id: subject.principal.clone(),
            roles: Arc::clone(&subject.roles),
            rules: subject.rules.shared(),
        };
        (&subject.principal, facts)
    });
    std::iter::once((&actor.principal, facts(actor))).chain(subject)
}

fn facts(actor: &Actor) -> PrincipalFacts {
    PrincipalFacts {
        id: actor.principal.clone(),
        roles: Arc::clone(&actor.roles),
        rules: actor.rules.shared(),
    }
}

fn circumstances<'a>(ask: &Ask<'a>, whose: Whose) -> Circumstances<'a> {
    Circumstances {
        now: ask.now,
        labels: ask.labels,
        source: ask.source,
        subject: ask.actor.subject.as_ref().map(|subject| &subject.principal),
        own: whose.own,
        for_me: whose.for_me,
    }
}

const fn plain_circumstances(now: Timestamp) -> Circumstances<'static> {
    Circumstances { now, labels: &[], source: Source::System, subject: None, own: false, for_me: false }
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
        Verdict::Hide => 3,
    }
}

fn stricter(one: Option<Decision>, other: Decision) -> Decision {
    match one {
        Some(one) if strictness(one.verdict) >= strictness(other.verdict) => one,
        _ => other,
    }
}

/// Whoever reads this has seen the tool already, so there is nothing left to hide.
fn unhidden(decision: Decision) -> Decision {
    match decision.verdict {
        Verdict::Hide => Decision { verdict: Verdict::Deny, ..decision },
        Verdict::Allow | Verdict::Ask | Verdict::Deny => decision,
    }
}

fn tightened(decision: Option<Decision>, profiles: &[(&Slug, &BoundProfile)]) -> Decision {
    let decision = decision.unwrap_or_else(|| Decision::new(Verdict::Hide, "deny by default", ""));
    let asking =
        profiles.iter().find(|(_, profile)| profile.profile.approval == Some(ProfileApproval::AlwaysAsk));
    match asking {
        Some((name, _)) if decision.verdict == Verdict::Allow => Decision::new(
            Verdict::Ask,
            format!("profile: {name}"),
            format!("the profile `{name}` asks a person first"),
        ),
        _ => decision,
    }
}

fn stopped((kind, target): &(KillKind, String), reason: &str) -> Decision {
    let kind = kind.as_str();
    Decision::new(
        Verdict::Deny,
        format!("kill switch: {kind} {target}"),
        format!("the {kind} is stopped: {reason}"),
    )
    .hint(format!("whoever manages kill switches can lift it: `toolgate kill lift {kind} {target}`"))
}

fn faulty(answer: &Answer) -> Decision {
    Decision::new(
        Verdict::Deny,
        Arc::clone(&answer.rule),
        format!("the policy `{}` could not be evaluated, which counts as a denial", answer.rule),
    )
    .hint("whoever keeps the policies was told; `toolgate policy explain` shows what went wrong")
}

fn denied(answer: &Answer, verdict: Verdict, what: impl FnOnce() -> String) -> Decision {
    let what = what();
    match answer.by {
        Deciding::Forbid => Decision::new(
            verdict,
            Arc::clone(&answer.rule),
            format!("{what}: the policy `{}` forbids it", answer.rule),
        )
        .hint(format!("whoever keeps the policies can narrow `{}`", answer.rule)),
        Deciding::Permit | Deciding::NoPermit | Deciding::Fault => {
            Decision::new(verdict, Arc::clone(&answer.rule), format!("{what}: no policy permits it"))
                .hint("whoever keeps the policies can add a `permit`")
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
